//! The socket of one peer is read slowly, so that TCP itself holds back whoever writes; that of another peer is not.

use std::time::Duration;

use volary_remote::{Remote, RemoteBuilder};

use crate::books::{End, balance_there, dead_letters_at_home};
use crate::child::options;
use crate::counter::{Count, Counter};
use crate::home::{Home, soon, until};
use crate::program::{Child, Setup};
use crate::proxy::{BUFFER, behind_a_proxy};
use crate::writer::Writer;

/// What may be kept for a peer that does not take it: more than the sockets between the two can hold, which is 10 MiB.
const OUTBOUND: usize = 24 << 20;
/// What the slow one reads at a time.
const TICK: usize = 16 << 10;
const TICKS: usize = 30;

/// Nobody is said to be silent while they are slow. Messages go whole: pieces wait for the reader, and not for TCP.
fn patient() -> RemoteBuilder {
    let long = Duration::from_secs(60);
    let options = options(long, long).heartbeat(Duration::from_millis(100));
    Remote::builder()
        .kind::<Counter>()
        .options(options.chunk_bytes(64 << 10).outbound_bytes(OUTBOUND))
}

/// Asks, and waits for the answer.
async fn ask(home: &Home, child: &Child, number: u64) {
    let count = Count {
        from: "asker".to_owned(),
        number,
        padding: vec![7; 1_000],
    };
    let far = home.far::<Counter>(child, "b");
    let answer = far.ask(count).timeout(Duration::from_secs(30));
    assert_eq!(soon("an answer", answer).await.unwrap(), number);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r3_a_socket_that_is_read_slowly_holds_back_its_own_writers_only() {
    let home = Home::start(patient()).await;
    let setup = || Setup::of(&home).with("SILENCE", 60_000);
    let (mut slow, proxy) = behind_a_proxy(&setup()).await;
    let mut fast = setup().start().await;
    let mut to_slow = Writer::new(&home, &slow.node, "a").padded(60_000);
    let mut to_fast = Writer::new(&home, &fast.node, "a").padded(20_000);
    to_slow.write(50).await;
    until("traffic", || slow.handled() == 50).await;

    proxy.to.throttle();
    // The sockets on the way hold some, this node a bounded rest, and then whoever writes is told.
    while to_slow.try_write() {}
    let bound = OUTBOUND + 64 * 1_024;
    let kept = home.reading(&slow.node).kept_bytes;
    assert!((OUTBOUND..bound).contains(&kept), "{kept} bytes are kept");

    // Between two ticks of the slow one, and so at no cost of its pace, the fast one is done with much more.
    let (read, handled) = (proxy.to.read(), slow.handled());
    for tick in 0..TICKS {
        proxy.to.tick(TICK);
        to_fast.write(50).await;
        ask(&home, &fast, 1 + tick as u64).await;
        until("the fast one is done", || {
            fast.lines.count("h a ") as u64 == to_fast.taken
        })
        .await;
        let may = read + (tick + 1) * TICK;
        until("the slow one has read what it may", || proxy.to.read() >= may).await;
        assert!(proxy.to.read() <= may + BUFFER, "and no more");
        to_slow.try_write();
        assert!(home.reading(&slow.node).kept_bytes < bound, "it is bounded all along");
    }
    until("the slow one goes on", || slow.handled() > handled).await;
    let reading = home.reading(&slow.node);
    assert!(
        reading.under_way > 0 && reading.confirmed < to_slow.taken,
        "{reading:?}"
    );
    let in_sockets = usize::try_from(reading.bytes_written).unwrap() - proxy.to.read();
    assert!(
        in_sockets < OUTBOUND / 2,
        "the rest waits for TCP: {in_sockets} bytes were written and not read"
    );

    proxy.to.unthrottle();
    until("all has come", || slow.handled() as u64 == to_slow.taken).await;
    let mut asked = Writer::new(&home, &fast.node, "b");
    asked.taken = TICKS as u64;
    balance_there(&home, &[&to_slow], &mut [(&mut slow, End::Lives)]).await;
    balance_there(&home, &[&to_fast, &asked], &mut [(&mut fast, End::Lives)]).await;
    dead_letters_at_home(&home).await;
    for (child, sent) in [(&slow, to_slow.taken), (&fast, to_fast.taken + asked.taken)] {
        let reading = home.reading(&child.node);
        assert_eq!(
            (reading.connections, reading.confirmed),
            (1, sent),
            "nothing was lost: {reading:?}"
        );
    }
    home.stop().await;
}
