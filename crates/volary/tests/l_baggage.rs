//! L29: trace context and headers travel with a request, wherever it leads.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Baggage, HeaderError, MAX_HEADERS, TraceContext, TraceParseError};

const MS: Duration = Duration::from_millis(1);

/// Says what came along, directly or by a detour.
struct Porter {
    next: Option<ActorRef<Porter>>,
    log: Log,
}

fn word() -> String {
    match Baggage::current().header("word") {
        Some(word) => String::from_utf8_lossy(word).into_owned(),
        None => "nothing".to_owned(),
    }
}

#[actor]
impl Porter {
    fn say(&mut self) -> String {
        word()
    }
    fn write(&mut self) {
        self.log.push(word());
    }
    async fn say_later(&mut self, ctx: &mut Context<Self>) -> (String, String) {
        let before = word();
        ctx.sleep(MS).await;
        (before, word())
    }
    async fn ask_next(&mut self) -> Result<String, Fault> {
        let next = self.next.as_ref().unwrap();
        next.ask(Say).await.or_fault()
    }
    fn tell_next(&mut self) {
        self.next.as_ref().unwrap().tell(Write).unwrap();
    }
    fn set_timer(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("write", MS, Write);
    }
    fn schedule(&mut self, ctx: &mut Context<Self>) {
        let next = self.next.clone().unwrap();
        ctx.system().scheduler().once(MS).tell(&next, Write).unwrap();
    }
    fn pipe(&mut self, ctx: &mut Context<Self>) {
        ctx.pipe(async { Ok::<_, Fault>(1_u32) }).to_self(|_| Write);
    }
    fn spawn_task(&mut self, ctx: &mut Context<Self>) {
        let next = self.next.clone().unwrap();
        ctx.spawn(async move { next.tell(Write).unwrap() });
    }
    fn request(&mut self, ctx: &mut Context<Self>) {
        let next = self.next.clone().unwrap();
        ctx.request(&next, SayLater)
            .then(|porter: &mut Porter, _, _: &mut Context<Porter>| porter.log.push(word()))
            .unwrap();
    }
    fn put_aside(&mut self, ctx: &mut Context<Self>) {
        let _ = ctx.stash(Write).unwrap();
    }
    fn take_back(&mut self, ctx: &mut Context<Self>) {
        ctx.unstash_all();
    }
    fn crash(&mut self) {
        panic!("as told")
    }
}

async fn porters(system: &ActorSystem, log: &Log) -> ActorRef<Porter> {
    let make = |next: Option<ActorRef<Porter>>, log: &Log| {
        let log = log.clone();
        move || Porter {
            next: next.clone(),
            log: log.clone(),
        }
    };
    let last = system.spawn(make(None, log)).await.unwrap();
    system.spawn(make(Some(last), log)).await.unwrap()
}

fn sesame() -> Baggage {
    Baggage::new().with_header("word", "sesame").unwrap()
}

#[test]
fn l29_baggage_goes_with_tell_and_ask_and_through_suspensions() {
    seeds(|env| async move {
        let (system, log) = (simulated(&env).await, Log::new());
        let porter = porters(&system, &log).await;
        assert_eq!(porter.ask(Say).await.unwrap(), "nothing");
        assert_eq!(
            sesame().around(async { porter.ask(Say).await }).await.unwrap(),
            "sesame"
        );
        let both = sesame().around(async { porter.ask(SayLater).await }).await.unwrap();
        assert_eq!(both, ("sesame".to_owned(), "sesame".to_owned()));
        assert_eq!(
            sesame().around(async { porter.ask(AskNext).await }).await.unwrap(),
            "sesame"
        );
        sesame().in_scope(|| porter.tell(TellNext)).unwrap();
        system.sleep(MS).await;
        assert_eq!(log.all(), ["sesame"]);
        assert_eq!(porter.ask(Say).await.unwrap(), "nothing", "it does not stay");
        assert!(Baggage::current().is_empty());
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_baggage_goes_with_timers_schedules_pipes_tasks_requests_and_the_stash() {
    seeds(|env| async move {
        let (system, log) = (simulated(&env).await, Log::new());
        let porter = porters(&system, &log).await;
        let scope = sesame();
        scope.in_scope(|| porter.tell(SetTimer)).unwrap();
        scope.in_scope(|| porter.tell(Schedule)).unwrap();
        scope.in_scope(|| porter.tell(Pipe)).unwrap();
        scope.in_scope(|| porter.tell(SpawnTask)).unwrap();
        scope.in_scope(|| porter.tell(Request)).unwrap();
        scope.in_scope(|| porter.tell(PutAside)).unwrap();
        porter.tell(TakeBack).unwrap();
        system.sleep(20 * MS).await;
        assert_eq!(log.all(), ["sesame"; 6]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_what_a_message_carried_is_dropped_with_it_wherever_that_is() {
    seeds(|env| async move {
        let (system, log) = (simulated(&env).await, Log::new());
        let porter = porters(&system, &log).await;
        porter.ask(Crash).await.unwrap_err();
        let scope = sesame();
        // Left in the mailbox, and refused afterwards. Leaks are found by the leak checks of Miri.
        scope.in_scope(|| porter.tell(Write)).unwrap();
        porter.kill();
        porter.terminated().await;
        assert!(scope.in_scope(|| porter.tell(Write)).is_err());
        assert!(scope.in_scope(|| porter.ask(Say).into_future()).await.is_err());
        system.stop().await.unwrap();
    });
}

#[test]
fn l29_scopes_nest_and_end_even_with_a_panic() {
    let outer = sesame();
    let inner = Baggage::new().with_header("word", "please").unwrap();
    outer.in_scope(|| {
        assert_eq!(word(), "sesame");
        let caught = std::panic::catch_unwind(|| inner.in_scope(|| panic!("{}", word())));
        assert!(caught.is_err());
        assert_eq!(word(), "sesame");
    });
    assert_eq!(word(), "nothing");
}

#[test]
fn l29_headers_are_bounded_and_their_values_are_not_shown() {
    let mut baggage = Baggage::new();
    for n in 0..MAX_HEADERS {
        baggage = baggage.with_header(format!("h{n}"), "v").unwrap();
    }
    assert_eq!(baggage.clone().with_header("one more", "v"), Err(HeaderError::TooMany));
    assert!(baggage.clone().with_header("h0", "another").is_ok());
    assert_eq!(Baggage::new().with_header("", "v"), Err(HeaderError::NoName));
    let large = vec![0; volary::MAX_HEADER_BYTES];
    assert!(matches!(
        Baggage::new().with_header("x", large),
        Err(HeaderError::TooLarge { .. })
    ));
    assert!(!format!("{:?}", sesame()).contains("sesame"));
}

#[test]
fn l29_trace_contexts_are_read_and_written_as_w3c_says() {
    let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace: TraceContext = text.parse().unwrap();
    assert_eq!(trace.to_string(), text);
    let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more".parse::<TraceContext>();
    assert!(!later.unwrap().is_sampled());
    for wrong in [
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
    ] {
        assert_eq!(wrong.parse::<TraceContext>(), Err(TraceParseError::Shape), "{wrong}");
    }
    let zero = "00-00000000000000000000000000000000-b7ad6b7169203331-01".parse::<TraceContext>();
    assert_eq!(zero, Err(TraceParseError::Zero));
}
