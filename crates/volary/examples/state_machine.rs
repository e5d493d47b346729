//! A payment as a state machine: what may follow what, and how long each state may last.
//!
//! `cargo run -p volary --example state_machine`

use std::time::Duration;

use volary::prelude::*;
use volary::{Fsm, FsmState, StateTimeout};

#[derive(Debug)]
enum Payment {
    Started,
    Authorised { cents: u64 },
    Captured,
    Cancelled,
}

impl FsmState for Payment {
    fn timeout(&self) -> Option<Duration> {
        match self {
            Payment::Started => Some(Duration::from_millis(50)),
            Payment::Authorised { .. } => Some(Duration::from_millis(100)),
            Payment::Captured | Payment::Cancelled => None,
        }
    }

    fn may_go_to(&self, next: &Self) -> bool {
        use Payment::{Authorised, Cancelled, Captured, Started};
        matches!(
            (self, next),
            (Started, Authorised { .. } | Cancelled) | (Authorised { .. }, Captured | Cancelled)
        )
    }
}

struct Desk {
    payment: Fsm<Payment>,
}

#[derive(Debug, Rejection)]
struct NotAuthorised;

#[actor]
impl Desk {
    fn new() -> Self {
        let payment = Fsm::new(Payment::Started);
        Desk { payment }
    }

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.payment.start(ctx);
    }

    /// A second one is a mistake of ours, which the machine forbids: a fault.
    fn authorise(&mut self, cents: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let change = self.payment.goto(Payment::Authorised { cents }, ctx)?;
        println!("{change}");
        Ok(())
    }

    /// Too early, or too late, is an answer.
    fn capture(&mut self, ctx: &mut Context<Self>) -> Result<u64, Failure<NotAuthorised>> {
        let Payment::Authorised { cents } = *self.payment.state() else {
            return Err(NotAuthorised.into());
        };
        let change = self.payment.goto(Payment::Captured, ctx)?;
        println!("{change}");
        Ok(cents)
    }

    #[handles]
    fn too_long(&mut self, timeout: StateTimeout<Payment>, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let change = self.payment.goto(Payment::Cancelled, ctx)?;
        println!("{change}: {:?} are over", timeout.after());
        Ok(())
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("shop").start().await?;

        let quick = system.spawn(Desk::new).named("quick").await?;
        println!("too early: {:?}", quick.ask(Capture).await);
        quick.ask(Authorise { cents: 500 }).await?;
        println!("in time: {:?}", quick.ask(Capture).await);

        let slow = system
            .spawn(Desk::new)
            .named("slow")
            .on_fault(Directive::Resume)
            .await?;
        slow.ask(Authorise { cents: 900 }).await?;
        if let Err(error) = slow.ask(Authorise { cents: 900 }).await {
            println!("{error}");
        }
        system.sleep(Duration::from_millis(150)).await;
        println!("too late: {:?}", slow.ask(Capture).await);
        Ok(system.stop().await?)
    })
}
