//! One message to many, and what became of it.

use std::fmt;

use crate::actor::Message;
use crate::reference::{Accepts, ActorRef, Target, TellError};

/// What became of a message to everybody: how many took a copy, and who did not, with the copy that came back.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_core::routing::{Broadcast, Pool, RoundRobin};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// # let accounts = system.router(RoundRobin, Pool::of(2, Account::default)).await?;
/// let broadcast: Broadcast<Account, Deposit> = accounts.broadcast(Deposit(5));
/// assert_eq!(broadcast.sent, 2);
/// for (who, error) in broadcast.refused {
///     println!("{who}: {error}");
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "it says who did not take the message"]
pub struct Broadcast<T: Target, M> {
    /// How many took a copy.
    pub sent: usize,
    /// Who did not, and the copy.
    pub refused: Vec<(ActorRef<T>, TellError<M>)>,
}

impl<T: Accepts<M>, M: Message + Clone> Broadcast<T, M> {
    pub(crate) fn to<'a>(everybody: impl Iterator<Item = &'a ActorRef<T>>, message: &M) -> Self {
        let mut broadcast = Broadcast {
            sent: 0,
            refused: Vec::new(),
        };
        for one in everybody {
            match one.tell(message.clone()) {
                Ok(()) => broadcast.sent += 1,
                Err(error) => broadcast.refused.push((one.clone(), error)),
            }
        }
        broadcast
    }
}

impl<T: Target, M> fmt::Debug for Broadcast<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcast")
            .field("sent", &self.sent)
            .field("refused", &self.refused)
            .finish()
    }
}
