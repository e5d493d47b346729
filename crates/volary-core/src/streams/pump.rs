//! The task that pulls elements out of a stream and posts them to an actor.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::errors::StreamEnd;
use super::window::Inlet;
use crate::actor::{Fault, Message};
use crate::dispatch::contain;
use crate::reference::Termination;

/// How many elements are pulled before others have a turn on this thread.
const BUDGET: usize = 128;

/// Tells the actor how the stream has ended.
pub(super) type OnEnd = Box<dyn FnOnce(StreamEnd) + Send>;

pin_project! {
    pub(super) struct Pump<S, F, M>
    where
        M: Message,
    {
        #[pin]
        stream: Option<S>,
        map: Option<F>,
        inlet: Arc<Inlet<M>>,
        on_end: Option<OnEnd>,
        gone: Termination,
    }

    impl<S, F, M> PinnedDrop for Pump<S, F, M>
    where
        M: Message,
    {
        fn drop(this: Pin<&mut Self>) {
            this.let_go();
        }
    }
}

impl<S, F, M: Message> Pump<S, F, M> {
    pub(super) fn new(stream: S, map: F, inlet: Arc<Inlet<M>>, on_end: Option<OnEnd>, gone: Termination) -> Self {
        Pump {
            stream: Some(stream),
            map: Some(map),
            inlet,
            on_end,
            gone,
        }
    }

    /// Drops what is the user's: at once, since it is of no use any more.
    fn let_go(self: Pin<&mut Self>) {
        let mut this = self.project();
        let map = this.map.take();
        for dropped in [contain(|| this.stream.set(None)), contain(|| drop(map))] {
            if let Err(fault) = dropped {
                report(this.inlet, &fault);
            }
        }
    }

    fn end(mut self: Pin<&mut Self>, end: StreamEnd) -> Poll<()> {
        self.as_mut().let_go();
        let this = self.project();
        if let Some(on_end) = this.on_end.take()
            && let Err(fault) = contain(|| on_end(end))
        {
            report(this.inlet, &fault);
        }
        Poll::Ready(())
    }
}

impl<S, F, M> Future for Pump<S, F, M>
where
    S: Stream,
    F: FnMut(S::Item) -> M,
    M: Message,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut *self.as_mut().project().gone).poll(task).is_ready() {
            self.let_go();
            return Poll::Ready(());
        }
        for _ in 0..BUDGET {
            let this = self.as_mut().project();
            // First the place, then the element: one that was pulled is never in the way.
            ready!(this.inlet.poll_enter(task.waker()));
            let (Some(stream), Some(map)) = (this.stream.as_pin_mut(), this.map.as_mut()) else {
                return Poll::Ready(());
            };
            let pulled = contain(|| stream.poll_next(task).map(|item| item.map(map)));
            match pulled {
                Ok(Poll::Ready(Some(message))) => {
                    if !this.inlet.post(message) {
                        self.let_go();
                        return Poll::Ready(());
                    }
                }
                Ok(Poll::Pending) => {
                    this.inlet.leave();
                    return Poll::Pending;
                }
                Ok(Poll::Ready(None)) => {
                    this.inlet.leave();
                    return self.end(StreamEnd::Completed);
                }
                Err(fault) => {
                    this.inlet.leave();
                    report(this.inlet, &fault);
                    return self.end(StreamEnd::Panicked(fault));
                }
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

fn report<M: Message>(inlet: &Inlet<M>, fault: &Fault) {
    let cell = inlet.to().cell();
    cell.system().report_hook_fault(cell, "stream", fault);
}
