//! A reference inside a protobuf message.

use volary_core::{ActorRef, Message, Recipient, ResolveError, Resolving, Target};

/// The reference to an actor as a protobuf message, `message Ref { string address = 1; }`.
///
/// Made by [`Ref::to`], and resolved by whoever handles the message, in the handler. The address is a string that came
/// from elsewhere; only the system of the handler says whom it leads to, if anybody.
///
/// ```
/// use volary::prelude::*;
/// use volary_wire::Ref;
///
/// struct Listener;
/// #[actor]
/// impl Listener {
///     fn news(&mut self, text: String) { println!("{text}"); }
/// }
///
/// #[derive(Default)]
/// struct Paper { readers: Vec<Recipient<News>> }
/// #[actor]
/// impl Paper {
///     // What a field of a message of prost would hold.
///     fn subscribe(&mut self, reader: Ref) -> Result<usize, Fault> {
///         self.readers.push(reader.recipient().or_fault()?);
///         Ok(self.readers.len())
///     }
/// }
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let system = ActorSystem::builder("paper").settings(|s| s.log_config(false)).start().await?;
/// let listener = system.spawn(|| Listener).named("listener").await?;
/// let paper = system.spawn(Paper::default).await?;
/// assert_eq!(paper.ask(Subscribe { reader: Ref::to(&listener) }).await?, 1);
/// # system.stop().await?; Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Ref {
    /// As text, with the node if it was written for another one.
    #[prost(string, tag = "1")]
    pub address: String,
}

impl Ref {
    /// The address of an actor as it is seen from outside, with the node of its system if that has remoting.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// use volary_wire::Ref;
    ///
    /// let read = Ref::to(&alice);
    /// assert!(read.address.starts_with("volary://bank/user/alice#"));
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn to<T: Target>(actor: &ActorRef<T>) -> Self {
        Ref {
            address: Resolving::address_of(actor).to_string(),
        }
    }

    /// Whoever takes `M` at this address, as the system of the handler finds it, or the current [`Resolving`] scope.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// use std::sync::Arc;
    /// use volary_core::Resolving;
    /// use volary_wire::Ref;
    ///
    /// let read = Ref::to(&alice);
    /// let till: Recipient<Deposit> = Resolving::scope(Arc::new(system.clone()), || read.recipient())?;
    /// assert_eq!(till.ask(Deposit { cents: 5 }).await?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Outside of handlers and scopes, and when nobody is found.
    pub fn recipient<M: Message>(&self) -> Result<Recipient<M>, ResolveError> {
        Resolving::recipient(&self.address)
    }

    /// The actor at this address, or one that speaks a protocol, found in the same way.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// use std::sync::Arc;
    /// use volary_core::Resolving;
    /// use volary_wire::Ref;
    ///
    /// let read = Ref::to(&alice);
    /// let account: ActorRef<Account> = Resolving::scope(Arc::new(system.clone()), || read.actor())?;
    /// assert_eq!(account, alice);
    /// # system.stop().await?; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Outside of handlers and scopes, and when nobody is found of that type.
    pub fn actor<T: Target>(&self) -> Result<ActorRef<T>, ResolveError> {
        Resolving::actor(&self.address)
    }
}
