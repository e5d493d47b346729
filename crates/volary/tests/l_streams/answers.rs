//! Asks that are answered with a stream.

use super::*;

#[test]
fn l31_an_ask_is_answered_with_a_stream_that_waits_for_its_reader() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(source(&log)).await.unwrap();
        let mut stream = actor.ask(Count { to: 20, capacity: 3 }).await.unwrap();
        system.sleep(MOMENT).await;
        assert_eq!(log.len(), 3, "no more than there is room for");
        assert_eq!(actor.ask(Happen { n: 0 }).await.unwrap(), 0, "the actor goes on");
        let (items, end) = all(&mut stream).await;
        assert_eq!(items, (0..20).collect::<Vec<_>>());
        assert!(end.is_none());
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_the_deadline_of_the_ask_is_for_the_first_answer_only() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(source(&Log::new())).await.unwrap();
        let ask = actor.ask(Follow).timeout(Duration::from_secs(1));
        let mut stream = ask.await.unwrap();
        system.sleep(Duration::from_secs(30)).await;
        actor.tell(Happen { n: 7 }).unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), 7);
        let late = actor.ask(Slowly).timeout(Duration::from_secs(1)).await;
        assert!(matches!(late, Err(AskError::Timeout { .. })));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_reader_that_goes_ends_the_producer() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let actor = system.spawn(source(&log)).await.unwrap();
        let mut stream = actor.ask(Count { to: 1_000, capacity: 2 }).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap(), 0);
        drop(stream);
        system.sleep(MOMENT).await;
        let last = log.all().pop().unwrap();
        assert!(last.starts_with("unread at "), "{last}");
        let stream = actor.ask(Follow).await.unwrap();
        assert_eq!(actor.ask(Happen { n: 1 }).await.unwrap(), 1);
        drop(stream);
        assert_eq!(actor.ask(Happen { n: 2 }).await.unwrap(), 0);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_crash_a_stop_and_a_clean_end_are_told_apart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let spawn = || system.spawn(source(&log));
        // From the state: completed, crashed, stopped.
        let actor = spawn().await.unwrap();
        let mut stream = actor.ask(Follow).await.unwrap();
        actor.tell(Happen { n: 1 }).unwrap();
        actor.tell(Close).unwrap();
        let (items, end) = all(&mut stream).await;
        assert!(items == [1] && end.is_none());

        let mut stream = actor.ask(Follow).await.unwrap();
        actor.tell(Happen { n: 1 }).unwrap();
        actor.tell(BreakDown).unwrap();
        let (items, end) = all(&mut stream).await;
        assert_eq!(items, [1]);
        assert!(
            matches!(&end, Some(StreamError::Failed(fault)) if fault.to_string().contains("broken down")),
            "{end:?}"
        );

        let mut stream = actor.ask(Follow).await.unwrap();
        actor.stop();
        assert!(matches!(all(&mut stream).await.1, Some(StreamError::Stopped)));

        // From a task: crashed with its actor, stopped with it, and by its own panic.
        for crash in [true, false] {
            let actor = spawn().await.unwrap();
            let mut stream = actor.ask(Count { to: 10, capacity: 2 }).await.unwrap();
            system.sleep(MOMENT).await;
            if crash {
                actor.tell(BreakDown).unwrap();
            } else {
                actor.stop();
            }
            system.sleep(MOMENT).await;
            let (items, end) = all(&mut stream).await;
            assert_eq!(items, [0, 1], "what was there is read first");
            match end {
                Some(StreamError::Failed(fault)) if crash => assert!(fault.to_string().contains("broken down")),
                Some(StreamError::Stopped) if !crash => {}
                other => panic!("{other:?}"),
            }
        }
        let actor = spawn().await.unwrap();
        let mut stream = actor.ask(Panicking).await.unwrap();
        let (items, end) = all(&mut stream).await;
        assert!(items == [1] && matches!(end, Some(StreamError::Failed(_))));
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_an_idle_stream_ends_when_its_time_is_over() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system.spawn(source(&Log::new())).await.unwrap();
        let stream = actor.ask(Follow).await.unwrap();
        let mut stream = stream.idle_timeout(&system, Duration::from_secs(1));
        for n in 0..3 {
            let began = system.now();
            system.sleep(Duration::from_millis(900)).await;
            actor.tell(Happen { n }).unwrap();
            assert_eq!(stream.next().await.unwrap().unwrap(), n);
            assert!(system.now().since(began) < Duration::from_secs(1));
        }
        let (items, end) = all(&mut stream).await;
        assert!(items.is_empty() && matches!(end, Some(StreamError::Idle { .. })));
        assert_eq!(actor.ask(Happen { n: 9 }).await.unwrap(), 0, "the producer is told");
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_send_that_is_dropped_has_sent_nothing() {
    let (mut reply, mut stream) = Streaming::channel(1);
    reply.try_send(1).unwrap();
    assert_eq!(reply.try_send(2), Err(TrySendItemError::Full(2)));
    let bell = Bell::new();
    {
        let mut send = Box::pin(reply.send(3));
        assert!(poll_with(&mut send, &bell).is_pending());
    }
    assert!(poll_with(&mut Box::pin(stream.next()), &bell).is_ready());
    assert!(
        poll_with(&mut Box::pin(stream.next()), &bell).is_pending(),
        "neither 2 nor 3"
    );
    reply.finish();
    assert!(matches!(
        poll_with(&mut Box::pin(stream.next()), &bell),
        Poll::Ready(None)
    ));
}
