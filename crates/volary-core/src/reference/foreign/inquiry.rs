//! An ask that came from elsewhere.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::actor::Message;
use crate::reference::{Accepts, ActorRef, AskError, KeptAsk, unasked};
use crate::time::Moment;

/// An ask of somebody elsewhere, under way here; yields the answer. Dropping it cancels the ask.
///
/// The message has its place in the mailbox at once, and whoever posed it chooses later, and with many others, who runs
/// the actor: polled, it is run here if it is idle, quick and may be; [started](Inquiry::start_elsewhere), it is left to
/// its dispatcher.
///
/// ```
/// # use std::convert::Infallible;
/// use volary_core::{foreign::Inquiry, *};
/// # struct Echo; impl Actor for Echo {}
/// # struct Say(u8); impl Message for Say { type Reply = u8; type Rejection = Infallible; }
/// # impl SyncHandler<Say> for Echo { fn handle(&mut self, s: Say, _: &mut Context<Self>) -> Result<u8, Failure> { Ok(s.0) } }
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("demo").start().await?;
/// let echo = system.spawn(|| Echo).await?;
/// let posed = (1..=3).map(|number| Inquiry::pose(&echo, Say(number), None).map_err(|(error, _message)| error));
/// let mut inquiries = posed.collect::<Result<Vec<_>, _>>()?;
///
/// inquiries[0].start_here(); // the others are in the same mailbox, and answered with it
/// for (number, inquiry) in (1..).zip(inquiries) {
///     assert_eq!(inquiry.await?, number);
/// }
/// # system.stop().await?; Ok(()) }
/// ```
#[must_use = "dropping it cancels the ask"]
pub struct Inquiry<M: Message>(KeptAsk<M>);

impl<M: Message> Inquiry<M> {
    /// Puts the message into the mailbox. Without a `timeout` the system's own is taken.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// alice.stop();
    /// alice.terminated().await;
    /// let (error, message) = Inquiry::pose(&alice, Deposit(5), None).expect_err("she has stopped");
    /// assert!(matches!((error, message), (AskError::Stopped, Deposit(5))));
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the mailbox does not take it: why, and the message.
    pub fn pose<T: Accepts<M>>(
        to: &ActorRef<T>,
        message: M,
        timeout: Option<Duration>,
    ) -> Result<Self, (AskError<M::Rejection>, M)> {
        match KeptAsk::begin(to.cell(), to.table_for::<M>(), message, timeout) {
            Ok(ask) => Ok(Inquiry(ask)),
            Err((refusal, message)) => {
                let error = unasked::<M>(refusal);
                to.cell().system().count_refused();
                Err((error, message))
            }
        }
    }

    /// Says when it came: its time counts from then, and not from the moment at which somebody has to wait. For whoever asks
    /// in the name of others: rings of waiting actors are not looked for.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # let limit = Some(Duration::from_secs(2));
    /// let inquiry = Inquiry::pose(&alice, Deposit(5), limit).map_err(|(error, _)| error)?;
    /// inquiry.count_from(system.now());
    /// assert_eq!(inquiry.await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn count_from(&self, moment: Moment) {
        self.0.count_from(moment);
    }

    /// Runs the actor here, if it is idle, quick and may be, and leaves it to its dispatcher otherwise. Whether the answer
    /// is there: the next poll takes it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let mut inquiry = Inquiry::pose(&alice, Deposit(5), None).map_err(|(error, _)| error)?;
    /// if !inquiry.start_here() {
    ///     println!("{alice} is busy");
    /// }
    /// assert_eq!(inquiry.await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    #[inline]
    pub fn start_here(&mut self) -> bool {
        self.0.start_here()
    }

    /// Leaves the actor to its dispatcher, unless that was done.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/abroad.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let mut inquiry = Inquiry::pose(&alice, Deposit(5), None).map_err(|(error, _)| error)?;
    /// inquiry.start_elsewhere(); // she is run although nobody waits
    /// # while alice.ask(Balance).await? == 0 { tokio::task::yield_now().await; }
    /// assert_eq!(inquiry.await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn start_elsewhere(&mut self) {
        self.0.start_elsewhere();
    }
}

impl<M: Message> Future for Inquiry<M> {
    type Output = Result<M::Reply, AskError<M::Rejection>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(task)
    }
}

impl<M: Message> fmt::Debug for Inquiry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inquiry")
    }
}
