//! T5: connections of which one direction is gone while the other lives.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::io::ErrorKind;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check, HalfClose, Node, SimStream};

const SECOND: Duration = Duration::from_secs(1);

async fn pair(sim: &Sim) -> (SimStream, SimStream) {
    let listener = sim.node("b").listen(80).unwrap();
    let client = sim.node("a").connect("b", 80).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

fn nodes(sim: &Sim) -> (Node, Node) {
    (sim.node("a"), sim.node("b"))
}

/// What can be read within a second: so many bytes, and whether that was the end.
async fn heard(sim: &Sim, stream: &mut SimStream) -> (usize, Option<Result<(), ErrorKind>>) {
    let (mut count, mut room) = (0, [0; 1_000]);
    loop {
        let read = tokio::select! {
            biased;
            read = stream.read(&mut room) => read,
            () = sim.sleep(SECOND) => return (count, None),
        };
        match read {
            Ok(0) => return (count, Some(Ok(()))),
            Ok(more) => count += more,
            Err(error) => return (count, Some(Err(error.kind()))),
        }
    }
}

#[test]
fn t5_a_direction_that_has_ended_is_an_end_of_file_and_the_other_one_lives() {
    Sim::check(50, |sim| async move {
        let (a, b) = nodes(&sim);
        let (mut client, mut server) = pair(&sim).await;
        client.write_all(&[1; 100]).await.unwrap();
        sim.half_close(&a, &b, HalfClose::Ended);
        // More than could be on its way: whoever writes is not told, nor held up.
        client.write_all(&[2; 200_000]).await.unwrap();
        assert_eq!(heard(&sim, &mut server).await, (100, Some(Ok(()))));
        server.write_all(&[3; 300]).await.unwrap();
        assert_eq!(heard(&sim, &mut client).await, (300, None));
        // As soon as nobody is there to read, it is.
        drop(server);
        let _ = client.write_all(&[4; 10]).await;
        let (_, end) = heard(&sim, &mut client).await;
        assert!(matches!(end, Some(Ok(()) | Err(ErrorKind::ConnectionReset))), "{end:?}");
    });
}

#[test]
fn t5_a_silent_direction_says_nothing_not_even_of_the_end_and_the_other_one_lives() {
    Sim::check(50, |sim| async move {
        let (a, b) = nodes(&sim);
        let (mut client, mut server) = pair(&sim).await;
        sim.half_close(&a, &b, HalfClose::Silent);
        client.write_all(&[1; 100]).await.unwrap();
        assert_eq!(heard(&sim, &mut server).await, (0, None));
        server.write_all(&[2; 300]).await.unwrap();
        assert_eq!(heard(&sim, &mut client).await, (300, None));
        let flood = tokio::select! {
            biased;
            _ = client.write_all(&[3; 70_000]) => "written",
            () = sim.sleep(SECOND) => "held up",
        };
        assert_eq!(flood, "held up");
        sim.heal();
        client.reset();
        assert_eq!(heard(&sim, &mut server).await, (0, None), "nobody tells it");
        // What is made later is as good as any.
        drop((client, server));
        let (mut client, mut server) = pair(&sim).await;
        client.write_all(&[4; 5]).await.unwrap();
        assert_eq!(heard(&sim, &mut server).await, (5, None));
    });
}

#[test]
fn t5_what_a_node_holds_is_counted_until_it_is_closed() {
    Sim::check(20, |sim| async move {
        let (a, b) = nodes(&sim);
        let (client, server) = pair(&sim).await;
        assert_eq!((a.open_connections(), b.open_connections()), (1, 1));
        drop(client);
        sim.sleep(SECOND).await;
        assert_eq!((a.open_connections(), b.open_connections()), (0, 1));
        drop(server);
        let (_client, _server) = pair(&sim).await;
        b.crash();
        assert_eq!((a.open_connections(), b.open_connections()), (1, 0));
        // One that never gets there is held by who makes it only.
        let c = sim.node("c");
        sim.cut(&a, &c);
        let mut connecting = Box::pin(a.connect("c", 80));
        tokio::select! {
            biased;
            _ = &mut connecting => unreachable!("it is cut"),
            () = sim.sleep(SECOND) => {}
        }
        assert_eq!((a.open_connections(), c.open_connections()), (2, 0));
        drop(connecting);
        assert_eq!((a.open_connections(), c.open_connections()), (1, 0), "it was given up");
    });
}

#[test]
fn t5_chaos_half_closes_as_often_as_it_is_told_both_ways() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let story = Check::new().story(seed, |sim| async move {
            let _nodes = nodes(&sim);
            sim.chaos(&Chaos::within(SECOND).half_closes(2..=2));
            sim.sleep(2 * SECOND).await;
            Ok::<(), String>(())
        });
        let happened = |what: &str| story.timeline.matches(what).count();
        let (ended, silent) = (happened("is ended on its"), happened("is silent on its"));
        assert_eq!(ended + silent, 2, "{}", story.timeline);
        seen.insert((ended, silent));
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}
