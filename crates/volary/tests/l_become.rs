//! L16: behaviours that stand in for handlers.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{AskError, DeadLetter, DeadReason, MailboxKind, Props, unhandled};

const MS: Duration = Duration::from_millis(1);

#[derive(Default)]
struct Door {
    knocks: u32,
}

#[derive(Message, Clone)]
#[message(reply = String)]
struct Knock;

#[derive(Message)]
#[message(reply = &'static str)]
struct Ring;

/// What the door is to become for a knock.
#[derive(Clone, Copy, Debug)]
enum To {
    Locked,
    Slow,
    Replying,
    Nobody,
    Crashing,
}

#[actor]
impl Door {
    #[handles]
    fn knock(&mut self, _: Knock) -> Result<String, Failure> {
        self.knocks += 1;
        Ok(format!("open {}", self.knocks))
    }
    #[handles]
    fn ring(&mut self, _: Ring) -> Result<&'static str, Failure> {
        Ok("ding")
    }
    fn turn(&mut self, to: To, stacked: bool, ctx: &mut Context<Self>) -> usize {
        match (to, stacked) {
            (To::Locked, false) => ctx.becomes(locked),
            (To::Locked, true) => ctx.becomes_stacked(locked),
            (To::Slow, false) => ctx.becomes(slow),
            (To::Slow, true) => ctx.becomes_stacked(slow),
            (To::Replying, _) => ctx.becomes(replying),
            (To::Nobody, _) => ctx.becomes(unhandled::<Door, Knock>),
            (To::Crashing, _) => ctx.becomes_stacked(crashing),
        }
        ctx.behaviours::<Knock>()
    }
    fn back(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.unbecome_stacked::<Knock>()
    }
    fn own(&mut self, ctx: &mut Context<Self>) -> bool {
        ctx.unbecome::<Knock>()
    }
    fn all_own(&mut self, ctx: &mut Context<Self>) {
        ctx.unbecome_all();
    }
    fn knock_later(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("knock", MS, Knock);
    }
    fn knocks(&mut self) -> u32 {
        self.knocks
    }
}

fn locked(door: &mut Door, _: Knock, _: &mut Context<Door>) -> Result<String, Failure> {
    door.knocks += 100;
    Ok(format!("locked {}", door.knocks))
}

async fn slow(door: &mut Door, _: Knock, ctx: &mut Context<Door>) -> Result<String, Failure> {
    ctx.sleep(MS).await;
    door.knocks += 1;
    Ok(format!("slow {}", door.knocks))
}

async fn replying(door: &mut Door, _: Knock, reply: ReplyTo<String>, _: &mut Context<Door>) -> Result<(), Fault> {
    door.knocks += 1;
    reply.send("later".to_owned());
    Ok(())
}

fn crashing(_: &mut Door, _: Knock, _: &mut Context<Door>) -> Result<String, Failure> {
    Err(Fault::msg("kicked in").into())
}

#[test]
fn l16_a_behaviour_handles_its_message_and_no_other() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let door = system.spawn(Door::default).await.unwrap();
        assert_eq!(door.ask(Knock).await.unwrap(), "open 1");
        door.ask(Turn {
            to: To::Locked,
            stacked: false,
        })
        .await
        .unwrap();
        assert_eq!(door.ask(Knock).await.unwrap(), "locked 101");
        assert_eq!(door.ask(Ring).await.unwrap(), "ding");
        door.ask(Turn {
            to: To::Slow,
            stacked: false,
        })
        .await
        .unwrap();
        assert_eq!(door.ask(Knock).await.unwrap(), "slow 102");
        door.ask(Turn {
            to: To::Replying,
            stacked: false,
        })
        .await
        .unwrap();
        assert_eq!(door.ask(Knock).await.unwrap(), "later");
        assert!(door.ask(Own).await.unwrap());
        assert_eq!(door.ask(Knock).await.unwrap(), "open 104");
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_behaviours_stack_and_come_off_one_by_one() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let door = system.spawn(Door::default).await.unwrap();
        assert_eq!(
            door.ask(Turn {
                to: To::Locked,
                stacked: true
            })
            .await
            .unwrap(),
            1
        );
        assert_eq!(
            door.ask(Turn {
                to: To::Slow,
                stacked: true
            })
            .await
            .unwrap(),
            2
        );
        assert_eq!(
            door.ask(Turn {
                to: To::Replying,
                stacked: false
            })
            .await
            .unwrap(),
            2,
            "takes the place of the last"
        );
        assert_eq!(door.ask(Knock).await.unwrap(), "later");
        assert!(door.ask(Back).await.unwrap());
        assert_eq!(door.ask(Knock).await.unwrap(), "locked 101");
        assert!(door.ask(Back).await.unwrap());
        assert_eq!(door.ask(Knock).await.unwrap(), "open 102");
        assert!(!door.ask(Back).await.unwrap(), "nothing is left to take off");
        door.ask(Turn {
            to: To::Locked,
            stacked: true,
        })
        .await
        .unwrap();
        door.ask(Turn {
            to: To::Slow,
            stacked: true,
        })
        .await
        .unwrap();
        door.ask(AllOwn).await.unwrap();
        assert_eq!(door.ask(Knock).await.unwrap(), "open 103");
        assert!(!door.ask(Own).await.unwrap());
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_a_switch_holds_from_the_next_message_on() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let door = system.spawn(Door::default).await.unwrap();
        for _ in 0..3 {
            door.tell(Knock).unwrap();
        }
        door.tell(Turn {
            to: To::Locked,
            stacked: false,
        })
        .unwrap();
        for _ in 0..2 {
            door.tell(Knock).unwrap();
        }
        door.tell(Own).unwrap();
        door.tell(Knock).unwrap();
        assert_eq!(door.ask(Knocks).await.unwrap(), 204);
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_an_unhandled_message_is_a_dead_letter_and_its_asker_hears_no_reply() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let dead = system.events().subscribe::<DeadLetter>();
        let door = system.spawn(Door::default).named("door").await.unwrap();
        door.ask(Turn {
            to: To::Nobody,
            stacked: false,
        })
        .await
        .unwrap();
        assert!(matches!(door.ask(Knock).await, Err(AskError::NoReply)));
        door.tell(Knock).unwrap();
        assert_eq!(door.ask(Knocks).await.unwrap(), 0);
        for _ in 0..2 {
            let letter = dead.try_next().unwrap().unwrap();
            assert_eq!(letter.reason(), DeadReason::Unhandled);
            assert_eq!(letter.receiver(), &door.path());
            assert!(letter.take::<Knock>().is_some());
        }
        assert_eq!(system.metrics().dead_letters, 2);
        assert_eq!(system.metrics().faults, 0, "the actor lives on");
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_behaviours_end_with_their_incarnation_and_survive_a_resume() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let resumed = Props::new().on_fault(Directive::Resume);
        let door = system.spawn(Door::default).props(resumed).await.unwrap();
        door.ask(Turn {
            to: To::Crashing,
            stacked: true,
        })
        .await
        .unwrap();
        assert!(matches!(door.ask(Knock).await, Err(AskError::Failed(_))));
        assert!(
            matches!(door.ask(Knock).await, Err(AskError::Failed(_))),
            "still in place"
        );

        let restarted = system.spawn(Door::default).await.unwrap();
        restarted
            .ask(Turn {
                to: To::Locked,
                stacked: true,
            })
            .await
            .unwrap();
        restarted
            .ask(Turn {
                to: To::Crashing,
                stacked: true,
            })
            .await
            .unwrap();
        assert!(matches!(restarted.ask(Knock).await, Err(AskError::Failed(_))));
        assert_eq!(restarted.ask(Knock).await.unwrap(), "open 1");
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_a_behaviour_handles_messages_from_timers_too() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let door = system.spawn(Door::default).await.unwrap();
        door.ask(KnockLater).await.unwrap();
        door.ask(Turn {
            to: To::Locked,
            stacked: false,
        })
        .await
        .unwrap();
        system.sleep(10 * MS).await;
        assert_eq!(door.ask(Knocks).await.unwrap(), 100);
        system.stop().await.unwrap();
    });
}

#[test]
fn l16_a_behaviour_works_behind_every_mailbox() {
    let kinds = [MailboxKind::Bounded(4), MailboxKind::stable_priority(|_| 0_u8)];
    for kind in kinds {
        seeds(move |env| {
            let kind = kind.clone();
            async move {
                let system = simulated(&env).await;
                let door = system
                    .spawn(Door::default)
                    .props(Props::new().mailbox(kind))
                    .await
                    .unwrap();
                door.ask(Turn {
                    to: To::Slow,
                    stacked: false,
                })
                .await
                .unwrap();
                assert_eq!(door.ask(Knock).await.unwrap(), "slow 1");
                assert_eq!(door.ask(Ring).await.unwrap(), "ding");
                system.stop().await.unwrap();
            }
        });
    }
}
