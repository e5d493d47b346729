//! The scenario `remoting`: three nodes whose actors tell, ask and watch each other, and start, find and stop others on each
//! other's nodes, over connections that are slow, cut, half closed and reset, compressed or not. Meanwhile nodes crash, start
//! again, stand still and have clocks that are wrong, passports that are no good and rights that are missing; strangers call who
//! speak another version, or no language at all. All of them have something to say at once after each trouble, so that calls
//! cross.
//!
//! Checked: the accounts of each message (`books/accounts.rs`); nothing comes twice or out of order, nor what its sender was
//! told will not; each ask and each operation ends in time, as it says and by right; each watch ends once, for a reason and
//! by right, and nothing comes behind its end; mail for one life of a node never reaches another; strangers are told why, and disturb nobody;
//! at rest nothing is kept (`books/rest.rs`).

mod books;
mod clerk;
mod guest;
mod host;
mod mortal;
mod passports;
mod strangers;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use books::{Beginning, Paper};
use clerk::{Clerk, GiveUp, Step, clerk_name};
use guest::{Guest, guest_name};
use host::{Host, Receive};
use passports::{Control, Passports};
use volary::ActorSystem;
use volary_remote::compression::Compression;
use volary_remote::{Remote, RemoteOptions, Right, Rights};
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Clock, Link, Node};

const NODES: usize = 3;
const PORT: u16 = 4242;
const CLUSTER: &str = "sim";
const CLERKS: usize = 2;
/// Clerks and a host: those who are always there.
const ACTORS: usize = CLERKS + 1;
const TROUBLE: Duration = Duration::from_secs(12);
const LONGEST: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(100);
const OPERATION_TIMEOUT: Duration = Duration::from_secs(4);
/// So long after its time something may end: its node may stand still, and its clock go wrong.
const LATEST: Duration = Duration::from_secs(10);

/// `host:port` of a node.
fn at(node: usize) -> String {
    format!("n{node}:{PORT}")
}

/// How long frames are that a life cuts its messages into, and takes, is drawn for each: others have to mind that.
fn options(sim: &Sim) -> RemoteOptions {
    let ms = Duration::from_millis;
    let chunk = 1_024 << (sim.random() % 3);
    RemoteOptions::new()
        .window(128)
        .receiver_share(24)
        .outbound_bytes(1 << 16)
        .chunk_bytes(chunk)
        .max_frame((chunk + 1_024).max(9 << 10))
        .connect_timeout(ms(2_000))
        .backoff_first(ms(200))
        .backoff_most(ms(2_000))
        .heartbeat(ms(500))
        .silence(ms(2_000))
        .lost_after(ms(6_000))
        .operation_timeout(OPERATION_TIMEOUT)
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

/// What another node may do here, which is drawn for each life: mostly everything.
fn rights(sim: &Sim) -> Rights {
    [
        (Right::Spawn, 6),
        (Right::Control, 6),
        (Right::Inspect, 6),
        (Right::Watch, 6),
        (Right::Tell, 16),
    ]
    .into_iter()
    .filter(|(_, rarely)| sim.random().is_multiple_of(*rarely))
    .fold(Rights::all(), |rights, (right, _)| rights.without(right))
}

async fn boot(sim: Sim, machine: Node, me: usize, paper: Paper, passports: Arc<Passports>) {
    machine.set_clock(clock(&sim));
    let system = machine.start().await;
    // Known when the first guest comes.
    let life: Arc<OnceLock<usize>> = Arc::default();
    let rights = std::array::from_fn(|_| rights(&sim));
    let builder = Remote::builder().kind::<Clerk>().kind::<Host>().options(options(&sim));
    let (number, books) = (life.clone(), paper.clone());
    let builder = builder
        .cluster(CLUSTER)
        .allow_peers((0..NODES).map(at))
        .spawnable::<Guest>(move |argument| Guest::arrive(number.get().copied().unwrap_or_default(), argument, &books))
        .rights(move |peer| {
            let known = (0..NODES).find(|node| at(*node) == peer.node());
            known.map_or(Rights::none(), |node| rights[node])
        });
    // Whether two agree on one is drawn for each life.
    let compressions = if sim.random().is_multiple_of(2) {
        vec![Compression::Lz4]
    } else {
        Vec::new()
    };
    let builder = builder.compressions(compressions);
    let control = Control {
        transport: machine.transport(),
        sim: sim.clone(),
        passports,
        turned_away: Arc::default(),
    };
    let turned_away = control.turned_away.clone();
    let remote = match builder.transport(control).start(&system, &at(me)).await {
        Ok(remote) => remote,
        Err(error) => return sim.fail(format_args!("no remoting: {error}")),
    };
    let life = *life.get_or_init(|| {
        paper.open().begin(Beginning {
            node: me,
            machine,
            system: system.clone(),
            remote: remote.clone(),
            rights,
            turned_away,
        })
    });
    people(&sim, &system, &remote, &paper, (me, life)).await;
}

/// Those who are always there.
async fn people(sim: &Sim, system: &ActorSystem, remote: &Remote, paper: &Paper, (node, life): (usize, usize)) {
    for number in 0..CLERKS {
        let (remote, paper) = (remote.clone(), paper.clone());
        let clerk = system.spawn(move || Clerk {
            node,
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
    let (remote, paper) = (remote.clone(), paper.clone());
    let host = system.spawn(move || Host {
        node,
        life,
        remote: remote.clone(),
        paper: paper.clone(),
        guests: BTreeMap::new(),
        rests: false,
    });
    match host.named("host").await {
        Ok(host) => drop(host.tell(Receive)),
        Err(error) => sim.fail(format_args!("no host: {error}")),
    }
}

/// Looks at the books until `done`, or for so long.
async fn watch_books(sim: &Sim, paper: &Paper, until: Duration, done: impl Fn() -> bool) {
    while sim.now() < until && !done() && !paper.open().is_wrong() {
        paper.open().check_accounts();
        sim.sleep(LOOK).await;
    }
}

/// Guests whom nobody stops any more go as well: their hosts have gone with their node, or given them up with it. Clerks
/// give up whom they watch in vain.
fn farewell(paper: &Paper) {
    let (systems, guests) = {
        let mut books = paper.open();
        (books.say_farewell(), books.guests())
    };
    for (system, number) in systems
        .iter()
        .flat_map(|system| (0..CLERKS).map(move |number| (system, number)))
    {
        if let Some(clerk) = system.lookup::<Clerk>(&format!("/user/{}", clerk_name(number))) {
            let _ = clerk.tell(GiveUp); // refused if its node is gone
        }
    }
    for (system, guest) in systems
        .iter()
        .flat_map(|system| guests.iter().map(move |guest| (system, guest)))
    {
        if let Some(guest) = system.lookup::<Guest>(&format!("/user/{}", guest_name(*guest))) {
            guest.stop();
        }
    }
}

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let paper = Paper::default();
    let passports = Arc::new(Passports::draw(&sim));
    let nodes: Vec<Node> = (0..NODES).map(|me| sim.node(format!("n{me}"))).collect();
    for (me, node) in nodes.iter().enumerate() {
        let (sim, paper, passports) = (sim.clone(), paper.clone(), passports.clone());
        node.boot(move |node| {
            // At the moment when the machine is up again, and not when the first task of it runs.
            paper.open().over(me);
            boot(sim.clone(), node, me, paper.clone(), passports.clone())
        })
        .await;
    }
    let slow = sim.random().is_multiple_of(4);
    let network = |link: Link| if slow { link.bytes_per_second(20_000) } else { link };
    sim.set_network(network(Link::default().loss(0.02)));
    let chaos = Chaos::within(TROUBLE)
        .resets(0..=4)
        .half_closes(0..=3)
        .crashes(0..=2)
        .partitions(0..=2)
        .one_way_cuts(0..=2)
        .pauses(0..=2)
        .clock_drifts(0..=2);
    sim.chaos(&chaos.lasting(LONGEST));
    strangers::call_in_trouble(&sim, &nodes, &paper);
    watch_books(&sim, &paper, TROUBLE, || false).await;
    paper.open().quiet = true;
    watch_books(&sim, &paper, PATIENCE, || paper.open().unfinished().is_none()).await;
    let open = paper.open().unfinished();
    if let Some(open) = open {
        paper.open().wrong(open);
    }
    farewell(&paper);
    // Whose connection ends at rest has an enemy: what is lost four times in a row comes too late for those who listen.
    sim.set_network(network(Link::default()));
    // Some heartbeats, and rests of those who dial, at which what nobody needs is let go.
    watch_books(&sim, &paper, sim.now() + Duration::from_secs(8), || false).await;
    if !paper.open().is_wrong() {
        strangers::call_at_rest(&sim, &nodes, &paper).await;
    }
    // A heartbeat may just be about to be written. The next comes later than this.
    let rest = sim.now() + Duration::from_millis(500);
    watch_books(&sim, &paper, rest, || paper.open().is_at_rest()).await;
    if !paper.open().is_wrong() {
        let mut books = paper.open();
        books.check_accounts();
        books.check_at_rest();
    }
    // Whoever has sent something is known for as long as the connection that it came on.
    for (me, node) in nodes.iter().enumerate() {
        nodes[..me].iter().for_each(|other| sim.reset(node, other));
    }
    let apart = sim.now() + Duration::from_millis(500);
    watch_books(&sim, &paper, apart, || paper.open().is_apart()).await;
    let mut books = paper.open();
    if !books.is_wrong() {
        books.check_apart();
    }
    books.verdict()
}
