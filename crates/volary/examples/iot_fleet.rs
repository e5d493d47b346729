//! A fleet: a million devices, each an actor, of which a tenth is in memory at a time.
//!
//! ```text
//!   readings ──tell──▶ device (awake)  ──least recently used──▶ device (asleep: an address and no state)
//!                         ▲                                        │
//!                         └──────────── next reading ──────────────┘
//! ```
//!
//! A device that is awake keeps a window of its last readings. Before it sleeps it writes down what must not be lost,
//! and reads it when it wakes. In the end what was written down must be the sum of all readings sent.
//!
//! `cargo run --release -p volary --example iot_fleet [DEVICES]`

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use volary::prelude::*;
use volary::{Eviction, Passivation};

const DEVICES: usize = 1_000_000;
const ROUNDS: u64 = 3;
/// How many readings are under way at most: a sender that never looks back fills the memory with its mail.
const UNDER_WAY: u64 = 10_000;
const WINDOW: usize = 64;

/// What a database would be: two numbers for each device.
struct Store {
    records: Vec<Record>,
    handled: AtomicU64,
}

#[derive(Default)]
struct Record {
    count: AtomicU64,
    sum: AtomicU64,
}

struct Device {
    number: usize,
    store: Arc<Store>,
    count: u64,
    sum: u64,
    window: Vec<u64>,
}

#[actor]
impl Device {
    /// Runs at the first start, and whenever a reading wakes it.
    fn started(&mut self, ctx: &mut Context<Self>) {
        let record = &self.store.records[self.number];
        self.count = record.count.load(Relaxed);
        self.sum = record.sum.load(Relaxed);
        self.window.reserve_exact(WINDOW);
        ctx.set_heap_bytes((WINDOW * size_of::<u64>()) as u64);
    }

    /// Runs before each sleep, and before the end.
    fn stopped(&mut self) {
        let record = &self.store.records[self.number];
        record.count.store(self.count, Relaxed);
        record.sum.store(self.sum, Relaxed);
    }

    fn read(&mut self, value: u64) {
        if self.window.len() == WINDOW {
            self.window.remove(0);
        }
        self.window.push(value);
        self.count += 1;
        self.sum += value;
        self.store.handled.fetch_add(1, Relaxed);
    }
}

#[tokio::main]
async fn main() -> volary::Result<ExitCode> {
    let devices = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => DEVICES,
    };
    let awake_at_most = (devices / 10).max(1) as u64;
    let system = ActorSystem::builder("fleet")
        .eviction(Eviction::lru().at_most(awake_at_most))
        .start()
        .await?;
    // Who has mail is not put to sleep, so fewer should have mail than may be awake.
    let under_way = UNDER_WAY.min(awake_at_most.div_ceil(2));
    let records = (0..devices).map(|_| Record::default()).collect();
    let handled = AtomicU64::new(0);
    let store = Arc::new(Store { records, handled });
    let before = resident_bytes();

    let began = Instant::now();
    let mut fleet = Vec::with_capacity(devices);
    for number in 0..devices {
        let store = store.clone();
        let device = system.spawn(move || Device {
            number,
            store: store.clone(),
            count: 0,
            sum: 0,
            window: Vec::new(),
        });
        // On demand: it sleeps when there are too many, not because of the time.
        fleet.push(device.passivation(Passivation::on_demand()).await?);
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{devices} devices in {took:.2} s: {:.0} actors/s",
        devices as f64 / took
    );

    let began = Instant::now();
    let mut sent = 0;
    for round in 0..ROUNDS {
        for (number, device) in fleet.iter().enumerate() {
            device.tell(Read {
                value: reading(number, round),
            })?;
            sent += 1;
            while sent - store.handled.load(Relaxed) >= under_way {
                tokio::task::yield_now().await;
            }
        }
    }
    let all_in = settled(&system, || store.handled.load(Relaxed) == sent).await;
    let took = began.elapsed().as_secs_f64();
    println!("{sent} readings in {took:.2} s: {:.0} messages/s", sent as f64 / took);

    let awake = || fleet.iter().filter(|device| !device.status().asleep).count() as u64;
    let bounded = settled(&system, || awake() <= awake_at_most).await;
    let metrics = system.metrics();
    println!("{} of {devices} are awake, {awake_at_most} may be", awake());
    println!(
        "{} times one fell asleep, {} times one woke up",
        metrics.passivated, metrics.woken
    );
    match resident_bytes().zip(before) {
        Some((now, before)) => println!(
            "{} bytes per device, asleep or not",
            now.saturating_sub(before) / devices as u64
        ),
        None => println!("this system does not say how much memory there is"),
    }
    let dead_letters = metrics.dead_letters;
    drop(fleet);
    system.stop().await?;

    let expected: u64 = (0..devices)
        .flat_map(|number| (0..ROUNDS).map(move |round| reading(number, round)))
        .sum();
    let sum: u64 = store.records.iter().map(|record| record.sum.load(Relaxed)).sum();
    let complete = store.records.iter().all(|record| record.count.load(Relaxed) == ROUNDS);
    let right = all_in && bounded && complete && sum == expected && dead_letters == 0 && metrics.passivated > 0;
    println!(
        "{}",
        if right {
            "no reading was lost"
        } else {
            "READINGS WERE LOST"
        }
    );
    Ok(ExitCode::from(u8::from(!right)))
}

fn reading(number: usize, round: u64) -> u64 {
    (number as u64).wrapping_mul(31) % 1_000 + round
}

/// Waits for something that comes by itself; false if it does not.
async fn settled(system: &ActorSystem, condition: impl Fn() -> bool) -> bool {
    for _ in 0..1_000 {
        if condition() {
            return true;
        }
        system.sleep(Duration::from_millis(10)).await;
    }
    false
}

/// What the process holds in memory, where the operating system says so.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}
