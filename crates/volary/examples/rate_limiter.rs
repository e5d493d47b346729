//! Rate limits, twice: an actor per client that says when to come again, and a layer in front of an actor that refuses.
//!
//! Both count with the same [`Bucket`], which knows no clock: it is told what time it is. The whole program runs on
//! virtual time, so an hour passes at once and every run is the same. Take `volary::run(story())` and a system without
//! `environment`, and it is real time; nothing else changes.
//!
//! `cargo run -p volary --example rate_limiter`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use volary::prelude::*;
use volary::{Arriving, Baggage, Interceptor, Moment, Passivation, SeededEnv, Verdict};

/// So many requests at once,
const BURST: u32 = 5;
/// and then one in this time.
const REFILL: Duration = Duration::from_millis(200);
/// After this long without requests a bucket is full again, and a full one need not be remembered.
const IDLE: Duration = Duration::from_secs(10);
/// How many clients the layer remembers before it forgets those whose bucket is full.
const REMEMBERED: usize = 1_000;

/// A bucket of tokens: each request takes one, and time brings them back.
struct Bucket {
    tokens: u32,
    counted: Moment,
}

impl Bucket {
    fn full(now: Moment) -> Self {
        let (tokens, counted) = (BURST, now);
        Bucket { tokens, counted }
    }

    /// How many are left, or how long it takes until there is one.
    fn take(&mut self, now: Moment) -> Result<u32, Duration> {
        let came = (now.since(self.counted).as_nanos() / REFILL.as_nanos()) as u32;
        self.tokens = self.tokens.saturating_add(came).min(BURST);
        self.counted = if self.tokens == BURST {
            now
        } else {
            self.counted + REFILL * came
        };
        match self.tokens.checked_sub(1) {
            Some(left) => {
                self.tokens = left;
                Ok(left)
            }
            None => Err(REFILL - now.since(self.counted)),
        }
    }

    fn is_full_at(&self, now: Moment) -> bool {
        now.since(self.counted) >= REFILL * BURST
    }
}

// ---- an actor per client

#[derive(Debug, PartialEq, Rejection)]
struct ComeAgain {
    after: Duration,
}

/// One client.
struct Client {
    bucket: Option<Bucket>,
}

#[actor]
impl Client {
    fn take(&mut self, ctx: &mut Context<Self>) -> Result<u32, ComeAgain> {
        let now = ctx.now();
        let bucket = self.bucket.get_or_insert_with(|| Bucket::full(now));
        bucket.take(now).map_err(|after| ComeAgain { after })
    }
}

/// Knows the clients, and hands each request to its own. It counts nothing itself, so it is never what is slow.
struct Limiter;

#[actor]
impl Limiter {
    fn request(
        &mut self,
        client: String,
        reply: ReplyTo<u32, ComeAgain>,
        ctx: &mut Context<Self>,
    ) -> Result<(), Fault> {
        let known = match ctx.child::<Client>(&client) {
            Some(known) => known,
            None => ctx
                .spawn_child(|| Client { bucket: None })
                .named(client)
                .passivation(Passivation::after(IDLE))
                .start()
                .or_fault()?,
        };
        let _ = known.forward(Take, reply); // if it is gone, the asker is told
        Ok(())
    }
}

// ---- a layer in front of any actor

/// Refuses what comes too often from one client, before the handler sees it.
struct Throttle {
    system: ActorSystem,
    buckets: Mutex<BTreeMap<Vec<u8>, Bucket>>,
}

impl Throttle {
    fn new(system: &ActorSystem) -> Self {
        Throttle {
            system: system.clone(),
            buckets: Mutex::default(),
        }
    }
}

impl Interceptor for Throttle {
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        let Some(client) = message.baggage().header("client") else {
            return Verdict::Refuse("say who you are in the header `client`");
        };
        let now = self.system.now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= REMEMBERED {
            buckets.retain(|_, bucket| !bucket.is_full_at(now));
        }
        let bucket = buckets.entry(client.to_vec()).or_insert_with(|| Bucket::full(now));
        match bucket.take(now) {
            Ok(_) => Verdict::Pass,
            Err(_) => Verdict::Refuse("too many requests"),
        }
    }
}

/// Does the work, and knows nothing of limits.
#[derive(Default)]
struct Search {
    served: u32,
}

#[actor]
impl Search {
    fn find(&mut self) -> u32 {
        self.served += 1;
        self.served
    }
}

fn main() -> volary::Result<ExitCode> {
    let env = SeededEnv::new(1);
    env.clone().block_on(async move {
        let system = ActorSystem::builder("limits").environment(env).start().await?;
        let right = by_actors(&system).await? & by_a_layer(&system).await?;
        system.stop().await?;
        println!(
            "{}",
            if right {
                "all as it should be"
            } else {
                "THE LIMITS ARE WRONG"
            }
        );
        Ok(ExitCode::from(u8::from(!right)))
    })
}

async fn by_actors(system: &ActorSystem) -> volary::Result<bool> {
    let limiter = system.spawn(|| Limiter).named("limiter").await?;
    let request = |client: &str| Request {
        client: client.to_owned(),
    };
    println!("an actor per client:");
    let (mut passed, mut after) = (0, Duration::ZERO);
    for number in 1..=2 * BURST {
        match limiter.ask(request("ada")).await {
            Ok(left) => println!("  ada: request {number} passes, {left} left"),
            Err(AskError::Rejected(again)) => {
                after = again.after;
                break;
            }
            Err(other) => return Err(other.into()),
        }
        passed += 1;
    }
    println!("  ada: come again in {after:?}");
    let other = limiter.ask(request("bob")).await?;
    println!("  bob is not concerned: {other} left");
    system.sleep(after).await;
    let again = limiter.ask(request("ada")).await?;
    println!("  ada came again: passes, {again} left");

    system.sleep(Duration::from_secs(3_600)).await;
    let asleep = ["ada", "bob"].iter().filter(|client| {
        let path = format!("/user/limiter/{client}");
        system
            .lookup::<Client>(&path)
            .is_some_and(|client| client.status().asleep)
    });
    let asleep = asleep.count();
    let full = limiter.ask(request("ada")).await?;
    println!("  an hour later {asleep} of 2 clients sleep; ada is woken by a request, {full} left");
    Ok(passed == BURST
        && !after.is_zero()
        && after <= REFILL
        && other == BURST - 1
        && again == 0
        && asleep == 2
        && full == BURST - 1)
}

async fn by_a_layer(system: &ActorSystem) -> volary::Result<bool> {
    let props = Props::new().intercept(Throttle::new(system));
    let search = system.spawn(Search::default).props(props).named("search").await?;
    println!("a layer in front of an actor:");
    let (mut passed, mut reason) = (0, "");
    for _ in 1..=2 * BURST {
        let ada = Baggage::new().with_header("client", "ada")?;
        match ada.around(async { search.ask(Find).await }).await {
            Ok(_) => passed += 1,
            Err(AskError::Refused { reason: why }) => {
                reason = why;
                break;
            }
            Err(other) => return Err(other.into()),
        }
    }
    println!("  ada: {passed} requests pass, then: {reason}");
    let nobody = search.ask(Find).await;
    println!("  without a header: {nobody:?}");
    system.sleep(REFILL).await;
    let ada = Baggage::new().with_header("client", "ada")?;
    let served = ada.around(async { search.ask(Find).await }).await?;
    println!("  {REFILL:?} later ada is served again; the handler has seen {served} requests and no others");
    Ok(passed == BURST && reason == "too many requests" && nobody.is_err() && served == BURST + 1)
}
