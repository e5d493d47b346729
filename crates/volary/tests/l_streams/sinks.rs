//! Actors as sinks, and both ways on threads.

use super::*;

async fn sink_send<S: Sink<M> + Unpin, M>(sink: &mut S, message: M) -> Result<(), S::Error> {
    poll_fn(|task| Pin::new(&mut *sink).poll_ready(task)).await?;
    Pin::new(sink).start_send(message)
}

#[test]
fn l31_an_actor_is_a_sink_that_waits_for_room_and_keeps_the_order() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, count) = (Log::new(), Arc::default());
        let actor = system
            .spawn(tally(&log, &count, true))
            .mailbox(MailboxKind::Bounded(2))
            .await
            .unwrap();
        let mut sink = actor.clone().into_sink::<Add>();
        for n in 0..30 {
            sink_send(&mut sink, Add(n)).await.unwrap();
            assert!(actor.mailbox_len() <= 2);
        }
        poll_fn(|task| Pin::new(&mut sink).poll_close(task)).await.unwrap();
        system.sleep(Duration::from_secs(1)).await;
        assert_eq!(log.all(), numbers(0..30));
        assert_eq!(system.metrics().refused, 0, "waiting is no refusal");
        actor.stop();
        actor.terminated().await;
        let refused = sink_send(&mut sink, Add(30)).await.unwrap_err();
        assert!(matches!(refused, SendError::Refused(TellError::Stopped(Add(30)))));
        system.stop().await.unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l31_streams_on_threads_keep_their_order_both_ways() {
    let system = system().await;
    let (log, count) = (Log::new(), Arc::default());
    let actor = system.spawn(tally(&log, &count, false)).await.unwrap();
    let source = system.spawn(source(&Log::new())).await.unwrap();
    let ask = Count { to: 5_000, capacity: 8 };
    let stream = source.ask(ask).await.unwrap();
    actor
        .attach(stream)
        .window(16)
        .on_end(how)
        .each(|item| Add(item.unwrap()));
    eventually_async("the end", || log.has("completed")).await;
    let mut expected = numbers(0..5_000);
    expected.push("completed".into());
    assert_eq!(log.all(), expected);
    system.stop().await.unwrap();
}
