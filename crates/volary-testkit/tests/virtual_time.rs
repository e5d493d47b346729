//! T4: virtual time. Whatever waits in the runtime waits on the clock that the test moves.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use volary::prelude::*;
use volary::{Backoff, Passivation, Supervision};
use volary_testkit::{Probe, TestKit};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

#[derive(Debug, Clone, PartialEq, Message)]
struct Tick(u32);

/// Sets timers, sleeps, crashes.
struct Desk {
    to: Recipient<Tick>,
}

#[actor]
impl Desk {
    fn started(&mut self) {
        let _ = self.to.tell(Tick(0));
    }
    fn set(&mut self, after: Duration, ctx: &mut Context<Self>) {
        ctx.set_timer("one", after, Tick(1));
    }
    fn repeat(&mut self, every: Duration, ctx: &mut Context<Self>) {
        ctx.set_interval("many", every, Tick(2));
    }
    #[handles]
    fn tick(&mut self, tick: Tick) {
        let _ = self.to.tell(tick);
    }
    async fn nap(&mut self, time: Duration, ctx: &mut Context<Self>) {
        ctx.sleep(time).await;
    }
    fn crash(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("as told"))
    }
}

/// A kit whose clock moves by hand, with a probe and a desk that tells it things.
struct Bench {
    kit: TestKit,
    probe: Probe<Tick>,
    desk: ActorRef<Desk>,
}

impl Bench {
    fn new(seed: u64, props: Props) -> Self {
        let kit = TestKit::with(seed, |builder| builder);
        kit.auto_advance(false);
        let probe = kit.run(Probe::<Tick>::new(kit.system()));
        let to = probe.recipient();
        let desk = move || Desk { to: to.clone() };
        let desk = kit.run(kit.system().spawn(desk).props(props)).unwrap();
        let mut bench = Bench { kit, probe, desk };
        assert_eq!(bench.heard(), [Tick(0)]);
        bench
    }

    /// What the probe has heard so far, without waiting.
    fn heard(&mut self) -> Vec<Tick> {
        self.kit.advance(Duration::ZERO);
        let mut heard = Vec::new();
        loop {
            let next = self.kit.run(async {
                let next = std::pin::pin!(self.probe.within(HOUR).expect_any());
                let mut next = next;
                std::future::poll_fn(|task| match next.as_mut().poll(task) {
                    std::task::Poll::Ready(tick) => std::task::Poll::Ready(Some(tick)),
                    std::task::Poll::Pending => std::task::Poll::Ready(None),
                })
                .await
            });
            match next {
                Some(tick) => heard.push(tick),
                None => return heard,
            }
        }
    }
}

fn benches(props: &Props, story: impl Fn(&mut Bench)) {
    for seed in 0..30 {
        story(&mut Bench::new(seed, props.clone()));
    }
}

#[test]
fn t4_timers_fire_when_the_clock_comes_to_them_and_not_before() {
    benches(&Props::new(), |bench| {
        bench.desk.tell(Set { after: HOUR }).unwrap();
        bench.desk.tell(Repeat { every: 10 * SECOND }).unwrap();
        bench.kit.advance(Duration::ZERO);
        bench.kit.advance(9 * SECOND);
        assert_eq!(bench.heard(), []);
        bench.kit.advance(2 * SECOND);
        assert_eq!(bench.heard(), [Tick(2)]);
        bench.kit.advance(20 * SECOND);
        assert_eq!(
            bench.heard(),
            [Tick(2), Tick(2)],
            "each in its time, in one step of the clock"
        );
        bench.kit.advance(HOUR - 32 * SECOND);
        assert!(!bench.heard().contains(&Tick(1)));
        bench.kit.advance(2 * SECOND);
        assert!(bench.heard().contains(&Tick(1)));
    });
}

#[test]
fn t4_the_scheduler_obeys_the_clock() {
    benches(&Props::new(), |bench| {
        let to = bench.probe.recipient();
        bench
            .kit
            .system()
            .scheduler()
            .once(24 * HOUR)
            .tell(&to, Tick(7))
            .unwrap();
        bench.kit.advance(24 * HOUR - SECOND);
        assert_eq!(bench.heard(), []);
        bench.kit.advance(2 * SECOND);
        assert_eq!(bench.heard(), [Tick(7)]);
    });
}

#[test]
fn t4_an_ask_times_out_when_the_clock_says_so() {
    benches(&Props::new(), |bench| {
        let Bench { kit, desk, .. } = bench;
        kit.run(async {
            let mut ask = std::pin::pin!(desk.ask(Nap { time: 9 * HOUR }).timeout(HOUR).into_future());
            let mut look = async || {
                let poll = std::future::poll_fn(|task| std::task::Poll::Ready(ask.as_mut().poll(task)));
                poll.await
            };
            assert!(look().await.is_pending());
            kit.advance(HOUR - SECOND);
            assert!(look().await.is_pending());
            kit.advance(2 * SECOND);
            let std::task::Poll::Ready(Err(AskError::Timeout { .. })) = look().await else {
                panic!("no timeout after an hour")
            };
        });
        assert!(kit.elapsed() < 2 * HOUR, "and the clock did not go further by itself");
    });
}

#[test]
fn t4_backoff_obeys_the_clock() {
    let backoff = Backoff::new(HOUR, 8 * HOUR).jitter(0.0);
    let props = Props::new().supervision(Supervision::new().backoff(backoff));
    benches(&props, |bench| {
        for delay in [HOUR, 2 * HOUR] {
            bench.desk.tell(Crash).unwrap();
            bench.kit.advance(delay - SECOND);
            assert_eq!(bench.heard(), [], "it waits for its restart");
            bench.kit.advance(2 * SECOND);
            assert_eq!(bench.heard(), [Tick(0)], "it has started again");
        }
    });
}

#[test]
fn t4_two_hours_until_passivation_take_no_time() {
    let props = Props::new().passivation(Passivation::after(2 * HOUR));
    benches(&props, |bench| {
        bench.kit.advance(2 * HOUR - SECOND);
        assert!(!bench.desk.status().asleep);
        bench.kit.advance(2 * SECOND);
        assert!(bench.desk.status().asleep);
        bench.desk.tell(Tick(5)).unwrap();
        assert_eq!(bench.heard(), [Tick(0), Tick(5)], "it wakes up for a message");
    });
}

#[cfg(feature = "cron")]
#[test]
fn t4_cron_obeys_the_clock_and_a_calendar_that_is_set() {
    use std::time::SystemTime;
    benches(&Props::new(), |bench| {
        let noon = volary::Cron::parse("0 12 * * *").unwrap();
        let to = bench.probe.recipient();
        bench.kit.system().scheduler().cron(&noon).tell(&to, Tick(12)).unwrap();
        bench.kit.advance(12 * HOUR - SECOND); // it begins at midnight
        assert_eq!(bench.heard(), []);
        bench.kit.advance(2 * SECOND);
        assert_eq!(bench.heard(), [Tick(12)]);
        let days = Duration::from_secs(1_893_456_000) + 5 * 24 * HOUR;
        let five_to_noon = SystemTime::UNIX_EPOCH + days + 12 * HOUR - 300 * SECOND;
        bench.kit.clock().set_calendar(five_to_noon);
        bench.kit.advance(60 * SECOND); // notices the new time
        let _those_jumped_over = bench.heard();
        bench.kit.advance(230 * SECOND);
        assert_eq!(bench.heard(), []);
        bench.kit.advance(20 * SECOND);
        assert_eq!(bench.heard(), [Tick(12)]);
    });
}

#[test]
fn t4_the_clock_moves_by_itself_when_everybody_waits() {
    let kit = TestKit::new();
    assert_eq!(kit.elapsed(), Duration::ZERO);
    kit.run(async {
        kit.system().sleep(1_000 * HOUR).await;
        // A test may take the clock into its own hands, and give it back.
        let before = kit.elapsed();
        kit.auto_advance(false);
        let nap = kit.system().sleep(HOUR);
        kit.advance(HOUR + MS);
        nap.await;
        assert_eq!(kit.elapsed(), before + HOUR + MS);
        kit.auto_advance(true);
        kit.system().sleep(HOUR).await;
    });
    assert!(kit.elapsed() >= 1_002 * HOUR && kit.elapsed() < 1_003 * HOUR, "{kit:?}");
}

#[test]
fn t4_a_clock_that_stands_still_is_named_when_somebody_waits_for_it() {
    let kit = TestKit::new();
    kit.auto_advance(false);
    kit.advance(5 * SECOND);
    let waiting = catch_unwind(AssertUnwindSafe(|| kit.run(kit.system().sleep(HOUR))));
    let text = waiting.unwrap_err().downcast_ref::<String>().unwrap().clone();
    let expected =
        "deadlock: nothing is ready, and the clock stands still at 5s: `advance` it, or `auto_advance(true)`";
    assert_eq!(text, expected);
}

#[test]
fn t4_the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut bench = Bench::new(seed, Props::new());
        let to = bench.probe.recipient();
        let desk = move || Desk { to: to.clone() };
        let other = bench.kit.run(bench.kit.system().spawn(desk)).unwrap();
        for number in 0..20 {
            bench.desk.tell(Tick(number)).unwrap();
            other.tell(Tick(100 + number)).unwrap();
        }
        bench.heard()
    };
    let mut all = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let heard = run(seed);
        assert_eq!(heard, run(seed), "seed {seed}");
        all.insert(format!("{heard:?}"));
    }
    assert!(all.len() > 5, "other seeds are other runs: {}", all.len());
}

/// Says when it is dropped.
struct Dropped(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

struct Holder(#[expect(dead_code, reason = "to be dropped")] Dropped);
#[actor]
impl Holder {
    fn hello(&mut self) {}
}

#[test]
fn t4_a_kit_that_is_dropped_leaves_nothing_behind() {
    let dropped = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let factory = dropped.clone();
    let kit = TestKit::new();
    let holder = kit
        .run(kit.system().spawn(move || Holder(Dropped(factory.clone()))))
        .unwrap();
    kit.run(holder.ask(Hello)).unwrap();
    drop((holder, kit));
    assert_eq!(dropped.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(std::sync::Arc::strong_count(&dropped), 1, "nor its factory");
}
