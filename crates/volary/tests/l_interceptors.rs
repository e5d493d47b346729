//! L28: layers around what actors send and handle.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Arriving, Baggage, DeadLetter, DeadReason, Departing, Handled, Interceptor, Outcome, SendError, Verdict};

fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Writes down everything under its name.
struct Scribe(&'static str, Log);

impl Interceptor for Scribe {
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        self.1.push(format!(
            "{} sending {} to {}",
            self.0,
            short(message.type_name()),
            message.receiver()
        ));
        Verdict::Pass
    }
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        self.1
            .push(format!("{} receiving {}", self.0, short(message.type_name())));
        Verdict::Pass
    }
    fn handled(&self, handled: &Handled<'_>) {
        let outcome = match handled.outcome() {
            Outcome::Completed => "done",
            Outcome::Faulted(_) => "faulted",
            _ => "cancelled",
        };
        self.1
            .push(format!("{} {outcome} {}", self.0, short(handled.type_name())));
    }
}

/// Lets only pass what carries the word.
struct Guard;

impl Interceptor for Guard {
    fn receiving(&self, message: &Arriving<'_>) -> Verdict {
        match message.baggage().header("word") {
            Some(b"sesame") => Verdict::Pass,
            _ => Verdict::Refuse("what is the word?"),
        }
    }
}

/// Refuses to send notes.
struct NoNotes;

impl Interceptor for NoNotes {
    fn sending(&self, message: &mut Departing<'_>) -> Verdict {
        if message.message().is::<Note>() {
            Verdict::Refuse("no notes")
        } else {
            Verdict::Pass
        }
    }
}

struct Panics;

impl Interceptor for Panics {
    fn receiving(&self, _: &Arriving<'_>) -> Verdict {
        panic!("a broken layer")
    }
}

#[test]
fn l28_layers_see_a_message_from_outside_in_and_its_end_from_inside_out() {
    seeds(|env| async move {
        let log = Log::new();
        let desk = Log::new();
        let system = builder("sim")
            .environment(env.clone())
            .intercept(Scribe("outer", log.clone()))
            .intercept(Scribe("inner", log.clone()))
            .start()
            .await
            .unwrap();
        let props = Props::new().intercept(Scribe("own", log.clone()));
        let actor = system.spawn(a_desk(&desk)).props(props).named("desk").await.unwrap();
        assert_eq!(actor.ask(Note { number: 1 }).await.unwrap(), 1);
        let expected = [
            "outer sending Note to /user/desk",
            "inner sending Note to /user/desk",
            "outer receiving Note",
            "inner receiving Note",
            "own receiving Note",
            "own done Note",
            "inner done Note",
            "outer done Note",
        ];
        assert_eq!(log.all(), expected);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_a_suspended_handler_is_heard_of_when_it_ends_crashes_or_is_dropped() {
    seeds(|env| async move {
        let log = Log::new();
        let desk = Log::new();
        let system = simulated(&env).await;
        let props = || Props::new().intercept(Scribe("own", log.clone()));
        let actor = system.spawn(a_desk(&desk)).props(props()).await.unwrap();
        let (open, closed) = gate();
        actor.tell(Wait { gate: closed }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        assert_eq!(log.all(), ["own receiving Wait"]);
        open.send(()).unwrap();
        actor.ask(Note { number: 1 }).await.unwrap();
        assert_eq!(log.count("own done Wait"), 1);
        assert!(actor.ask(Crash).await.is_err());
        assert_eq!(log.count("own faulted Crash"), 1);
        let (_open, closed) = gate();
        actor.tell(Wait { gate: closed }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        actor.kill();
        actor.terminated().await;
        assert_eq!(log.count("own cancelled Wait"), 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_a_message_that_is_refused_on_arrival_is_a_dead_letter_and_its_asker_hears_why() {
    seeds(|env| async move {
        let desk = Log::new();
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let actor = system
            .spawn(a_desk(&desk))
            .props(Props::new().intercept(Guard))
            .await
            .unwrap();
        let refused = actor.ask(Note { number: 1 }).await;
        assert!(
            matches!(
                refused,
                Err(AskError::Refused {
                    reason: "what is the word?"
                })
            ),
            "{refused:?}"
        );
        actor.tell(Note { number: 2 }).unwrap();
        for _ in 0..2 {
            let letter = dead.next().await.unwrap();
            assert_eq!(letter.reason(), DeadReason::Intercepted("what is the word?"));
        }
        let baggage = Baggage::new().with_header("word", "sesame").unwrap();
        let answer = baggage.around(async { actor.ask(Note { number: 3 }).await }).await;
        assert_eq!(answer.unwrap(), 1, "the others were not handled");
        assert_eq!(system.metrics().dead_letters, 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_a_message_that_is_refused_on_its_way_out_goes_back() {
    seeds(|env| async move {
        let desk = Log::new();
        let system = builder("sim")
            .environment(env.clone())
            .intercept(NoNotes)
            .start()
            .await
            .unwrap();
        let actor = system.spawn(a_desk(&desk)).await.unwrap();
        let refused = actor.tell(Note { number: 7 }).unwrap_err();
        assert!(matches!(refused, TellError::Refused(Note { number: 7 })), "{refused}");
        let refused = actor.send(Note { number: 8 }).await.unwrap_err();
        assert_eq!(refused.into_message().number, 8);
        let refused = actor.ask(Note { number: 9 }).await;
        assert!(
            matches!(refused, Err(AskError::Refused { reason: "no notes" })),
            "{refused:?}"
        );
        assert!(actor.ask(Who).await.is_ok());
        assert_eq!((system.metrics().refused, system.metrics().dead_letters), (3, 0));
        assert!(!desk.has("7"));
        system.stop().await.unwrap();
    });
}

struct Sender {
    to: ActorRef<Desk>,
}

#[actor]
impl Sender {
    fn pass_on(&mut self) -> bool {
        self.to.tell(Note { number: 1 }).is_ok()
    }
    async fn ask_on(&mut self) -> bool {
        self.to.ask(Note { number: 1 }).await.is_ok()
    }
    fn spawn_on(&mut self, ctx: &mut Context<Self>, reply: ReplyTo<bool>) {
        let to = self.to.clone();
        ctx.spawn(async move { reply.send(to.tell(Note { number: 1 }).is_ok()) });
    }
}

#[test]
fn l28_the_layers_of_an_actor_are_around_what_it_sends_and_nobody_elses() {
    seeds(|env| async move {
        let desk = Log::new();
        let system = simulated(&env).await;
        let to = system.spawn(a_desk(&desk)).await.unwrap();
        let make = |to: ActorRef<Desk>| move || Sender { to: to.clone() };
        let props = Props::new().intercept(NoNotes);
        let guarded = system.spawn(make(to.clone())).props(props).await.unwrap();
        let free = system.spawn(make(to.clone())).await.unwrap();
        assert!(!guarded.ask(PassOn).await.unwrap());
        assert!(!guarded.ask(AskOn).await.unwrap());
        assert!(!guarded.ask(SpawnOn).await.unwrap());
        assert!(free.ask(PassOn).await.unwrap());
        assert!(to.tell(Note { number: 2 }).is_ok());
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_a_layer_that_panics_refuses_and_harms_nobody() {
    seeds(|env| async move {
        let desk = Log::new();
        let system = simulated(&env).await;
        let actor = system
            .spawn(a_desk(&desk))
            .props(Props::new().intercept(Panics))
            .await
            .unwrap();
        let refused = actor.ask(Note { number: 1 }).await;
        assert!(
            matches!(
                refused,
                Err(AskError::Refused {
                    reason: "an interceptor panicked"
                })
            ),
            "{refused:?}"
        );
        assert_eq!(desk.all(), ["started"], "it was not restarted");
        assert_eq!(system.metrics().faults, 1);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_layers_stay_when_behaviours_and_taps_come_and_go() {
    struct Moody;
    #[actor]
    impl Moody {
        fn change(&mut self, ctx: &mut Context<Self>) {
            fn sulk(_: &mut Moody, _: Greet, _: &mut Context<Moody>) -> Result<&'static str, Failure> {
                Ok("hm")
            }
            ctx.becomes(sulk);
        }
        fn change_back(&mut self, ctx: &mut Context<Self>) {
            ctx.unbecome::<Greet>();
        }
        fn greet(&mut self) -> &'static str {
            "hello"
        }
    }
    seeds(|env| async move {
        let log = Log::new();
        let system = simulated(&env).await;
        let props = Props::new().intercept(Arc::new(Scribe("own", log.clone())));
        let actor = system.spawn(|| Moody).props(props).await.unwrap();
        for expected in ["hello", "hm", "hello"] {
            assert_eq!(actor.ask(Greet).await.unwrap(), expected);
            if expected == "hello" {
                actor.ask(Change).await.unwrap();
            } else {
                actor.ask(ChangeBack).await.unwrap();
            }
        }
        assert_eq!(log.count("own done Greet"), 3);
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_a_mailbox_of_ones_own_and_a_stash_pass_through_the_layers_too() {
    use volary::MailboxKind;
    seeds(|env| async move {
        let log = Log::new();
        let desk = Log::new();
        let system = simulated(&env).await;
        let props = Props::new()
            .mailbox(MailboxKind::fair())
            .intercept(Scribe("own", log.clone()));
        let actor = system.spawn(a_desk(&desk)).props(props).await.unwrap();
        let baggage = Baggage::new().with_header("word", "sesame").unwrap();
        baggage.in_scope(|| actor.tell(Note { number: 1 })).unwrap();
        actor.ask(Note { number: 2 }).await.unwrap();
        assert_eq!(log.count("own done Note"), 2);
        assert_eq!(log.len(), 4, "a bell is no message: {:?}", log.all());
        system.stop().await.unwrap();
    });
}

#[test]
fn l28_what_is_sent_to_a_mailbox_with_a_bound_passes_through_the_layers_too() {
    seeds(|env| async move {
        let builder = builder("sim").environment(env.clone()).intercept(NoNotes);
        let system = builder.start().await.unwrap();
        for mailbox in [MailboxKind::Bounded(4), MailboxKind::BoundedRefusing(4)] {
            let log = Log::new();
            let desk = system.spawn(a_desk(&log)).mailbox(mailbox).await.unwrap();
            let sent = desk.send(Note { number: 1 }).await;
            let refused = matches!(sent, Err(SendError::Refused(TellError::Refused(_))));
            assert!(refused, "{sent:?}");
            let told = desk.tell(Note { number: 2 });
            assert!(matches!(told, Err(TellError::Refused(_))), "{told:?}");
            desk.drain();
            desk.terminated().await;
            assert_eq!(log.all(), ["started", "stopping", "stopped", "dropped"]);
        }
        system.stop().await.unwrap();
    });
}
