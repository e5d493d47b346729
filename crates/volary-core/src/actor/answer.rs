//! Futures that turn what a handler returns into an answer, without keeping the message twice.
//!
//! An `async fn` that awaits another holds its own arguments beside the other's, so each layer of
//! them would add the message once more to the frame of a suspended handler. These adapters hold
//! only the future that they wrap.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::fault::{Failure, Fault};
use super::message::Rejection;
use crate::reference::ReplyTo;

pin_project! {
    /// Sends the outcome of a handler to its asker.
    pub(super) struct Answering<F, T, R>
    where
        T: Send,
        T: 'static,
        R: Rejection,
    {
        #[pin]
        handler: F,
        reply: Option<ReplyTo<T, R>>,
    }
}

impl<F, T: Send + 'static, R: Rejection> Answering<F, T, R> {
    pub(super) fn new(handler: F, reply: ReplyTo<T, R>) -> Self {
        Answering {
            handler,
            reply: Some(reply),
        }
    }
}

impl<F, T, R> Future for Answering<F, T, R>
where
    F: Future<Output = Result<T, Failure<R>>>,
    T: Send + 'static,
    R: Rejection,
{
    type Output = Result<(), Fault>;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let outcome = ready!(this.handler.poll(task));
        let Some(reply) = this.reply.take() else {
            return Poll::Ready(Ok(()));
        };
        Poll::Ready(match outcome {
            Ok(answer) => {
                reply.send(answer);
                Ok(())
            }
            Err(Failure::Rejected(rejection)) => {
                reply.reject(rejection);
                Ok(())
            }
            Err(Failure::Fault(fault)) => {
                reply.fail(&fault);
                Err(fault)
            }
            Err(Failure::Stashed(stashed)) => {
                stashed.keep(reply);
                Ok(())
            }
            Err(Failure::Unhandled(_)) => Ok(()), // the asker hears that nobody answers
        })
    }
}

pin_project! {
    /// A future with its output passed through a function.
    #[doc(hidden)]
    #[derive(Debug)]
    pub struct Mapped<F, G> {
        #[pin]
        future: F,
        map: Option<G>,
    }
}

/// Passes the output of `future` through `map`. Used by `#[actor]`.
#[doc(hidden)]
pub fn mapped<F: Future, T, G: FnOnce(F::Output) -> T>(future: F, map: G) -> Mapped<F, G> {
    Mapped { future, map: Some(map) }
}

impl<F: Future, T, G: FnOnce(F::Output) -> T> Future for Mapped<F, G> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        let this = self.project();
        let output = ready!(this.future.poll(task));
        match this.map.take() {
            Some(map) => Poll::Ready(map(output)),
            None => panic!("a handler was polled after it had ended"),
        }
    }
}
