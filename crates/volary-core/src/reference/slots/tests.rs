//! The sweep under loom, and pages that come and go.

use super::*;

#[cfg(volary_loom)]
mod loom_model {
    use std::task::{Poll, Wake};

    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    use super::*;
    use crate::reference::reply_slot::Delivered;

    struct Bell(AtomicUsize);
    impl Wake for Bell {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// A value that says when it was dropped.
    struct Token(Arc<AtomicUsize>);
    impl Drop for Token {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    struct Share<T>(NonNull<T>);
    // SAFETY: each model hands one share to one thread; a page is shared by all.
    unsafe impl<T> Send for Share<T> {}

    const DUE: u64 = 10;

    /// A slot whose asker will wait until it is due, and its page, on which somebody was due long ago.
    fn waiting_soon() -> (NonNull<ReplySlot>, NonNull<Page>) {
        let slot = ReplySlot::take(1, 0);
        // SAFETY: the model has the slot, and under loom no page goes.
        let (this, page) = unsafe { (slot.as_ref(), slot.as_ref().page()) };
        this.stamp(DUE);
        this.leave_to_sweep();
        // SAFETY: as above.
        unsafe { page.as_ref() }.expect(1);
        (slot, page)
    }

    fn sweep_at(now: u64, page: NonNull<Page>) -> thread::JoinHandle<()> {
        let page = Share(page);
        thread::spawn(move || {
            let page = page;
            let mut due = Vec::new();
            // SAFETY: under loom no page goes.
            unsafe { page.0.as_ref() }.look(now, &mut due);
            due.into_iter().for_each(Waker::wake);
        })
    }

    #[test]
    fn loom_sweep_finds_whoever_begins_to_wait_meanwhile() {
        loom::model(|| {
            let (slot, page) = waiting_soon();
            let sweep = sweep_at(DUE - 1, page);
            let bell = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            // SAFETY: this thread is the asker.
            let early = unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(bell)) };
            assert!(early.is_pending());
            // SAFETY: the slot is in use.
            unsafe { slot.as_ref() }.tell_page();
            sweep.join().unwrap();
            let mut due = Vec::new();
            // SAFETY: under loom no page goes.
            let page = unsafe { page.as_ref() };
            page.look(DUE - 1, &mut due);
            assert!(due.is_empty(), "not yet");
            page.look(DUE, &mut due);
            assert_eq!(due.len(), 1, "its page knows when it is due, whoever was first");
            // SAFETY: the asker gives up, then the replier answers.
            unsafe {
                assert!(ReplySlot::close::<u64>(slot).is_none());
                assert_eq!(ReplySlot::complete(slot, 1_u64), Delivered::TooLate(0));
            }
        });
    }

    #[test]
    fn loom_sweep_and_reply_wake_the_asker_between_them() {
        loom::model(|| {
            let (slot, page) = waiting_soon();
            let bell = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            let waker = Waker::from(bell.clone());
            // SAFETY: this thread is the asker.
            assert!(unsafe { ReplySlot::poll::<u64>(slot, &waker) }.is_pending());
            // SAFETY: the slot is in use.
            unsafe { slot.as_ref() }.tell_page();
            let sweep = sweep_at(DUE, page);
            let share = Share(slot);
            let replier = thread::spawn(move || {
                let share = share;
                // SAFETY: this thread is the replier.
                unsafe { ReplySlot::complete(share.0, 42_u64) }
            });
            replier.join().unwrap();
            sweep.join().unwrap();
            assert!(bell.0.load(SeqCst) >= 1, "by one or the other");
            // SAFETY: still the asker.
            assert_eq!(unsafe { ReplySlot::poll::<u64>(slot, &waker) }, Poll::Ready(42));
        });
    }

    #[test]
    fn loom_sweep_leaves_the_waker_to_an_asker_that_looks_again() {
        loom::model(|| {
            let (slot, page) = waiting_soon();
            let first = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            let second = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            // SAFETY: this thread is the asker.
            assert!(unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(first)) }.is_pending());
            // SAFETY: the slot is in use.
            unsafe { slot.as_ref() }.tell_page();
            let sweep = sweep_at(DUE, page);
            // SAFETY: still the asker.
            assert!(unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(second.clone())) }.is_pending());
            sweep.join().unwrap();
            let before = second.0.load(SeqCst);
            // SAFETY: the replier.
            assert_eq!(unsafe { ReplySlot::complete(slot, 7_u64) }, Delivered::ToAsker);
            assert!(
                before + 1 == second.0.load(SeqCst) || before == 1,
                "the newest waker is woken by the answer, or was by the sweep"
            );
            // SAFETY: still the asker.
            assert!(unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(second)) }.is_ready());
        });
    }

    #[test]
    fn loom_sweep_takes_nothing_from_an_asker_that_gives_up_against_a_reply() {
        loom::model(|| {
            let drops = Arc::new(AtomicUsize::new(0));
            let (slot, page) = waiting_soon();
            let bell = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            // SAFETY: the asker waits first, then gives up.
            assert!(unsafe { ReplySlot::poll::<Token>(slot, &Waker::from(bell)) }.is_pending());
            // SAFETY: the slot is in use.
            unsafe { slot.as_ref() }.tell_page();
            let sweep = sweep_at(DUE, page);
            let share = Share(slot);
            let replier = {
                let drops = drops.clone();
                thread::spawn(move || {
                    let share = share;
                    // SAFETY: the replier.
                    unsafe { ReplySlot::complete(share.0, Token(drops)) }
                })
            };
            // SAFETY: the asker.
            let last_moment = unsafe { ReplySlot::close::<Token>(slot) };
            let delivered = replier.join().unwrap();
            sweep.join().unwrap();
            assert_eq!(last_moment.is_some(), delivered == Delivered::ToAsker);
            drop(last_moment);
            assert_eq!(drops.load(SeqCst), 1);
        });
    }
}

#[cfg(not(any(volary_loom, volary_shuttle)))]
mod plain {
    use std::task::Poll;
    use std::time::Duration;

    use super::pool::{BATCH, Pages, next_sweep, pages};
    use super::*;
    use crate::*;

    /// Begins to wait on a slot until `due`.
    fn wait_until(due: u64) -> NonNull<ReplySlot> {
        let slot = ReplySlot::take(1, 0);
        // SAFETY: both shares are in this test's hands.
        unsafe {
            slot.as_ref().stamp(due);
            slot.as_ref().leave_to_sweep();
            assert!(ReplySlot::poll::<u8>(slot, Waker::noop()).is_pending());
            slot.as_ref().tell_page();
        }
        slot
    }

    fn answer(slot: NonNull<ReplySlot>) {
        // SAFETY: both shares are in this test's hands.
        unsafe {
            ReplySlot::complete(slot, 1_u8);
            assert_eq!(ReplySlot::poll::<u8>(slot, Waker::noop()), Poll::Ready(1));
        }
    }

    /// Far from any time that other tests wait for.
    const FAR: u64 = 1 << 60;

    #[test]
    fn miri_sweep_wakes_who_is_due_and_leaves_the_others() {
        let (early, late) = (wait_until(FAR), wait_until(FAR + 10));
        // SAFETY: the slots are in use.
        let pages = unsafe { [early.as_ref().page().as_ref(), late.as_ref().page().as_ref()] };
        let look = |now| {
            let mut due = Vec::new();
            let mut next = u64::MAX;
            for page in pages {
                next = next.min(page.look(now, &mut due));
            }
            (due.len(), next)
        };
        assert_eq!(look(FAR - 1), (0, FAR));
        assert_eq!(look(FAR), (1, FAR + 10));
        assert_eq!(look(FAR + 1), (0, FAR + 10), "it is woken once");
        answer(early);
        assert_eq!(look(FAR + 10).0, 1);
        answer(late);
        assert_eq!(look(FAR + 11), (0, u64::MAX), "nobody waits any more");
    }

    #[test]
    fn miri_pages_come_and_go_with_the_threads_that_use_them() {
        let rounds = if cfg!(miri) { 4 } else { 1_000 };
        let before = pages();
        for _ in 0..rounds {
            let used = || {
                let slots: Vec<_> = (0..2 * PAGE).map(|_| wait_until(FAR)).collect();
                slots.into_iter().for_each(answer);
            };
            std::thread::spawn(used).join().unwrap();
        }
        assert!(
            pages() < before + rounds,
            "two for each thread, and none is left behind"
        );
    }

    #[test]
    fn miri_pages_that_change_their_place_during_a_sweep_are_not_passed_over() {
        // Two more than are woken at once, and all of them are due.
        let count = BATCH / PAGE + 2;
        let all: Vec<_> = (0..count).map(|_| Page::open()).collect();
        for page in &all {
            for slot in Page::slots(*page) {
                // SAFETY: the page goes at the end of this test, and its slots have been given to nobody else.
                unsafe {
                    slot.as_ref().stamp(FAR);
                    slot.as_ref().leave_to_sweep();
                    assert!(ReplySlot::poll::<u8>(slot, Waker::noop()).is_pending());
                    slot.as_ref().tell_page();
                }
            }
        }
        let mut list = Pages::new();
        all.iter().for_each(|page| list.add(*page));
        let (mut woken, mut next, mut below) = (0, u64::MAX, usize::MAX);
        while below > 0 {
            let mut due = Vec::new();
            below = list.look_below(below, FAR, &mut next, &mut due);
            woken += due.len();
            if below > 0 {
                // Meanwhile some go, and others take their places.
                for gone in [1, 5] {
                    let waits = |slot: &NonNull<ReplySlot>| {
                        // SAFETY: as above.
                        matches!(unsafe { slot.as_ref() }.call(FAR), Call::Due(Some(_)))
                    };
                    woken += Page::slots(all[gone]).filter(waits).count();
                    list.remove(all[gone]);
                }
            }
        }
        assert_eq!(woken, count * PAGE);
        for page in all {
            // SAFETY: made by `Page::open`, and not used any more.
            drop(unsafe { Box::from_raw(page.as_ptr()) });
        }
    }

    #[test]
    fn sweeps_are_as_far_apart_as_they_take_long() {
        const MILLI: u64 = 1_000_000;
        assert_eq!(next_sweep(FAR, FAR + 3 * MILLI, 100), FAR + 3 * MILLI, "to the moment");
        assert_eq!(next_sweep(FAR, u64::MAX, 100), FAR + 250 * MILLI);
        // A million asks, of which the next is always due at once.
        let pages = 1_000_000 / PAGE;
        let rest = next_sweep(FAR, FAR + 1, pages) - FAR;
        assert!((20 * MILLI..50 * MILLI).contains(&rest), "{rest} ns");
        assert_eq!(next_sweep(u64::MAX, u64::MAX, pages), u64::MAX);
    }

    struct Never(Vec<ReplyTo<()>>);
    struct Wait;
    impl Message for Wait {
        type Reply = ();
        type Rejection = std::convert::Infallible;
    }
    impl Actor for Never {}
    impl Respond<Wait> for Never {
        async fn respond(&mut self, _: Wait, reply: ReplyTo<()>, _: &mut Context<Self>) -> Result<(), Fault> {
            self.0.push(reply);
            Ok(())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn s3_an_ask_that_waits_for_long_has_no_timer_and_ends_in_time() {
        let builder = ActorSystem::builder("patient").ignore_environment();
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let never = system.spawn(|| Never(Vec::new())).await.unwrap();
        let core = || never.cell().system();
        let patience = Duration::from_nanos(PATIENT) + Duration::from_millis(100);
        let begun = core().now();
        let asked = tokio::spawn({
            let never = never.clone();
            async move { never.ask(Wait).timeout(patience).await }
        });
        let limit = Duration::from_secs(20);
        let handled = async {
            while never.cell().log.taken() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(limit, handled).await.unwrap();
        assert_eq!(core().timers().len(), 0);
        let ended = tokio::time::timeout(limit, asked).await.unwrap().unwrap();
        assert!(matches!(ended, Err(AskError::Timeout { .. })));
        assert!(core().now().since(begun) >= patience, "not before its time");
        system.stop().await.unwrap();
    }

    /// Where no stop finds them.
    type Answers = std::sync::Arc<crate::sync::Mutex<Vec<ReplyTo<()>>>>;
    struct Away(Answers);
    impl Actor for Away {}
    impl Respond<Wait> for Away {
        async fn respond(&mut self, _: Wait, reply: ReplyTo<()>, _: &mut Context<Self>) -> Result<(), Fault> {
            self.0.lock().push(reply);
            Ok(())
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn s13_who_sleeps_by_the_clock_of_a_system_is_woken_when_it_has_stopped() {
        let builder = ActorSystem::builder("asleep").ignore_environment();
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let patience = Duration::from_secs(20);
        let sleep = || {
            let system = system.clone();
            tokio::spawn(async move { system.sleep(Duration::from_secs(3_600)).await })
        };
        let before = sleep();
        tokio::task::yield_now().await;
        system.stop().await.unwrap();
        tokio::time::timeout(patience, before).await.unwrap().unwrap();
        tokio::time::timeout(patience, sleep()).await.unwrap().unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn s3_an_ask_whose_answer_is_kept_elsewhere_ends_when_the_system_has_stopped() {
        let limit = Duration::from_secs(20);
        // One has a timer, the other has none.
        for patience in [Duration::from_nanos(PATIENT / 2), Duration::from_secs(3600)] {
            let builder = ActorSystem::builder("away").ignore_environment();
            let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
            let kept = Answers::default();
            let away = system
                .spawn({
                    let kept = kept.clone();
                    move || Away(kept.clone())
                })
                .await
                .unwrap();
            let asked = tokio::spawn({
                let away = away.clone();
                async move { away.ask(Wait).timeout(patience).await }
            });
            let handled = async {
                while kept.lock().is_empty() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(limit, handled).await.unwrap();
            system.stop().await.unwrap();
            let ended = tokio::time::timeout(limit, asked).await.unwrap().unwrap();
            let has_ended = matches!(ended, Err(AskError::Stopped | AskError::Timeout { .. }));
            assert!(has_ended, "{ended:?}");
            // Too late, and harmless.
            kept.lock().drain(..).for_each(|reply| reply.send(()));
        }
    }
}
