//! The scenario `streams`: three nodes send each other streams of bytes over bad links, while connections are reset, nodes
//! crash, stand still and are cut off.
//!
//! Checked: what arrives of a stream is a prefix of what was sent, and all of it where the end of the stream was reached; after
//! the trouble every node reaches every other.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use volary::Moment;
use volary_testkit::Sim;
use volary_testkit::sim::{Chaos, Link, Node, SimStream};

const NODES: usize = 3;
const PORT: u16 = 7;
const TROUBLE: Duration = Duration::from_secs(2);
/// A stream has so many bytes at most.
const LONGEST: u64 = 10_000;
const CHUNK: usize = 3_000;

/// What was written into each stream, and by whom to whom streams have come to their end.
#[derive(Default)]
struct Books {
    streams: u64,
    written: BTreeMap<u64, u64>,
    arrived: u64,
    ended: BTreeMap<(usize, usize), u64>,
}

type Shared = Arc<Mutex<Books>>;

fn open(books: &Shared) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The byte of a stream at a place. The first eight are its number.
fn byte(stream: u64, place: u64) -> u8 {
    match place {
        0..8 => stream.to_le_bytes()[place as usize],
        _ => (stream.wrapping_mul(31).wrapping_add(place.wrapping_mul(7)) % 251) as u8,
    }
}

async fn write(stream: &mut SimStream, bytes: &[u8]) -> io::Result<usize> {
    poll_fn(|task| Pin::new(&mut *stream).poll_write(task, bytes)).await
}

async fn read(stream: &mut SimStream, room: &mut [u8]) -> io::Result<usize> {
    let mut room = ReadBuf::new(room);
    poll_fn(|task| Pin::new(&mut *stream).poll_read(task, &mut room)).await?;
    Ok(room.filled().len())
}

/// Sends one stream, and waits for the other side to close as well.
async fn send(node: &Node, to: usize, books: &Shared) -> io::Result<()> {
    let mut stream = node.connect(&name(to), PORT).await?;
    let (number, length) = {
        let mut books = open(books);
        books.streams += 1;
        (books.streams, 8 + node.random() % LONGEST)
    };
    let mut at = 0;
    while at < length {
        let end = length.min(at + CHUNK as u64);
        let chunk: Vec<u8> = (at..end).map(|place| byte(number, place)).collect();
        // Before it is sent: some of it may arrive although the writer dies.
        open(books).written.insert(number, end);
        at += write(&mut stream, &chunk).await? as u64;
    }
    poll_fn(|task| Pin::new(&mut stream).poll_shutdown(task)).await?;
    while read(&mut stream, &mut [0; 8]).await? > 0 {}
    Ok(())
}

/// Reads one stream, and says what was wrong with it.
async fn receive(mut stream: SimStream, from: usize, to: usize, books: &Shared) -> Result<(), String> {
    let (mut head, mut place, mut room) = ([0; 8], 0_u64, [0; 1_000]);
    loop {
        let count = match read(&mut stream, &mut room).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(_) => return Ok(()), // reset
        };
        for byte_here in &room[..count] {
            match place {
                0..8 => head[place as usize] = *byte_here,
                _ if *byte_here == byte(u64::from_le_bytes(head), place) => {}
                _ => return Err(format!("stream {} is wrong at {place}", u64::from_le_bytes(head))),
            }
            place += 1;
        }
        open(books).arrived += count as u64;
        let written = open(books).written.get(&u64::from_le_bytes(head)).copied();
        if place >= 8 && written.is_none_or(|written| written < place) {
            return Err(format!("{place} bytes of {written:?} have arrived"));
        }
    }
    let number = u64::from_le_bytes(head);
    let written = open(books).written.get(&number).copied().unwrap_or(0);
    if place > 0 && place != written {
        return Err(format!("stream {number} ends after {place} bytes of {written}"));
    }
    *open(books).ended.entry((from, to)).or_default() += 1;
    Ok(())
}

fn name(number: usize) -> String {
    format!("n{number}")
}

async fn boot(sim: Sim, node: Node, me: usize, books: Shared) {
    let listener = match node.listen(PORT) {
        Ok(listener) => listener,
        Err(error) => return sim.fail(format_args!("{me} cannot listen: {error}")),
    };
    let (here, theirs) = (node.clone(), books.clone());
    node.spawn(async move {
        while let Ok((stream, peer)) = listener.accept().await {
            let (sim, books) = (sim.clone(), theirs.clone());
            let from = (0..NODES).find(|number| name(*number) == peer.name()).unwrap_or(NODES);
            here.spawn(async move {
                if let Err(wrong) = receive(stream, from, me, &books).await {
                    sim.fail(wrong);
                }
            });
        }
    });
    for peer in (0..NODES).filter(|peer| *peer != me) {
        let (here, books) = (node.clone(), books.clone());
        node.spawn(async move {
            loop {
                // Fewer when the trouble is over: nothing is learned from them but that they arrive.
                let pause = if here.now().since(Moment::ZERO) < TROUBLE {
                    100
                } else {
                    10_000
                };
                let outcome = send(&here, peer, &books).await;
                if let Err(error) = outcome {
                    here.note(format_args!("gives up a stream to {}: {}", name(peer), error.kind()));
                }
                here.sleep(Duration::from_millis(50 + here.random() % pause)).await;
            }
        });
    }
}

pub(crate) async fn run(sim: Sim) -> Result<(), String> {
    let books = Shared::default();
    for me in 0..NODES {
        let (sim, books) = (sim.clone(), books.clone());
        let node = sim.node(name(me));
        node.boot(move |node| boot(sim.clone(), node, me, books.clone())).await;
    }
    sim.set_network(Link::default().loss(0.02));
    let chaos = Chaos::within(TROUBLE)
        .resets(0..=4)
        .crashes(0..=2)
        .partitions(0..=2)
        .one_way_cuts(0..=2);
    sim.chaos(&chaos.pauses(0..=2).lasting(TROUBLE / 4));
    sim.sleep(TROUBLE).await;
    open(&books).ended.clear();
    // Longer than anybody takes to hear that a peer has crashed.
    sim.sleep(Duration::from_secs(40)).await;
    let books = open(&books);
    sim.note(format_args!(
        "{} streams, {} bytes have arrived",
        books.streams, books.arrived
    ));
    let pairs = (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to)));
    let silent = pairs
        .into_iter()
        .find(|pair| pair.0 != pair.1 && !books.ended.contains_key(pair));
    silent.map_or(Ok(()), |(from, to)| {
        Err(format!("nothing of n{from} reaches n{to} after the trouble"))
    })
}
