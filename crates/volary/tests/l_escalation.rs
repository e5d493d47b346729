//! S10: faults that are handed up while the parent has other things to decide.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that meets an error fails")]

mod common;

use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{Directive, Passivation, Props, Supervision};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// A parent that resumes whatever happens, with a child that hands its faults up.
struct Boss {
    log: Log,
    child: Option<ActorRef<Kid>>,
}

struct Kid {
    boss: ActorRef<Boss>,
    count: u64,
}

#[actor]
impl Boss {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let me = ctx.me();
        let kid = ctx
            .spawn_child(move || Kid {
                boss: me.clone(),
                count: 0,
            })
            .supervision(Supervision::new().otherwise(Directive::Escalate))
            .named("kid");
        self.child = Some(kid.await.or_fault()?);
        Ok(())
    }
    fn whose(&mut self) -> ActorRef<Kid> {
        self.child.clone().unwrap()
    }
    fn poke(&mut self) {
        self.log.push("poke");
    }
    /// Something that is not finished, so that the boss is not passivated.
    fn busy(&mut self, ctx: &mut Context<Self>) {
        let sleep = ctx.sleep(HOUR);
        ctx.spawn(sleep);
    }
    fn break_kid(&mut self) {
        self.child.as_ref().unwrap().tell(Snap).unwrap();
    }
    async fn through_kid(&mut self) -> bool {
        self.child.as_ref().unwrap().ask(Work).await.is_ok()
    }
}

#[actor]
impl Kid {
    fn work(&mut self) -> u64 {
        self.count += 1;
        self.count
    }
    fn snap(&mut self) -> Result<(), Fault> {
        Err(Fault::msg("broken"))
    }
    fn reinstate_boss_and_break(&mut self) -> Result<(), Fault> {
        self.boss.reinstate();
        Err(Fault::msg("broken"))
    }
    fn drain_boss_and_break(&mut self) -> Result<(), Fault> {
        self.boss.drain();
        Err(Fault::msg("broken"))
    }
}

async fn a_boss(system: &ActorSystem, log: &Log, passivation: Passivation) -> (ActorRef<Boss>, ActorRef<Kid>) {
    let made = log.clone();
    let boss = system
        .spawn(move || Boss {
            log: made.clone(),
            child: None,
        })
        .props(Props::new().passivation(passivation))
        .supervision(Supervision::new().otherwise(Directive::Resume))
        .await
        .unwrap();
    let kid = boss.ask(Whose).await.unwrap();
    (boss, kid)
}

/// S10: an escalated fault is the parent's to decide. Somebody reinstates the (running) parent at the same time.
#[test]
fn s10_a_reinstate_of_a_running_parent_does_not_swallow_an_escalation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (_boss, kid) = a_boss(&system, &Log::new(), Passivation::never()).await;
        kid.tell(ReinstateBossAndBreak).unwrap();
        system.sleep(SECOND).await;
        assert_eq!(
            kid.ask(Work).await.ok(),
            Some(1),
            "the parent resumes, so the child goes on"
        );
        system.stop().await.unwrap();
    });
}

/// S10 with passivation: the parent has handled enough messages but has a task, so it stays; its child escalates.
#[test]
fn s10_a_passivation_that_is_put_off_does_not_swallow_an_escalation() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (boss, kid) = a_boss(&system, &Log::new(), Passivation::after_messages(1)).await;
        boss.pause_passivation();
        let kid_again = boss.ask(Whose).await.unwrap();
        let _ = kid;
        boss.ask(Busy).await.unwrap();
        boss.resume_passivation();
        boss.tell(BreakKid).unwrap();
        for _ in 0..5 {
            boss.tell(Poke).unwrap();
        }
        system.sleep(SECOND).await;
        assert!(kid_again.is_alive());
        assert_eq!(
            kid_again.ask(Work).await.ok(),
            Some(1),
            "the parent resumes, so the child goes on"
        );
        system.stop().await.unwrap();
    });
}
