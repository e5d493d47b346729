//! The reply slot under loom: reply, timeout, cancellation and a change of waker, all racing.

use super::*;

#[cfg(volary_loom)]
mod loom_model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;
    use std::task::Wake;

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

    struct Share(NonNull<ReplySlot>);
    // SAFETY: each model hands one share to one thread.
    unsafe impl Send for Share {}

    #[test]
    fn loom_reply_slot_wakes_exactly_when_it_must() {
        loom::model(|| {
            let slot = ReplySlot::take(1, 0);
            let share = Share(slot);
            let replier = thread::spawn(move || {
                let share = share;
                // SAFETY: this thread is the replier.
                unsafe { ReplySlot::complete(share.0, 42_u64) }
            });
            let bell = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            let waker = Waker::from(bell.clone());
            // SAFETY: this thread is the asker.
            let early = unsafe { ReplySlot::poll::<u64>(slot, &waker) };
            let delivered = replier.join().unwrap();
            assert_eq!(delivered, Delivered::ToAsker);
            match early {
                Poll::Ready(value) => assert_eq!(value, 42),
                Poll::Pending => {
                    assert_eq!(bell.0.load(SeqCst), 1, "who was told to wait is woken");
                    // SAFETY: still the asker, still unfinished.
                    assert_eq!(unsafe { ReplySlot::poll::<u64>(slot, &waker) }, Poll::Ready(42));
                }
            }
        });
    }

    #[test]
    fn loom_reply_slot_changes_its_waker_while_the_reply_comes() {
        loom::model(|| {
            let slot = ReplySlot::take(1, 0);
            let first = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            let second = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            // SAFETY: the asker.
            let pending = unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(first.clone())) };
            assert!(pending.is_pending());
            let share = Share(slot);
            let replier = thread::spawn(move || {
                let share = share;
                // SAFETY: the replier.
                unsafe { ReplySlot::complete(share.0, 7_u64) }
            });
            // SAFETY: the asker.
            let early = unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(second.clone())) };
            replier.join().unwrap();
            if early.is_pending() {
                assert_eq!(second.0.load(SeqCst), 1, "the newest waker is the one that is woken");
                // SAFETY: the asker.
                assert!(unsafe { ReplySlot::poll::<u64>(slot, &Waker::from(second)) }.is_ready());
            }
        });
    }

    #[test]
    fn loom_reply_slot_survives_timeout_against_reply() {
        loom::model(|| {
            let drops = Arc::new(AtomicUsize::new(0));
            let slot = ReplySlot::take(1, 0);
            let bell = std::sync::Arc::new(Bell(AtomicUsize::new(0)));
            // SAFETY: the asker waits first, then gives up.
            let pending = unsafe { ReplySlot::poll::<Token>(slot, &Waker::from(bell)) };
            assert!(pending.is_pending());
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
            assert_eq!(last_moment.is_some(), delivered == Delivered::ToAsker);
            drop(last_moment);
            assert_eq!(
                drops.load(SeqCst),
                1,
                "the answer is dropped exactly once, whoever was late"
            );
        });
    }
}

#[cfg(not(volary_loom))]
mod plain {
    use super::*;

    #[test]
    fn miri_reply_slot_carries_any_size() {
        let waker = Waker::noop();
        let small = ReplySlot::take(1, 0);
        // SAFETY: both shares are in this test's hands.
        unsafe {
            assert_eq!(ReplySlot::complete(small, String::from("short")), Delivered::ToAsker);
            assert_eq!(ReplySlot::poll::<String>(small, waker), Poll::Ready("short".to_owned()));
        }
        let large = ReplySlot::take(1, 0);
        // SAFETY: as above.
        unsafe {
            ReplySlot::complete(large, [7_u64; 40]);
            assert_eq!(ReplySlot::poll::<[u64; 40]>(large, waker), Poll::Ready([7; 40]));
        }
        let unit = ReplySlot::take(1, 0);
        // SAFETY: as above.
        unsafe {
            ReplySlot::complete(unit, ());
            assert_eq!(ReplySlot::poll::<()>(unit, waker), Poll::Ready(()));
        }
    }

    #[test]
    fn miri_reply_slot_drops_a_late_answer() {
        let slot = ReplySlot::take(1, 0);
        // SAFETY: both shares are in this test's hands, used in the order of a late reply.
        unsafe {
            assert!(ReplySlot::poll::<String>(slot, Waker::noop()).is_pending());
            assert!(ReplySlot::close::<String>(slot).is_none());
            assert_eq!(ReplySlot::complete(slot, String::from("late")), Delivered::TooLate(0));
        }
    }
}
