//! Parking under loom: workers that fall asleep while others send.
//!
//! The workers of these models do what those of the pool do around [`Idle`], step by step. What they look for is a number
//! in place of a queue, and to be woken is a flag.

use super::*;
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::thread;

/// The pool, as far as sleeping is concerned.
struct Model {
    idle: Idle,
    queued: AtomicUsize,
    woken: Vec<AtomicBool>,
}

impl Model {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Model {
            idle: Idle::new(workers),
            queued: AtomicUsize::new(0),
            woken: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// What a sender does, with a weaker order than the pool's.
    fn send(&self) {
        self.queued.fetch_add(1, Release);
        self.notify();
    }

    fn notify(&self) {
        if let Some(worker) = self.idle.worker_to_wake() {
            self.woken[worker].store(true, SeqCst);
        }
    }

    fn has_work(&self) -> bool {
        self.queued.load(Acquire) > 0
    }

    fn take(&self) -> bool {
        let taken = self
            .queued
            .fetch_update(AcqRel, Acquire, |queued| queued.checked_sub(1));
        taken.is_ok()
    }
}

struct Worker {
    model: Arc<Model>,
    index: usize,
    searching: bool,
    sleeping: bool,
}

impl Worker {
    fn new(model: &Arc<Model>, index: usize) -> Self {
        Worker {
            model: model.clone(),
            index,
            searching: false,
            sleeping: false,
        }
    }

    /// One that has found nothing to do, and nobody to wake it yet.
    fn asleep(model: &Arc<Model>, index: usize) -> Self {
        let mut worker = Worker::new(model, index);
        worker.poll();
        assert!(worker.sleeping);
        worker
    }

    /// Until there is nothing to do.
    fn poll(&mut self) {
        while self.finds() {}
    }

    /// Whether it has found something to do. If not, it sleeps.
    fn finds(&mut self) -> bool {
        if std::mem::replace(&mut self.sleeping, false) {
            self.searching = self.model.idle.rise(self.index);
        }
        loop {
            if self.model.take() || self.search() {
                self.leave_search();
                return true;
            }
            let searching = std::mem::replace(&mut self.searching, false);
            self.model.idle.sleep(self.index, searching);
            if !self.model.has_work() {
                self.sleeping = true;
                return false;
            }
            self.searching = self.model.idle.stay_up(self.index, searching);
        }
    }

    fn search(&mut self) -> bool {
        self.searching = self.searching || self.model.idle.begin_search(self.model.woken.len());
        self.searching && self.model.take()
    }

    fn leave_search(&mut self) {
        let model = &*self.model;
        if std::mem::replace(&mut self.searching, false) && model.idle.end_search() && model.has_work() {
            model.notify();
        }
    }

    /// Once more, if it was woken.
    fn poll_if_woken(&mut self) -> bool {
        let woken = self.model.woken[self.index].swap(false, SeqCst);
        if woken {
            self.poll();
        }
        woken
    }
}

/// Those who were woken have their turn, until nobody was. All is done then, and the counts are right: with a searcher too
/// many no sender would wake anybody ever again.
fn settle(model: &Model, workers: &mut [Worker]) {
    while workers.iter_mut().any(Worker::poll_if_woken) {}
    assert_eq!(model.queued.load(Acquire), 0, "work is queued and everybody sleeps");
    let asleep = workers.len();
    assert_eq!(model.idle.counts.load(SeqCst), asleep as u32 * ASLEEP);
    assert_eq!(model.idle.sleepers.lock().len(), asleep);
}

fn spawn_worker(mut worker: Worker) -> thread::JoinHandle<Worker> {
    thread::spawn(move || {
        worker.poll();
        worker
    })
}

/// All interleavings with no more preemptions than this, or than the environment says.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    let bound = builder.preemption_bound.unwrap_or(preemptions);
    builder.preemption_bound = Some(bound.min(preemptions));
    builder.check(model);
}

/// One worker going to sleep against one sender: either the sender wakes it, or it sees the work itself.
#[test]
fn loom_parking_loses_no_wake_up() {
    loom::model(|| {
        let model = Model::new(1);
        let worker = spawn_worker(Worker::new(&model, 0));
        model.send();
        settle(&model, &mut [worker.join().unwrap()]);
    });
}

/// Two senders: the second may rely on the worker that the first has woken.
#[test]
fn loom_parking_loses_no_wake_up_of_two_senders() {
    explore(3, || {
        let model = Model::new(1);
        let worker = spawn_worker(Worker::new(&model, 0));
        let other = {
            let model = model.clone();
            thread::spawn(move || model.send())
        };
        model.send();
        other.join().unwrap();
        settle(&model, &mut [worker.join().unwrap()]);
    });
}

/// Two workers, of which only one may search. The sender relies on a searcher that is about to give up, while the other
/// falls asleep without having searched.
#[test]
fn loom_parking_loses_no_wake_up_between_a_searcher_and_a_sleeper() {
    explore(3, || {
        let model = Model::new(2);
        let workers = [0, 1].map(|index| spawn_worker(Worker::new(&model, index)));
        model.send();
        settle(&model, &mut workers.map(|worker| worker.join().unwrap()));
    });
}

/// A searcher finds one piece of work, which keeps it for ever, and the sender of another has relied on it: it must have
/// passed the search on to the one who sleeps.
#[test]
fn loom_parking_passes_the_search_on() {
    explore(3, || {
        let model = Model::new(2);
        let sleeper = Worker::asleep(&model, 1);
        let mut searcher = Worker::new(&model, 0);
        let searcher = thread::spawn(move || (searcher.finds(), searcher));
        model.send();
        model.send();
        match searcher.join().unwrap() {
            (true, _) => settle(&model, &mut [sleeper]),
            (false, searcher) => settle(&model, &mut [sleeper, searcher]),
        }
    });
}

/// Two workers against two senders.
#[test]
fn loom_parking_loses_no_wake_up_of_two_senders_by_two_workers() {
    explore(2, || {
        let model = Model::new(2);
        let workers = [0, 1].map(|index| spawn_worker(Worker::new(&model, index)));
        let other = {
            let model = model.clone();
            thread::spawn(move || model.send())
        };
        model.send();
        other.join().unwrap();
        settle(&model, &mut workers.map(|worker| worker.join().unwrap()));
    });
}
