//! Tasks that actors spawn beside themselves: they carry the actor's name and end with it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::actor::Fault;
use crate::baggage::Baggage;
use crate::cell::{Header, WeakCell};
use crate::dispatch::{Ambiently, Ending, Host, contain, wake};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering::*};

/// Whether a task is to go on.
pub(crate) struct TaskState {
    aborted: AtomicBool,
    finished: AtomicBool,
    waker: Mutex<Option<Waker>>,
    /// What the actor had crashed with when it ended the task.
    crash: Mutex<Option<Fault>>,
}

impl TaskState {
    fn new() -> Self {
        TaskState {
            aborted: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            waker: Mutex::new(None),
            crash: Mutex::new(None),
        }
    }

    pub(crate) fn abort(&self) {
        self.aborted.store(true, SeqCst);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Acquire)
    }
}

struct Spawned {
    state: Arc<TaskState>,
    /// Dropped as soon as the task is aborted, not when its executor comes to drop it.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    actor: WeakCell,
    on_end: Option<Box<dyn FnOnce() + Send>>,
}

impl Spawned {
    fn report(&self, ran: Result<(), Fault>) {
        if let (Err(fault), Some(actor)) = (ran, self.actor.upgrade()) {
            actor.system().report_hook_fault(&actor, "task", &fault);
        }
    }

    fn finish(&mut self) {
        let future = self.future.take();
        let crash = self.state.crash.lock().take();
        let let_go = || contain(|| drop(future));
        // One that has run to its end or panicked has nothing left that could be cut short.
        let dropped = Host::with(|host| host.with_ending(Ending::Aborted(crash), let_go));
        self.report(dropped.unwrap_or(Ok(())));
        self.state.finished.store(true, Release);
        if let Some(on_end) = self.on_end.take() {
            on_end();
        }
    }
}

impl Future for Spawned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        *self.state.waker.lock() = Some(task.waker().clone());
        if self.state.aborted.load(SeqCst) {
            self.finish();
            return Poll::Ready(());
        }
        let this = &mut *self;
        let polled = contain(|| {
            this.future
                .as_mut()
                .map_or(Poll::Ready(()), |future| future.as_mut().poll(task))
        });
        if let Ok(Poll::Pending) = polled {
            return Poll::Pending;
        }
        self.report(polled.map(drop));
        self.finish();
        Poll::Ready(())
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Spawns `future` on the environment's executor under the ambient turn of `cell`.
pub(crate) fn spawn_for(cell: &Header, future: impl Future<Output = ()> + Send + 'static) -> Arc<TaskState> {
    let state = Arc::new(TaskState::new());
    let actor = cell.to_ref();
    let owner = actor.downgrade();
    let abort = {
        let (state, owner) = (state.clone(), owner.clone());
        Arc::new(move || {
            *state.crash.lock() = owner.upgrade().and_then(|cell| cell.crash());
            state.abort();
        })
    };
    let key = cell.with_links(|links| {
        let key = links.next_number();
        links.tasks.insert(key, abort);
        key
    });
    let deadline = Host::with(|host| cell.system().current_deadline(host)).unwrap_or(0);
    let baggage = Baggage::to_keep();
    let spawned = Spawned {
        state: state.clone(),
        actor: owner.clone(),
        future: Some(Box::pin(Ambiently {
            actor,
            deadline,
            baggage,
            future,
        })),
        on_end: Some(Box::new(move || {
            if let Some(owner) = owner.upgrade() {
                let _ended = owner.with_links(|links| links.tasks.remove(&key));
                owner.work_ended();
            }
        })),
    };
    cell.system().env().spawn(Box::pin(spawned));
    state
}

/// Spawns `future`, which is about an actor and ends by itself when that does, outside of any turn.
pub(crate) fn spawn_beside(cell: &Header, future: impl Future<Output = ()> + Send + 'static) -> Arc<TaskState> {
    let state = Arc::new(TaskState::new());
    let spawned = Spawned {
        state: state.clone(),
        actor: cell.to_ref().downgrade(),
        future: Some(Box::pin(future)),
        on_end: None,
    };
    cell.system().env().spawn(Box::pin(spawned));
    state
}
