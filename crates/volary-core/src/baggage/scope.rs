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
    /// # use volary_core::{Actor, Baggage, Context};
    /// # fn in_a_handler<A: Actor>(ctx: &mut Context<A>) {
    /// if let Some(trace) = Baggage::current().trace() {
    ///     println!("part of {trace}");
    /// }
    /// # }
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
    /// # use volary_core::{Accepts, ActorRef, Baggage, Message};
    /// fn tell_for<T: Accepts<M>, M: Message>(user: &str, who: &ActorRef<T>, message: M) {
    ///     let baggage = Baggage::new().with_header("user", user).unwrap();
    ///     let _ = baggage.in_scope(|| who.tell(message));
    /// }
    /// ```
    pub fn in_scope<R>(&self, f: impl FnOnce() -> R) -> R {
        Host::with_baggage(self, f)
    }

    /// A future that carries this wherever it sends something.
    ///
    /// ```
    /// # use volary_core::{Accepts, ActorRef, AskError, Baggage, Message};
    /// # async fn f<T: Accepts<M>, M: Message>(who: &ActorRef<T>, message: M) {
    /// let baggage = Baggage::new().with_header("user", "ada").unwrap();
    /// let answer = baggage.around(async { who.ask(message).await }).await;
    /// # }
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
