//! Streams into actors.

use super::*;

/// Numbers from zero on, and how many were pulled.
struct Numbers {
    next: u64,
    until: u64,
    pulled: Arc<AtomicUsize>,
    _gone: Option<OnDrop>,
}

impl Numbers {
    fn until(until: u64, pulled: &Arc<AtomicUsize>) -> Self {
        Numbers {
            next: 0,
            until,
            pulled: pulled.clone(),
            _gone: None,
        }
    }
}

impl Stream for Numbers {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        if self.next == self.until {
            return Poll::Ready(None);
        }
        self.pulled.fetch_add(1, Ordering::SeqCst);
        self.next += 1;
        Poll::Ready(Some(self.next - 1))
    }
}

fn fed<T>(log: &Log) -> (mpsc::UnboundedSender<T>, Fed<T>) {
    let (send, receive) = mpsc::unbounded_channel();
    (send, Fed(receive, Some(OnDrop(log.clone(), "stream dropped"))))
}

#[test]
fn l31_elements_arrive_in_order_and_the_end_behind_them() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let attached = actor
            .attach(Numbers::until(300, &Arc::default()))
            .window(7)
            .on_end(how)
            .each(Add);
        system.sleep(MOMENT).await;
        let mut expected = numbers(0..300);
        expected.push("completed".into());
        assert_eq!(log.all(), expected);
        assert!(attached.is_finished());
        system.stop().await.unwrap();
    });
}

/// Never more pulled than handled and the window together, whether the handler suspends or not.
#[test]
fn l31_a_slow_actor_slows_the_stream() {
    for naps in [false, true] {
        seeds(move |env| async move {
            let system = simulated(&env).await;
            let (log, handled) = (Log::new(), Arc::new(AtomicUsize::new(0)));
            let actor = system.spawn(tally(&log, &handled, naps)).await.unwrap();
            let pulled = Arc::new(AtomicUsize::new(0));
            let (open, closed) = gate();
            actor.tell(Pause { gate: closed }).unwrap();
            let most = Arc::new(AtomicUsize::new(0));
            let (seen, done, ahead) = (pulled.clone(), handled.clone(), most.clone());
            actor.attach(Numbers::until(50, &pulled)).window(4).each(move |n| {
                ahead.fetch_max(
                    seen.load(Ordering::SeqCst) - done.load(Ordering::SeqCst),
                    Ordering::SeqCst,
                );
                Add(n)
            });
            system.sleep(MOMENT).await;
            assert_eq!(pulled.load(Ordering::SeqCst), 4, "the window is full");
            open.send(()).unwrap();
            system.sleep(Duration::from_secs(1)).await;
            assert_eq!(log.all(), numbers(0..50));
            assert_eq!(most.load(Ordering::SeqCst), 4);
            system.stop().await.unwrap();
        });
    }
}

#[test]
fn l31_a_window_of_one_is_enough() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system
            .spawn(tally(&log, &count, true))
            .mailbox(MailboxKind::Bounded(1))
            .await
            .unwrap();
        actor.attach(Numbers::until(20, &Arc::default())).window(0).each(Add);
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), numbers(0..20));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_other_messages_get_their_turn_beside_an_endless_stream() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let attached = actor.attach(Numbers::until(100_000, &Arc::default())).each(Add);
        for _ in 0..3 {
            assert_eq!(actor.ask(Ping).await.unwrap(), "pong");
        }
        attached.cancel();
        system.sleep(MOMENT).await;
        assert!(attached.is_finished());
        assert_eq!(
            log.all(),
            numbers(0..log.len() as u64),
            "what was in the mailbox was handled"
        );
        assert!(log.len() < 100_000);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_stream_is_dropped_when_its_actor_stops_or_it_is_cancelled() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for cancel in [false, true] {
            let (log, count) = (Log::new(), Arc::default());
            let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
            let (feed, stream) = fed::<u64>(&log);
            let attached = actor.attach(stream).on_end(how).each(Add);
            feed.send(1).unwrap();
            system.sleep(MOMENT).await;
            if cancel {
                attached.cancel();
            } else {
                actor.stop();
            }
            system.sleep(MOMENT).await;
            assert_eq!(log.all(), ["1", "stream dropped"]);
            assert!(attached.is_finished() && feed.send(2).is_err());
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_restart_ends_what_the_actor_attached_itself_and_nothing_else() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
        let (own, stream) = fed::<u64>(&Log::new());
        actor.ask(Feed { stream }).await.unwrap();
        let (outside, stream) = fed::<u64>(&Log::new());
        actor.attach(stream).each(Add);
        own.send(1).unwrap();
        system.sleep(MOMENT).await;
        actor.tell(Crash).unwrap();
        system.sleep(MOMENT).await;
        assert!(own.send(2).is_err());
        outside.send(3).unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.all(), ["1", "3"]);
        system.stop().await.unwrap();
    });
}

/// Panics at its third element, or when it is dropped.
struct Rotten(u64, bool);

impl Stream for Rotten {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        self.0 += 1;
        assert!(self.0 < 3 || self.1, "a stream, as told");
        Poll::Ready((self.0 < 3).then_some(self.0))
    }
}

impl Drop for Rotten {
    fn drop(&mut self) {
        assert!(!self.1, "the drop of a stream, as told");
    }
}

#[test]
fn l31_a_stream_that_panics_is_contained_and_told() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        for (stream_drops, map_panics) in [(false, false), (true, false), (false, true)] {
            let (log, count) = (Log::new(), Arc::default());
            let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
            let failures = system.events().subscribe::<ActorFailed>();
            actor.attach(Rotten(0, stream_drops)).on_end(how).each(move |n| {
                assert!(!(map_panics && n == 2), "a map, as told");
                Add(n)
            });
            system.sleep(MOMENT).await;
            let expected: &[&str] = match (stream_drops, map_panics) {
                (true, _) => &["1", "2", "completed"],
                (_, true) => &["1", "panicked"],
                _ => &["1", "2", "panicked"],
            };
            assert_eq!(log.all(), expected);
            assert_eq!(failures.try_next().unwrap().unwrap().id, actor.id());
            assert!(failures.try_next().is_none(), "once");
            assert_eq!(actor.ask(Ping).await.unwrap(), "pong");
        }
        assert_eq!(system.metrics().restarts, 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_elements_in_the_mailbox_of_an_actor_that_stops_are_dead_letters() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let actor = system.spawn(tally(&Log::new(), &Arc::default(), false)).await.unwrap();
        let (_open, closed) = gate();
        actor.tell(Pause { gate: closed }).unwrap();
        let pulled = Arc::new(AtomicUsize::new(0));
        actor.attach(Numbers::until(50, &pulled)).window(5).each(Add);
        system.sleep(MOMENT).await;
        actor.kill();
        actor.terminated().await;
        system.sleep(MOMENT).await;
        let mut letters = 0;
        while let Some(letter) = dead.try_next() {
            assert_eq!(letter.unwrap().take::<Add>().unwrap().0, letters);
            letters += 1;
        }
        assert_eq!(letters as usize, pulled.load(Ordering::SeqCst), "each that was pulled");
        assert!(letters >= 5);
        system.stop().await.unwrap();
    });
}
