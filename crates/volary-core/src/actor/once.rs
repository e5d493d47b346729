//! Factories of actors that cannot be made twice.

use super::fault::Fault;
use super::traits::Product;
use crate::sync::Mutex;

/// There is no second time.
#[derive(Debug, thiserror::Error)]
#[error("it can be made only once")]
pub(crate) struct MadeOnce;

/// A factory that makes one actor, once: of something that it owns and that nobody can make again, such as a connection that was
/// accepted.
///
/// An actor is made anew whenever it is restarted, which is why `spawn` wants a factory that can be called again and again. This
/// one fails when it is called again, so a fault ends the actor for good, and its watchers hear of that; a start that fails is not tried
/// again, and passivation would be its end. If what it owns can be made again, do that in the factory instead: it may
/// return a `Result`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// use std::sync::mpsc::{Receiver, channel};
/// use volary_core::once;
///
/// /// Reads what was said to it before it was born.
/// struct Reader(Receiver<&'static str>);
/// # impl Actor for Reader {}
/// # struct Next;
/// # impl Message for Next { type Reply = &'static str; type Rejection = Infallible; }
/// impl SyncHandler<Next> for Reader {
///     fn handle(&mut self, _: Next, _: &mut Context<Self>) -> Result<&'static str, Failure> { Ok(self.0.recv().or_fault()?) }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let (system, alice) = bank().await?;
/// let (say, heard) = channel();
/// say.send("hello")?;
/// let reader = system.spawn(once(move || Reader(heard))).await?;
/// assert_eq!(reader.ask(Next).await?, "hello");
///
/// drop(say);
/// assert!(reader.ask(Next).await.is_err()); // a fault, and nobody can make another reader
/// reader.terminated().await;
/// # system.stop().await?; Ok(()) }
/// ```
pub fn once<P: Product>(
    make: impl FnOnce() -> P + Send + 'static,
) -> impl Fn() -> Result<P::Actor, Fault> + Send + Sync + 'static {
    let make = Mutex::new(Some(make));
    move || {
        let made = make.lock().take();
        match made {
            Some(make) => make().into_actor(),
            None => Err(Fault::new(MadeOnce)),
        }
    }
}
