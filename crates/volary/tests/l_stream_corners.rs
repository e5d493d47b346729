//! L29, L31: streams whose actors crash, sleep and stop; baggage where turns are stacked; what a stash does to measures.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use common::*;
use futures_core::Stream;
use volary::prelude::*;
use volary::{
    Baggage, Env, Passivation, Sample, StreamError, StreamReply, Streaming, Supervision, Telemetry, TelemetrySink,
};

const MS: Duration = Duration::from_millis(1);

#[derive(Clone, Default)]
struct Figures {
    pulled: Arc<AtomicU64>,
    begun: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
}

struct Numbers(u64, u64, Figures);

impl Stream for Numbers {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        if self.0 == self.1 {
            return Poll::Ready(None);
        }
        self.2.pulled.fetch_add(1, Ordering::SeqCst);
        self.0 += 1;
        Poll::Ready(Some(self.0 - 1))
    }
}

#[derive(Debug, Clone, volary::Message)]
struct Add(u64);

struct Tally(Figures, Option<StreamReply<u64>>);

#[actor]
impl Tally {
    #[handles]
    async fn add(&mut self, add: Add, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        match add.0 % 5 {
            1 => return Err(Fault::msg("at once")),
            2 => ctx.sleep(MS).await,
            3 => {
                ctx.sleep(MS).await;
                return Err(Fault::msg("later"));
            }
            _ => {}
        }
        self.0.done.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    fn feed(&mut self, stream: tokio::sync::mpsc::UnboundedReceiver<u64>, ctx: &mut Context<Self>) {
        ctx.attach(Fed(stream)).each(|n| Add(n * 5));
    }
    fn answer(&mut self) -> Streaming<u64> {
        let (reply, stream) = Streaming::channel(4);
        self.1 = Some(reply);
        stream
    }
}

struct Fed(tokio::sync::mpsc::UnboundedReceiver<u64>);
impl Stream for Fed {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        self.0.poll_recv(task)
    }
}

fn tally(figures: &Figures) -> impl Fn() -> Tally + Send + Sync + 'static {
    let figures = figures.clone();
    move || Tally(figures.clone(), None)
}

/// Restarts as often as it takes.
fn unwearied() -> Supervision {
    Supervision::new()
        .otherwise(volary::Directive::Restart)
        .limit(1_000, Duration::from_secs(1))
}

#[test]
fn l31_no_place_of_the_window_is_lost_to_crashes() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let figures = Figures::default();
        let props = Props::new().supervision(unwearied());
        let actor = system.spawn(tally(&figures)).props(props).await.unwrap();
        for window in [1, 2, 3] {
            let attached = actor.attach(Numbers(0, 50, figures.clone())).window(window).each(Add);
            system.sleep(Duration::from_secs(600)).await;
            assert!(attached.is_finished(), "window {window}: {:?}", figures.begun);
        }
        assert_eq!(figures.begun.load(Ordering::SeqCst), 150);
        assert_eq!(figures.done.load(Ordering::SeqCst), 90);
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_every_element_that_was_pulled_is_begun_or_a_dead_letter() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let figures = Figures::default();
        let props = Props::new().supervision(unwearied());
        let actor = system.spawn(tally(&figures)).props(props).await.unwrap();
        let window = 1 + env.random() % 8;
        let attached = actor
            .attach(Numbers(0, 1_000, figures.clone()))
            .window(window as usize)
            .each(Add);
        system.sleep(Duration::from_micros(env.random() % 20_000)).await;
        match env.random() % 3 {
            0 => actor.kill(),
            1 => actor.stop(),
            _ => actor.drain(),
        }
        actor.terminated().await;
        system.sleep(MS).await;
        assert!(attached.is_finished());
        let (pulled, begun) = (
            figures.pulled.load(Ordering::SeqCst),
            figures.begun.load(Ordering::SeqCst),
        );
        assert_eq!(pulled, begun + system.metrics().dead_letters);
        assert!(
            pulled - begun <= window + 1,
            "{pulled} pulled, {begun} begun, a window of {window}"
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_an_actor_with_a_stream_of_its_own_is_fed_however_idle_it_was() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let figures = Figures::default();
        let props = Props::new().passivation(Passivation::after(10 * MS));
        let actor = system.spawn(tally(&figures)).props(props).await.unwrap();
        let (feed, stream) = tokio::sync::mpsc::unbounded_channel();
        actor.ask(Feed { stream }).await.unwrap();
        for n in 1..4 {
            system.sleep(100 * MS).await;
            feed.send(n).unwrap();
            system.sleep(MS).await;
            assert_eq!(
                figures.done.load(Ordering::SeqCst),
                n,
                "asleep: {}",
                actor.status().asleep
            );
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l31_a_stream_held_by_an_actor_that_falls_asleep_says_so() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::after(10 * MS));
        let actor = system.spawn(tally(&Figures::default())).props(props).await.unwrap();
        let mut stream = actor.ask(Answer).await.unwrap();
        assert!(matches!(stream.next().await, Some(Err(StreamError::Stopped))));
        assert!(stream.next().await.is_none());
        system.stop().await.unwrap();
    });
}

struct Inner(Log);
#[actor]
impl Inner {
    fn look(&mut self, number: u64) {
        let user = Baggage::current().header("user").map(<[u8]>::len);
        self.0.push(format!("{number}: {user:?}"));
    }
}

struct Porter {
    inner: ActorRef<Inner>,
}
#[actor]
impl Porter {
    fn carry(&mut self, number: u64, reply: ReplyTo<()>) {
        let _ = self.inner.forward(Look { number }, reply);
    }
    fn change(&mut self, ctx: &mut Context<Self>) {
        async fn late(porter: &mut Porter, carry: Carry, ctx: &mut Context<Porter>) -> Result<(), Failure> {
            ctx.sleep(MS).await;
            porter.inner.ask(Look { number: carry.number }).await.or_fault()?;
            Ok(())
        }
        ctx.becomes(late);
    }
}

#[test]
fn l29_baggage_goes_through_forwards_behaviours_and_sleep() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let sleepy = || Props::new().passivation(Passivation::after(10 * MS));
        let writes = log.clone();
        let inner = system
            .spawn(move || Inner(writes.clone()))
            .props(sleepy())
            .await
            .unwrap();
        let porter = system
            .spawn(move || Porter { inner: inner.clone() })
            .props(sleepy())
            .await
            .unwrap();
        let ada = Baggage::new().with_header("user", "ada").unwrap();
        ada.clone()
            .around(async { porter.ask(Carry { number: 1 }).await.unwrap() })
            .await;
        system.sleep(100 * MS).await;
        assert!(porter.status().asleep);
        ada.clone()
            .around(async { porter.ask(Carry { number: 2 }).await.unwrap() })
            .await;
        porter.ask(Carry { number: 3 }).await.unwrap();
        porter.ask(Change).await.unwrap();
        ada.clone()
            .around(async { porter.ask(Carry { number: 4 }).await.unwrap() })
            .await;
        porter.ask(Carry { number: 5 }).await.unwrap();
        assert_eq!(
            log.all(),
            ["1: Some(3)", "2: Some(3)", "3: None", "4: Some(3)", "5: None"]
        );
        system.stop().await.unwrap();
    });
}

struct Outer(ActorRef<Inner>);
#[actor]
impl Outer {
    async fn go(&mut self) {
        let nothing = Baggage::new();
        self.0.tell(Look { number: 2 }).unwrap();
        nothing.in_scope(|| self.0.tell(Look { number: 3 })).unwrap();
        nothing
            .around(async { self.0.ask(Look { number: 4 }).await.unwrap() })
            .await;
        self.0.ask(Look { number: 5 }).await.unwrap();
    }
}

#[test]
fn l29_baggage_does_not_leak_into_turns_on_the_same_stack() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let inner = system
            .spawn({
                let log = log.clone();
                move || Inner(log.clone())
            })
            .await
            .unwrap();
        let outer = system
            .spawn({
                let inner = inner.clone();
                move || Outer(inner.clone())
            })
            .await
            .unwrap();
        let ada = Baggage::new().with_header("user", "ada").unwrap();
        ada.around(async {
            Baggage::new().in_scope(|| inner.tell(Look { number: 1 })).unwrap();
            outer.ask(Go).await.unwrap();
        })
        .await;
        inner.ask(Look { number: 6 }).await.unwrap();
        assert_eq!(
            log.all(),
            ["1: None", "2: Some(3)", "3: None", "4: None", "5: Some(3)", "6: None"]
        );
        system.stop().await.unwrap();
    });
}

#[derive(Clone, Default)]
struct Samples(Arc<Mutex<Vec<(&'static str, Duration)>>>);
impl TelemetrySink for Samples {
    fn sample(&self, sample: &Sample<'_>) {
        self.0.lock().unwrap().push((sample.message_type, sample.waited));
    }
}

struct Keeper(bool);
#[actor]
impl Keeper {
    #[handles]
    fn add(&mut self, add: Add, ctx: &mut Context<Self>) -> Result<(), Fault> {
        if !self.0 {
            let _kept = ctx.stash(add).map_err(|_| Fault::msg("no room"))?;
        }
        Ok(())
    }
    fn open(&mut self, ctx: &mut Context<Self>) {
        self.0 = true;
        ctx.unstash_all();
    }
}

#[test]
fn l29_a_message_from_the_stash_is_measured_again_from_when_it_was_put_aside() {
    seeds(|env| async move {
        let samples = Samples::default();
        let system = builder("sim")
            .environment(env.clone())
            .telemetry(Telemetry::sampled(1.0))
            .telemetry_sink(samples.clone())
            .start()
            .await
            .unwrap();
        let keeper = system.spawn(|| Keeper(false)).await.unwrap();
        keeper.tell(Add(0)).unwrap();
        system.sleep(100 * MS).await;
        keeper.ask(Open).await.unwrap();
        system.sleep(MS).await;
        let adds: Vec<Duration> = samples
            .0
            .lock()
            .unwrap()
            .iter()
            .filter(|(name, _)| name.ends_with("::Add"))
            .map(|(_, waited)| *waited)
            .collect();
        assert_eq!(adds.len(), 2, "{adds:?}");
        assert!(adds[1] >= 100 * MS, "{adds:?}");
        system.stop().await.unwrap();
    });
}
