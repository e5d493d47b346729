//! Whose baggage is carried from here: the one of the message being handled, or of a scope.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Baggage;
use crate::dispatch::Host;

impl Baggage {
    /// What came with the message that is being handled here, or what the innermost scope says.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// # inside(&alice, |ctx| {
    /// assert!(Baggage::current().trace().is_none(), "nobody sent one along");
    /// # Ok(()) }).await?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn current() -> Self {
        Host::with(|host| host.baggage().cloned()).flatten().unwrap_or_default()
    }

    /// The same for something that is sent later, if there is anything.
    pub(crate) fn to_keep() -> Option<Box<Self>> {
        Host::with(|host| host.baggage().cloned().map(Box::new)).flatten()
    }

    /// Calls `f`; whatever it sends carries this.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let baggage = Baggage::new().with_header("user", "ada")?;
    /// baggage.in_scope(|| alice.tell(Deposit(5)))?;
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn in_scope<R>(&self, f: impl FnOnce() -> R) -> R {
        Host::with_baggage(self, f)
    }

    /// A future that carries this wherever it sends something.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// # let (system, alice) = bank().await?;
    /// let baggage = Baggage::new().with_header("user", "ada")?;
    /// let answer = baggage.around(async { alice.ask(Deposit(5)).await }).await;
    /// assert_eq!(answer?, 5);
    /// # system.stop().await?; Ok(()) }
    /// ```
    pub fn around<F: Future>(self, future: F) -> WithBaggage<F> {
        WithBaggage {
            baggage: self,
            future: Box::pin(future),
        }
    }
}

/// A future that carries baggage; see [`Baggage::around`]. As cancel safe as the future in it, which is boxed.
///
/// ```
/// use volary_core::{Baggage, WithBaggage};
///
/// fn for_ada<F: Future>(work: F) -> WithBaggage<F> {
///     Baggage::new().with_header("user", "ada").unwrap().around(work)
/// }
/// # let _ = for_ada(async {});
/// ```
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct WithBaggage<F> {
    baggage: Baggage,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for WithBaggage<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let future = this.future.as_mut();
        this.baggage.in_scope(|| future.poll(task))
    }
}
