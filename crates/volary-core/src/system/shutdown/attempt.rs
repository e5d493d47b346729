//! One run of a hook, on a task of its own: a hook that blocks its thread must not keep the stop from going on.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::hook::{Action, BoxError, BoxRun};
use crate::actor::Fault;
use crate::dispatch::{Host, contain, wake};
use crate::env::Env;
use crate::sync::Mutex;

/// A run as the stop sees it.
pub(super) struct Attempt {
    shared: Arc<Mutex<Shared>>,
}

/// How a run has ended. The action comes back, for the next one.
pub(super) struct Ended {
    pub(super) result: Result<(), String>,
    pub(super) action: Action,
}

#[derive(Default)]
struct Shared {
    /// Written by the stop: the run is to end where it is.
    cut: bool,
    /// Written by the task: how it ended, taken by the stop.
    ended: Option<Ended>,
    task: Option<Waker>,
    stop: Option<Waker>,
}

impl Attempt {
    pub(super) fn begin(env: &Arc<dyn Env>, action: Action) -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        env.spawn(Box::pin(Run {
            shared: shared.clone(),
            action: Some(action),
            run: None,
        }));
        Attempt { shared }
    }

    pub(super) fn poll_ended(&self, task: &Context<'_>) -> Poll<Ended> {
        let waker = task.waker().clone();
        let _before = {
            let mut shared = self.shared.lock();
            if let Some(ended) = shared.ended.take() {
                return Poll::Ready(ended);
            }
            shared.stop.replace(waker)
        };
        Poll::Pending
    }

    /// Tells the run to end where it waits.
    pub(super) fn cut(&self) {
        let waker = {
            let mut shared = self.shared.lock();
            shared.cut = true;
            shared.task.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.cut();
    }
}

/// The task of a run.
struct Run {
    shared: Arc<Mutex<Shared>>,
    action: Option<Action>,
    run: Option<BoxRun>,
}

impl Run {
    /// Calls the user's code; whatever it does, this returns.
    fn advance(&mut self, task: &mut Context<'_>) -> Poll<Result<(), String>> {
        // A hook that stops the system must not wait for itself.
        let before = Host::with(|host| host.set_in_hook(true));
        let polled = contain(|| {
            let action = &mut self.action;
            let run = self.run.get_or_insert_with(|| match action {
                Some(action) => action.run(),
                None => unreachable!("the action is here until the run has ended"),
            });
            run.as_mut().poll(task)
        });
        Host::with(|host| host.set_in_hook(before.unwrap_or(false)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(result.map_err(in_words)),
            Err(fault) => Poll::Ready(Err(fault.to_string())),
        }
    }

    fn finish(&mut self, result: Result<(), String>) {
        let run = self.run.take();
        let dropped = contain(|| drop(run)).map_err(|fault| fault.to_string());
        let Some(action) = self.action.take() else { return };
        let ended = Ended {
            result: result.and(dropped),
            action,
        };
        let waker = {
            let mut shared = self.shared.lock();
            shared.ended = Some(ended);
            shared.stop.take()
        };
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

impl Future for Run {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let waker = task.waker().clone();
        let (cut, _before) = {
            let mut shared = self.shared.lock();
            (shared.cut, shared.task.replace(waker))
        };
        if cut {
            self.finish(Err("it was cut off".to_owned()));
            return Poll::Ready(());
        }
        match self.advance(task) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                self.finish(result);
                Poll::Ready(())
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.finish(Err("its task was dropped".to_owned()));
    }
}

/// The error with its causes. Showing and dropping it is the user's code.
fn in_words(error: BoxError) -> String {
    contain(|| Fault::boxed(error).to_string())
        .unwrap_or_else(|fault| format!("an error that cannot be shown: {fault}"))
}
