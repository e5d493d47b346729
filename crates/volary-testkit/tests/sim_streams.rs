//! T5: byte streams between simulated nodes.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Check, Link, Node, SimListener, SimStream};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A connection from `a` to `b`, both ends of it.
async fn pair(sim: &Sim) -> (SimStream, SimStream) {
    let listener = sim.node("b").listen(80).unwrap();
    connected(sim, &listener).await
}

async fn connected(sim: &Sim, listener: &SimListener) -> (SimStream, SimStream) {
    let client = sim.node("a").connect("b", 80).await.unwrap();
    let (server, peer) = listener.accept().await.unwrap();
    assert_eq!(peer.name(), "a");
    (client, server)
}

fn nodes(sim: &Sim) -> (Node, Node) {
    (sim.node("a"), sim.node("b"))
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 7 % 251) as u8).collect()
}

/// What a task has read so far, and how it ended.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<(Vec<u8>, Option<End>)>>);

/// The end of the file, or an error.
type End = Result<(), ErrorKind>;

impl Heard {
    /// Reads all there is, on a node.
    fn on(node: &Node, mut stream: impl AsyncReadExt + Unpin + Send + 'static) -> Heard {
        let heard = Heard::default();
        let ours = heard.clone();
        node.spawn(async move {
            let mut room = [0; 1_000];
            let end = loop {
                match stream.read(&mut room).await {
                    Ok(0) => break Ok(()),
                    Ok(count) => ours.0.lock().unwrap().0.extend(&room[..count]),
                    Err(error) => break Err(error.kind()),
                }
            };
            ours.0.lock().unwrap().1 = Some(end);
            std::future::pending::<()>().await; // it stays open
        });
        heard
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().0.clone()
    }
    fn end(&self) -> Option<End> {
        self.0.lock().unwrap().1
    }
}

#[test]
fn t5_bytes_arrive_in_order_in_pieces_and_both_ways() {
    let pieces = Arc::new(AtomicUsize::new(0));
    let short_writes = Arc::new(AtomicUsize::new(0));
    let (read, written) = (pieces.clone(), short_writes.clone());
    Sim::check(100, move |sim| {
        let (read, written) = (read.clone(), written.clone());
        async move {
            let (mut client, mut server) = pair(&sim).await;
            let sent = text(10_000);
            let began = sim.now();
            let count = client.write(&sent).await.unwrap();
            written.fetch_add(usize::from(count < sent.len()), SeqCst);
            client.write_all(&sent[count..]).await.unwrap();
            let mut heard: Vec<u8> = Vec::new();
            let mut room = [0; 10_000];
            while heard.len() < sent.len() {
                let count = server.read(&mut room).await.unwrap();
                heard.extend(&room[..count]);
                read.fetch_add(1, SeqCst);
            }
            assert!(sim.now() - began >= MS / 10, "a latency has passed");
            assert_eq!(heard, sent);
            server.write_all(b"thanks").await.unwrap();
            let mut room = [0; 6];
            client.read_exact(&mut room).await.unwrap();
            assert_eq!(&room, b"thanks");
        }
    });
    assert!(pieces.load(SeqCst) > 300, "short reads happen");
    assert!(short_writes.load(SeqCst) > 20, "short writes happen");
}

#[test]
fn t5_a_slow_reader_holds_the_writer_up() {
    Sim::check(30, |sim| async move {
        let (a, _b) = nodes(&sim);
        let (mut client, mut server) = pair(&sim).await;
        let written = Arc::new(AtomicUsize::new(0));
        let count = written.clone();
        a.spawn(async move {
            loop {
                count.fetch_add(client.write(&[7; 5_000]).await.unwrap(), SeqCst);
            }
        });
        sim.sleep(SECOND).await;
        assert_eq!(written.load(SeqCst), 64 * 1024, "a window, and no more");
        let mut room = vec![0; 30_000];
        server.read_exact(&mut room).await.unwrap();
        sim.sleep(SECOND).await;
        assert_eq!(written.load(SeqCst), 64 * 1024 + 30_000);
    });
}

#[test]
fn t5_loss_is_delay_and_a_slow_link_has_a_rate() {
    Sim::check(30, |sim| async move {
        let (a, b) = nodes(&sim);
        let (mut client, server) = pair(&sim).await;
        let heard = Heard::on(&b, server);
        sim.set_link(&a, &b, Link::default().loss(0.9));
        client.write_all(&text(100)).await.unwrap();
        sim.sleep(3_600 * SECOND).await;
        assert_eq!(heard.bytes(), text(100), "everything has come in the end");
        sim.set_link(&a, &b, Link::default().bytes_per_second(1_000));
        client.write_all(&text(10_000)).await.unwrap();
        sim.sleep(5 * SECOND).await;
        let half = heard.bytes().len() - 100;
        assert!(half <= 5_100, "{half} bytes in five seconds");
        sim.sleep(6 * SECOND).await;
        assert_eq!(heard.bytes().len(), 10_100);
    });
    let slow = Mutex::new(0);
    Sim::check(50, |sim| {
        let slow = &slow;
        async move {
            let (a, b) = nodes(&sim);
            let (mut client, mut server) = pair(&sim).await;
            sim.set_link(&a, &b, Link::default().loss(0.5));
            let began = sim.now();
            client.write_all(b"x").await.unwrap();
            server.read_exact(&mut [0]).await.unwrap();
            *slow.lock().unwrap() += u32::from(sim.now() - began >= 200 * MS);
        }
    });
    let slow = *slow.lock().unwrap();
    assert!((12..40).contains(&slow), "half of them are sent again: {slow}");
}

#[test]
fn t5_a_cut_holds_one_direction_up_without_an_error() {
    Sim::check(50, |sim| async move {
        let (a, b) = nodes(&sim);
        let (client, server) = pair(&sim).await;
        let ((from_b, mut to_b), (from_a, mut to_a)) = (client.into_split(), server.into_split());
        let (at_a, at_b) = (Heard::on(&a, from_b), Heard::on(&b, from_a));
        to_b.write_all(b"under way").await.unwrap();
        sim.cut(&a, &b);
        to_b.write_all(b" and after").await.unwrap();
        to_a.write_all(b"the other way").await.unwrap();
        sim.sleep(3_600 * SECOND).await;
        assert_eq!((at_b.bytes(), at_b.end()), (Vec::new(), None));
        assert_eq!(at_a.bytes(), b"the other way");
        sim.heal();
        sim.sleep(SECOND).await;
        assert_eq!(at_b.bytes(), b"under way and after");
        sim.partition(&[&a]);
        to_b.write_all(b"!").await.unwrap();
        to_a.write_all(b"!").await.unwrap();
        sim.sleep(60 * SECOND).await;
        assert_eq!((at_a.bytes().len(), at_b.bytes().len()), (13, 19));
        sim.heal();
        sim.sleep(SECOND).await;
        assert_eq!((at_a.bytes().len(), at_b.bytes().len()), (14, 20));
        assert_eq!((at_a.end(), at_b.end()), (None, None));
    });
}

#[test]
fn t5_a_reset_is_seen_at_both_ends() {
    Sim::check(50, |sim| async move {
        let (a, b) = nodes(&sim);
        let listener = b.listen(80).unwrap();
        let (client, server) = connected(&sim, &listener).await;
        let (mut other, mut same) = connected(&sim, &listener).await;
        let at_b = Heard::on(&b, server);
        client.reset();
        let at_a = Heard::on(&a, client);
        sim.sleep(10 * MS).await;
        assert_eq!(at_a.end(), Some(Err(ErrorKind::ConnectionReset)));
        assert_eq!(at_b.end(), Some(Err(ErrorKind::ConnectionReset)));
        other.write_all(b"lives").await.unwrap();
        same.read_exact(&mut [0; 5]).await.unwrap();
        sim.reset(&a, &b);
        let kind = |error: std::io::Error| error.kind();
        assert_eq!(other.write(b"x").await.map_err(kind), Err(ErrorKind::ConnectionReset));
        assert_eq!(same.read(&mut [0]).await.map_err(kind), Err(ErrorKind::ConnectionReset));
    });
}

#[test]
fn t5_a_half_closed_stream_ends_one_way_and_goes_on_the_other() {
    Sim::check(50, |sim| async move {
        let (_, b) = nodes(&sim);
        let (mut client, server) = pair(&sim).await;
        let (from_a, mut to_a) = server.into_split();
        let at_b = Heard::on(&b, from_a);
        client.write_all(b"all").await.unwrap();
        client.shutdown().await.unwrap();
        let closed = client.write(b"more").await.map_err(|error| error.kind());
        assert_eq!(closed, Err(ErrorKind::BrokenPipe));
        sim.sleep(10 * MS).await;
        assert_eq!((at_b.bytes(), at_b.end()), (b"all".to_vec(), Some(Ok(()))));
        to_a.write_all(b"answer").await.unwrap();
        client.read_exact(&mut [0; 6]).await.unwrap();
        drop(to_a); // the other half is still held
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    });
}

#[test]
fn t5_bytes_for_a_stream_that_was_dropped_are_answered_with_a_reset() {
    Sim::check(30, |sim| async move {
        let (mut client, server) = pair(&sim).await;
        drop(server);
        client.write_all(b"hello?").await.unwrap();
        let mut room = Vec::new();
        sim.sleep(10 * MS).await;
        let end = client.read_to_end(&mut room).await.map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset));
    });
}

#[test]
fn t5_peers_of_a_crashed_node_hear_of_it_late_and_not_while_they_are_cut_off() {
    let late = AtomicU64::new(0);
    Sim::check(100, |sim| {
        let late = &late;
        async move {
            let (a, b) = nodes(&sim);
            let (client, server) = pair(&sim).await;
            let at_a = Heard::on(&a, client);
            b.spawn(async move {
                let _held = server;
                std::future::pending::<()>().await;
            });
            sim.sleep(MS).await;
            let cut = sim.random().is_multiple_of(2);
            if cut {
                sim.cut(&b, &a);
            }
            b.crash();
            sim.sleep(600 * MS).await;
            late.fetch_add(u64::from(!cut && at_a.end().is_none()), SeqCst);
            sim.sleep(60 * SECOND).await;
            let reset = Some(Err(ErrorKind::ConnectionReset));
            assert_eq!(at_a.end(), if cut { None } else { reset });
            sim.heal();
            sim.sleep(60 * SECOND).await;
            assert_eq!(at_a.end(), reset);
        }
    });
    assert!(late.load(SeqCst) > 3, "some are half open for longer");
}

#[test]
fn t5_a_restarted_node_resets_what_it_does_not_know() {
    Sim::check(30, |sim| async move {
        let (_, b) = nodes(&sim);
        let (mut client, server) = pair(&sim).await;
        b.spawn(async move {
            let _held = server;
            std::future::pending::<()>().await;
        });
        sim.sleep(MS).await;
        b.crash();
        b.restart().await;
        // Whether it is still half open or not, writing brings it to light.
        while client.write(b"anybody?").await.is_ok() {
            sim.sleep(10 * MS).await;
        }
        let end = client.read(&mut [0]).await.map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset));
    });
}

#[test]
fn t5_a_paused_node_reads_nothing_until_it_goes_on() {
    Sim::check(30, |sim| async move {
        let (_, b) = nodes(&sim);
        let (mut client, server) = pair(&sim).await;
        let at_b = Heard::on(&b, server);
        b.pause();
        client.write_all(b"wait").await.unwrap();
        sim.sleep(SECOND).await;
        assert!(at_b.bytes().is_empty());
        b.resume();
        sim.sleep(10 * MS).await;
        assert_eq!(at_b.bytes(), b"wait");
    });
}

#[test]
fn t5_connecting_is_refused_by_nobody_and_hangs_while_cut() {
    Sim::check(50, |sim| async move {
        let (a, b) = nodes(&sim);
        let began = sim.now();
        let refused = a.connect("b", 80).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        assert!(sim.now() - began >= MS / 5, "there and back");
        let unknown = a.connect("nobody", 80).await.unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::HostUnreachable);

        let listener = b.listen(80).unwrap();
        assert_eq!(b.listen(80).unwrap_err().kind(), ErrorKind::AddrInUse);
        sim.partition(&[&a]);
        let connected = Arc::new(AtomicU64::new(0));
        let count = connected.clone();
        let client = a.clone();
        a.spawn(async move {
            let _stream = client.connect("b", 80).await.unwrap();
            count.fetch_add(1, SeqCst);
            std::future::pending::<()>().await;
        });
        sim.sleep(600 * SECOND).await;
        assert_eq!(connected.load(SeqCst), 0);
        sim.heal();
        let (_stream, _) = listener.accept().await.unwrap();
        sim.sleep(10 * MS).await;
        assert_eq!(connected.load(SeqCst), 1);

        b.crash();
        assert_eq!(
            listener.accept().await.unwrap_err().kind(),
            ErrorKind::ConnectionAborted
        );
        let down = a.connect("b", 80).await.unwrap_err();
        assert_eq!(down.kind(), ErrorKind::ConnectionRefused);
        b.restart().await;
        assert!(b.listen(80).is_ok());
    });
}

#[test]
fn t5_a_crash_elsewhere_does_not_disturb_whoever_listens() {
    Sim::check(20, |sim| async move {
        let (a, b) = nodes(&sim);
        let listener = b.listen(80).unwrap();
        let accepted = Arc::new(AtomicU64::new(0));
        let count = accepted.clone();
        b.spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, SeqCst);
            }
        });
        sim.sleep(MS).await;
        sim.node("c").crash();
        let _stream = a.connect("b", 80).await.unwrap();
        sim.sleep(MS).await;
        assert_eq!(accepted.load(SeqCst), 1);
    });
}

/// Connections one after the other, each with what survives of it.
async fn chatter(sim: Sim) -> u64 {
    let (a, b) = nodes(&sim);
    b.boot(|node| async move {
        let listener = node.listen(80).unwrap();
        let here = node.clone();
        node.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                here.spawn(async move {
                    let mut room = [0; 500];
                    while let Ok(count @ 1..) = stream.read(&mut room).await {
                        if stream.write_all(&room[..count]).await.is_err() {
                            break;
                        }
                    }
                });
            }
        });
    })
    .await;
    let client = a.clone();
    a.spawn(async move {
        loop {
            if let Ok(mut stream) = client.connect("b", 80).await {
                while stream.write_all(&text(300)).await.is_ok() && stream.read(&mut [0; 300]).await.is_ok() {}
            }
            client.sleep(MS).await;
        }
    });
    let chaos = Chaos::within(SECOND).resets(0..=3).crashes(0..=1).partitions(0..=1);
    sim.chaos(&chaos.lasting(200 * MS));
    sim.sleep(2 * SECOND).await;
    sim.trace_hash()
}

#[test]
fn t5_streams_of_the_same_seed_are_the_same_to_the_letter() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..15 {
        let hash = Sim::new(seed).run(chatter);
        assert_eq!(hash, Sim::new(seed).run(chatter), "seed {seed}");
        seen.insert(hash);
    }
    assert_eq!(seen.len(), 15, "other seeds are other runs");
}

#[test]
fn t5_a_reset_of_chaos_is_found_shrunk_and_told() {
    let failed = Check::new().seeds(200).run(|sim| async move {
        let (a, b) = nodes(&sim);
        let (mut client, server) = pair(&sim).await;
        let _heard = Heard::on(&b, server);
        let chaos = Chaos::within(SECOND).resets(0..=2).pauses(0..=3).clock_drifts(0..=3);
        sim.chaos(&chaos.one_way_cuts(0..=2));
        for _ in 0..20 {
            client.write_all(b"tick").await.unwrap();
            sim.sleep(100 * MS).await;
        }
        drop(a);
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.faults().len(), 1, "{failed}");
    assert!(failed.faults()[0].contains("are reset"), "{failed}");
    let timeline = failed.timeline();
    for what in [
        "connects to b:80",
        "accepts a",
        "loses its connections",
        "sees a connection reset with",
    ] {
        assert!(timeline.contains(what), "{what}: {failed}");
    }
}

#[test]
fn t5_the_timeline_tells_of_the_end_of_a_stream() {
    let timeline = Sim::new(3).run(|sim| async move {
        let (client, mut server) = pair(&sim).await;
        drop(client);
        assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
        sim.timeline()
    });
    assert!(timeline.contains("hears the end of a"), "{timeline}");
}
