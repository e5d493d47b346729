//! A future whose panics, in poll and in drop, are reported and go no further.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::PipeError;
use crate::actor::Fault;
use crate::cell::WeakCell;
use crate::dispatch::contain;

pin_project! {
    pub(super) struct Contained<F> {
        #[pin]
        future: Option<F>,
        actor: WeakCell,
    }

    impl<F> PinnedDrop for Contained<F> {
        fn drop(this: Pin<&mut Self>) {
            this.end();
        }
    }
}

impl<F> Contained<F> {
    pub(super) fn new(future: F, actor: WeakCell) -> Self {
        Contained {
            future: Some(future),
            actor,
        }
    }

    fn end(self: Pin<&mut Self>) {
        let mut this = self.project();
        if let Err(fault) = contain(|| this.future.set(None)) {
            report(this.actor, &fault);
        }
    }
}

impl<F, T, E> Future for Contained<F>
where
    F: Future<Output = Result<T, E>>,
{
    type Output = Result<T, PipeError<E>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.as_mut().project();
        let Some(future) = this.future.as_pin_mut() else {
            panic!("a pipe was polled after it had ended")
        };
        let ended = match contain(|| future.poll(task)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(answer)) => answer.map_err(PipeError::Failed),
            Err(fault) => {
                report(this.actor, &fault);
                Err(PipeError::Panicked(fault))
            }
        };
        // At once: what it holds is of no use any more.
        self.end();
        Poll::Ready(ended)
    }
}

/// Tells of a panic in what an actor has piped.
pub(super) fn report(actor: &WeakCell, fault: &Fault) {
    if let Some(actor) = actor.upgrade() {
        actor.system().report_hook_fault(&actor, "pipe", fault);
    }
}
