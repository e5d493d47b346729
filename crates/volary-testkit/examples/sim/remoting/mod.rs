//! The scenario `remoting`: three nodes whose actors tell, ask and watch each other over connections that are slow, cut,
//! half cut and reset, compressed or not, while nodes crash, start again, stand still and have clocks that are wrong. All of them have
//! something to say at once after each trouble, so that calls cross.
//!
//! Checked: what a node has sent is confirmed, lost, refused or under way at any time, and what has ended at the other
//! side fits with it; nothing comes twice or out of order; each ask ends; each watch ends once, and nothing comes behind
//! its end; mail for one life of a node never reaches another; at rest nothing is kept.

mod books;
mod clerk;

use std::collections::BTreeMap;
use std::time::Duration;

use books::Paper;
use clerk::{Clerk, Step, clerk_name};
use volary_remote::compression::Compression;
use volary_remote::{Remote, RemoteOptions};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Clock, Link, Node};

const NODES: usize = 3;
const CLERKS: usize = 2;
const TROUBLE: Duration = Duration::from_secs(12);
const LONGEST: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(100);

/// `host:port` of a node.
fn at(node: usize) -> String {
    format!("n{node}:4242")
}

fn options() -> RemoteOptions {
    let ms = Duration::from_millis;
    RemoteOptions::new()
        .window(128)
        .receiver_share(24)
        .outbound_bytes(1 << 16)
        .chunk_bytes(1_024)
        .connect_timeout(ms(2_000))
        .backoff_first(ms(200))
        .backoff_most(ms(2_000))
        .heartbeat(ms(500))
        .silence(ms(2_000))
        .lost_after(ms(6_000))
}

/// A clock that goes too fast or too slowly, and whose calendar may have been set back since the last life.
fn clock(sim: &Sim) -> Clock {
    let clock = Clock::true_time().drifting((sim.random() % 100_001) as i64 - 50_000);
    let off = Duration::from_millis(sim.random() % 60_000);
    match sim.random() % 3 {
        0 => clock.behind(off),
        1 => clock.ahead(off),
        _ => clock,
    }
}

async fn boot(sim: Sim, node: Node, me: usize, paper: Paper) {
    paper.open().over(me);
    node.set_clock(clock(&sim));
    let system = node.start().await;
    let builder = Remote::builder().kind::<Clerk>().options(options());
    // Whether two agree on one is drawn for each life.
    let compressions = if sim.random().is_multiple_of(2) {
        vec![Compression::Lz4]
    } else {
        Vec::new()
    };
    let builder = builder.compressions(compressions);
    let remote = match builder.transport(node.transport()).start(&system, &at(me)).await {
        Ok(remote) => remote,
        Err(error) => return sim.fail(format_args!("no remoting: {error}")),
    };
    let life = paper.open().begin(me, node, system.clone(), remote.clone());
    for number in 0..CLERKS {
        let (remote, paper) = (remote.clone(), paper.clone());
        let clerk = system.spawn(move || Clerk {
            node: me,
            life,
            number,
            remote: remote.clone(),
            paper: paper.clone(),
            watched: BTreeMap::new(),
            met: None,
        });
        match clerk.named(clerk_name(number)).await {
            Ok(clerk) => drop(clerk.tell(Step)),
            Err(error) => sim.fail(format_args!("no clerk: {error}")),
        }
    }
}

/// Looks at the books until `done`, or for so long.
async fn watch_books(sim: &Sim, paper: &Paper, until: Duration, done: impl Fn() -> bool) {
    while sim.now() < until && !done() && !paper.open().is_wrong() {
        paper.open().check_senders();
        sim.sleep(LOOK).await;
    }
}

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let paper = Paper::default();
    for me in 0..NODES {
        let (sim, paper) = (sim.clone(), paper.clone());
        let node = sim.node(format!("n{me}"));
        node.boot(move |node| boot(sim.clone(), node, me, paper.clone())).await;
    }
    let slow = sim.random().is_multiple_of(4);
    let link = Link::default().loss(0.02);
    sim.set_network(if slow { link.bytes_per_second(20_000) } else { link });
    let chaos = Chaos::within(TROUBLE)
        .resets(0..=4)
        .half_closes(0..=3)
        .crashes(0..=2)
        .partitions(0..=2)
        .one_way_cuts(0..=2)
        .pauses(0..=2)
        .clock_drifts(0..=2);
    sim.chaos(&chaos.lasting(LONGEST));
    watch_books(&sim, &paper, TROUBLE, || false).await;
    paper.open().quiet = true;
    watch_books(&sim, &paper, PATIENCE, || paper.open().unfinished().is_none()).await;
    let open = paper.open().unfinished();
    if let Some(open) = open {
        paper.open().wrong(open);
    }
    // Some heartbeats, and rests of those who dial, at which what nobody needs is let go.
    watch_books(&sim, &paper, sim.now() + Duration::from_secs(8), || false).await;
    let mut books = paper.open();
    if !books.is_wrong() {
        books.check_at_rest();
    }
    books.verdict()
}
