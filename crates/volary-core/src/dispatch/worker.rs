//! A worker: a long-lived future that takes ready actors and gives each a turn.
//!
//! It is hosted by the environment's executor, so parking is `Pending` and the threads, the reactor
//! and the timers are the caller's own. Each poll runs a bounded number of turns, so that other
//! tasks on the same runtime have theirs.
//!
//! Order of looking: the slot of the actor that was made ready last (warm in the cache) and the
//! youngest of those who have handled nothing yet, for a bounded number of times in a row; then
//! whoever waits longest in the own ring, or the youngest, in turns; the global queue; the rings and
//! the young of others. Now and then the global queue comes first, and every ten milliseconds the oldest
//! of the young, so that nothing starves.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::contain::contain;
use super::host::Host;
use super::pool::Pool;
use super::ring::Ready;
use super::turn::{TurnEnd, run_turn};
use crate::cell::Here;
use crate::cell::state::SLOW;
use crate::time::Moment;

/// Turns in one poll, and roughly how long it may last, before other tasks of the runtime have a
/// chance.
const TURNS_PER_POLL: u32 = 256;
const TIME_PER_POLL: Duration = Duration::from_millis(1);
/// Every so many turns the worker looks at the clock, and after so few for the first time: most polls have less.
const LOOK_AT_CLOCK: u32 = 16;
const FIRST_LOOK: u32 = 4;
/// How often in a row the last-in slot and the young may come first.
const RUN: u32 = 16;
/// How often the oldest of the young does.
const OLDEST_EVERY: Duration = Duration::from_millis(10);
/// How often in a row a worker looks for work that it may not search for.
const REFUSED: u32 = 64;
/// How often the global queue comes first.
const GLOBAL_EVERY: u32 = 61;
/// Rounds of searching before a worker sleeps; the later ones last longer.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const SEARCH_ROUNDS: u32 = 3;
#[cfg(any(volary_loom, volary_shuttle))]
const SEARCH_ROUNDS: u32 = 1;

/// How often a worker looks for an answer that another thread is about to give, before it sleeps: some microseconds, which is
/// less than to be woken takes.
#[cfg(not(any(volary_loom, volary_shuttle)))]
const LINGER: u32 = 200;
#[cfg(any(volary_loom, volary_shuttle))]
const LINGER: u32 = 0;

/// The worker's own, touched only on the thread that polls it.
pub(crate) struct Local {
    pub(crate) pool: Arc<Pool>,
    pub(crate) index: usize,
    tick: Cell<u32>,
    /// Which lane of the global queue comes first next time.
    lane: Cell<usize>,
    /// Turns given since those who wait longest had one.
    passed_over: Cell<u32>,
    /// Whether the young come before the ring among these.
    young_first: Cell<bool>,
    /// When the oldest of the young had a turn.
    looked_after: Cell<Moment>,
    /// Another one was woken in this poll, by one of the only thread.
    told_another: Cell<bool>,
    searching: Cell<bool>,
    sleeping: Cell<bool>,
    /// One of its actors has asked another that has a thread of its own.
    expects: Cell<bool>,
    /// The last turn ended with its budget, not its mail.
    yielded: Cell<bool>,
    /// What was seen in each neighbour's last-in slot during the previous round of searching.
    suspects: Vec<Cell<(Ready, u64)>>,
}

pub(crate) struct Worker {
    local: Local,
}

// SAFETY: `Local` is full of cells, but it is reached only through `&mut Worker` in `poll`, and
// through the host of the polling thread for the time of that poll.
unsafe impl Send for Worker {}

impl Worker {
    pub(crate) fn new(pool: Arc<Pool>, index: usize) -> Self {
        let suspects = (0..pool.seats.len()).map(|_| Cell::new((ptr::null(), 0))).collect();
        Worker {
            local: Local {
                pool,
                index,
                tick: Cell::new(0),
                lane: Cell::new(index),
                passed_over: Cell::new(0),
                young_first: Cell::new(false),
                looked_after: Cell::new(Moment::ZERO),
                told_another: Cell::new(false),
                searching: Cell::new(false),
                sleeping: Cell::new(false),
                expects: Cell::new(false),
                yielded: Cell::new(false),
                suspects,
            },
        }
    }
}

impl Future for Worker {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let local = &self.local;
        Host::with(|host| {
            let before = host.set_worker(local);
            // Nothing of the user's gets here; should something of ours panic, the thread must not be
            // left with a worker that is gone.
            let polled = contain(|| local.run(host, task));
            host.set_worker(before);
            polled.unwrap_or_else(|fault| {
                tracing::error!(%fault, "a worker failed, and goes on");
                task.waker().wake_by_ref();
                Poll::Pending
            })
        })
        .unwrap_or(Poll::Ready(()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let local = &self.local;
        if local.sleeping.get() {
            local.pool.idle.rise(local.index);
        }
        local.pool.worker_left();
    }
}

impl Local {
    fn run(&self, host: &Host, task: &mut Context<'_>) -> Poll<()> {
        if self.sleeping.replace(false) {
            self.searching.set(self.pool.idle.rise(self.index));
        }
        self.told_another.set(false);
        // Looked up when it has lasted a while: most polls are short, and the clock costs as much as a turn.
        let mut began = None;
        let (mut turns, mut refused) = (0, 0);
        let mut oldest = self.oldest();
        loop {
            if self.pool.is_closed() {
                if let Some(ready) = oldest.take() {
                    self.push_back(ready);
                }
                self.leave_search();
                return Poll::Ready(());
            }
            let Some(ready) = oldest.take().or_else(|| self.next()).or_else(|| self.search()) else {
                if self.sleep(task) {
                    return Poll::Pending;
                }
                // There is work where it may not search: others do, and perhaps for this very thread to be free.
                refused += 1;
                if refused == REFUSED {
                    self.leave_search(); // nobody is to rely on it meanwhile
                    self.pool.yield_now(task);
                    return Poll::Pending;
                }
                continue;
            };
            self.leave_search();
            let slow = self.turn(host, ready);
            turns += 1;
            let long = slow
                || (turns == FIRST_LOOK || turns % LOOK_AT_CLOCK == 0) && {
                    let now = self.pool.now();
                    now.since(*began.get_or_insert(now)) > TIME_PER_POLL
                };
            // In simulation others have their chance after each turn.
            if long || turns >= TURNS_PER_POLL || self.pool.is_seeded() {
                self.pool.yield_now(task);
                return Poll::Pending;
            }
        }
    }

    /// True: the actor is known to be slow.
    fn turn(&self, host: &Host, ready: Ready) -> bool {
        // SAFETY: a scheduled actor cannot end, and it stands in no other queue.
        let cell = unsafe { &*ready };
        let slow = cell.state.in_hand() & SLOW != 0;
        let seat = &self.pool.seats[self.index];
        let graves = host.graves();
        let before = seat.pulse.begin(cell);
        // SAFETY: just taken from the queue, so it is ours.
        let end = run_turn(unsafe { Here::new(cell) }, host, self.pool.turn_budget());
        seat.pulse.end(before);
        host.bury(graves);
        if end == TurnEnd::Yielded {
            self.yielded.set(true);
            if cell.system().has_own_thread(cell.dispatcher) {
                cell.schedule(); // it is here because there was no thread for it, and there may be one by now
            } else {
                // To the back, behind everybody who is ready here, and many in the global queue.
                self.push_back(ready);
            }
        }
        slow
    }

    /// Queues an actor that became ready on this worker.
    #[inline]
    pub(crate) fn push(&self, ready: Ready) {
        if let Some(displaced) = self.pool.seats[self.index].last_in.put(ready) {
            self.push_displaced(displaced);
        }
    }

    /// Wakes another worker if there is one to wake. Where one thread runs all of them, another can do nothing before this poll is
    /// over, unless a handler blocks the thread and tokio gives the runtime another one: to be woken once is enough for that.
    fn notify_another(&self) {
        if !(self.pool.has_one_thread() && self.told_another.replace(true)) {
            self.pool.notify();
        }
    }

    fn push_displaced(&self, displaced: Ready) {
        // SAFETY: an active actor cannot end but in its turn, and this one stood in no other queue.
        let is_young = unsafe { (*displaced).log.taken() == 0 };
        if !(is_young && self.pool.seats[self.index].young.push(displaced)) {
            self.push_back(displaced);
        }
        self.notify_another();
    }

    /// The oldest of the young, if it is time for one. Not after so many turns: each may be the root of a tree, and with
    /// every tree that is begun before others have ended more actors are alive at once.
    fn oldest(&self) -> Option<Ready> {
        let young = &self.pool.seats[self.index].young;
        if young.is_empty() {
            return None;
        }
        let now = self.pool.now();
        if now.since(self.looked_after.get()) < OLDEST_EVERY {
            return None;
        }
        self.looked_after.set(now);
        young.oldest()
    }

    fn push_back(&self, ready: Ready) {
        if self.pool.is_seeded() {
            return self.pool.push_one(ready); // the seed draws from one queue
        }
        self.pool.seats[self.index]
            .ring
            .push(ready, |more| self.pool.push_global(more));
    }

    /// Called in a turn that sends many messages: it is long, so what it made ready should not wait for its end.
    #[cold]
    pub(crate) fn share(&self) {
        let seat = &self.pool.seats[self.index];
        if let Some(ready) = seat.last_in.take() {
            self.push_back(ready);
        }
        if !seat.ring.is_empty() || !seat.young.is_empty() {
            self.notify_another();
        }
    }

    #[inline]
    fn next(&self) -> Option<Ready> {
        if self.pool.is_seeded() {
            return self.pool.pop_seeded();
        }
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        if (self.yielded.replace(false) || tick.is_multiple_of(GLOBAL_EVERY))
            && let Some(ready) = self.pop_global()
        {
            return Some(ready);
        }
        let seat = &self.pool.seats[self.index];
        let passed_over = self.passed_over.get();
        if passed_over < RUN
            && let Some(ready) = seat.last_in.take().or_else(|| seat.young.youngest())
        {
            self.passed_over.set(passed_over + 1);
            return Some(ready);
        }
        self.passed_over.set(0);
        // Two who converse by the last-in slot pass over the young as they do over the ring.
        let young_first = !self.young_first.get();
        self.young_first.set(young_first);
        let waiting = match young_first {
            true => seat.young.youngest().or_else(|| seat.ring.pop()),
            false => seat.ring.pop().or_else(|| seat.young.youngest()),
        };
        waiting.or_else(|| seat.last_in.take()).or_else(|| self.pop_global())
    }

    fn pop_global(&self) -> Option<Ready> {
        self.pool.pop_global(&self.lane, |more| self.push_back(more))
    }

    fn search(&self) -> Option<Ready> {
        if self.pool.is_seeded() {
            return None;
        }
        if !self.searching.get() {
            if !self.pool.idle.begin_search(self.pool.seats.len()) {
                return None;
            }
            self.searching.set(true);
        }
        for round in 0..SEARCH_ROUNDS {
            if let Some(ready) = self.steal().or_else(|| self.pop_global()) {
                return Some(ready);
            }
            for _ in 0..1_u32 << round {
                std::hint::spin_loop();
            }
        }
        if self.expects.replace(false) {
            for _ in 0..LINGER {
                if self.pool.has_work(self.index) {
                    return self.next().or_else(|| self.steal());
                }
                std::hint::spin_loop();
            }
        }
        None
    }

    /// An actor here waits for one that another thread runs, and is awake.
    pub(crate) fn expect(&self) {
        self.expects.set(true);
    }

    fn steal(&self) -> Option<Ready> {
        let own = &self.pool.seats[self.index].ring;
        let count = self.pool.seats.len();
        let start = self.tick.get() as usize;
        for n in 0..count {
            let victim = (start + n) % count;
            if victim == self.index {
                continue;
            }
            let seat = &self.pool.seats[victim];
            if let Some(ready) = seat.ring.steal_into(own).or_else(|| seat.young.oldest()) {
                return Some(ready);
            }
            // The last-in slot is left to its worker, which will come to it at once, unless that
            // worker has been in one and the same turn since we looked last.
            let Some(ready) = seat.last_in.look() else {
                continue;
            };
            let seen = (ready, seat.pulse.turn());
            if self.suspects[victim].replace(seen) == seen && seat.last_in.steal(ready) {
                return Some(ready);
            }
        }
        None
    }

    /// True: the worker is listed as asleep and may be parked.
    fn sleep(&self, task: &mut Context<'_>) -> bool {
        let seat = &self.pool.seats[self.index];
        {
            let mut waker = seat.waker.lock();
            if !waker.as_ref().is_some_and(|w| w.will_wake(task.waker())) {
                *waker = Some(task.waker().clone());
            }
        }
        let searching = self.searching.replace(false);
        self.pool.idle.sleep(self.index, searching);
        if self.pool.has_work(self.index) || self.pool.is_closed() {
            self.searching.set(self.pool.idle.stay_up(self.index, searching));
            return false;
        }
        self.sleeping.set(true);
        true
    }

    fn leave_search(&self) {
        if self.searching.replace(false) && self.pool.idle.end_search() && self.pool.has_work(self.index) {
            // There is more where that came from.
            self.notify_another();
        }
    }
}

#[cfg(all(test, not(any(volary_loom, volary_shuttle))))]
mod tests {
    use std::future::IntoFuture;
    use std::task::{Context as Task, Waker};

    use tokio::sync::oneshot;

    use super::*;
    use crate::cell::Header;
    use crate::*;

    #[test]
    fn l14_a_worker_that_expects_an_answer_looks_again_before_it_sleeps_and_once_only() {
        let worker = Worker::new(Pool::at_rest(), 0);
        let local = &worker.local;
        // Stands in its own last-in slot, where no search leads but that for an answer, as if it had come during the search.
        // An address that nobody looks at.
        let ready = ptr::dangling::<Header>();
        let search = || {
            let last_in = &local.pool.seats[0].last_in;
            assert_eq!(last_in.put(ready), None);
            let found = local.search();
            (found, last_in.take().is_none())
        };
        assert_eq!(search(), (None, false), "nobody expects anything");
        local.expect();
        assert_eq!(search(), (Some(ready), true));
        assert_eq!(search(), (None, false), "one ask is one look");
        local.expect();
        assert_eq!(local.search(), None, "there is nothing, and it does not wait for ever");
        assert_eq!(search(), (None, false), "that was the look");
    }

    struct Bell(std::sync::atomic::AtomicBool);
    impl std::task::Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }

    /// Two actors become ready while a worker searches, and who sends relies on it. It has given the search up when it
    /// sees them: if it took one and kept silent, the other would wait for the end of that one's turn.
    #[test]
    fn l14_a_worker_that_sees_work_when_it_falls_asleep_still_passes_its_search_on() {
        let pool = Pool::at_rest();
        let other = Arc::new(Bell(false.into()));
        *pool.seats[1].waker.lock() = Some(other.clone().into());
        pool.idle.sleep(1, false);
        let worker = Worker::new(pool.clone(), 0);
        let local = &worker.local;
        assert_eq!(local.search(), None);
        for _ in 0..2 {
            pool.push_one(ptr::dangling::<Header>());
            pool.notify();
        }
        let woken = || other.0.load(std::sync::atomic::Ordering::SeqCst);
        assert!(!woken(), "somebody searches");
        assert!(!local.sleep(&mut Task::from_waker(Waker::noop())), "there is work");
        assert!(local.next().is_some());
        local.leave_search();
        assert!(woken(), "there is one more, and nobody else who knows");
    }

    struct Query;
    impl Message for Query {
        type Reply = ();
        type Rejection = std::convert::Infallible;
    }

    struct Desk;
    impl Actor for Desk {
        fn messages(list: &mut MessageList<Self>) {
            list.add::<Query>();
        }
    }
    impl SyncHandler<Query> for Desk {
        fn handle(&mut self, _: Query, _: &mut crate::Context<Self>) -> Result<(), Failure> {
            Ok(())
        }
    }

    /// Ask this one, and say whether the worker expects an answer then.
    struct Ask(ActorRef<Desk>, oneshot::Sender<bool>);
    impl Message for Ask {
        type Reply = ();
        type Rejection = std::convert::Infallible;
    }

    struct Asker;
    impl Actor for Asker {
        fn messages(list: &mut MessageList<Self>) {
            list.add::<Ask>();
        }
    }
    impl SyncHandler<Ask> for Asker {
        #[expect(clippy::unwrap_used, reason = "a test")]
        fn handle(&mut self, Ask(desk, say): Ask, _: &mut crate::Context<Self>) -> Result<(), Failure> {
            let expects = || Host::with(|host| host.worker().map(|worker| worker.expects.replace(false)));
            expects();
            let asked = std::pin::pin!(desk.ask(Query).into_future());
            let _ = asked.poll(&mut Task::from_waker(Waker::noop()));
            say.send(expects().flatten().unwrap()).unwrap();
            Ok(())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn l14_a_worker_expects_the_answers_of_actors_that_have_a_thread_of_their_own() {
        let builder = ActorSystem::builder("one").ignore_environment();
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let asker = system.spawn(|| Asker).await.unwrap();
        for (dispatcher, has_own_thread) in [
            (Dispatcher::Default, false),
            (Dispatcher::Blocking, true),
            (Dispatcher::Pinned, true),
        ] {
            let desk = system.spawn(|| Desk).dispatcher(dispatcher.clone()).await.unwrap();
            // One that is awake already is not woken by the ask.
            let patience = Duration::from_secs(20);
            let rests = async {
                while desk.cell().state.is_busy() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(patience, rests).await.unwrap();
            // As if it had been slow, or one of the default dispatcher would be run where it is asked.
            desk.cell().state.set(SLOW);
            // Told, not asked: so it is a worker that runs it.
            let (say, expects) = oneshot::channel();
            asker.tell(Ask(desk, say)).unwrap();
            let expects = tokio::time::timeout(patience, expects).await.unwrap();
            assert_eq!(expects, Ok(has_own_thread), "{dispatcher:?}");
        }
        system.stop().await.unwrap();
    }
}
