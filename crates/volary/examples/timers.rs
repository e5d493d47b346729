//! Timers by name, an interval, and a receive timeout: a session that pings, and closes when nobody speaks.
//!
//! `cargo run -p volary --example timers`

use std::time::Duration;

use volary::ReceiveTimeout;
use volary::prelude::*;

#[derive(Clone, Message)]
struct Ping;

#[derive(Message)]
struct AnswerOverdue;

#[derive(Default)]
struct Session {
    pings: u32,
}

#[actor]
impl Session {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_interval("ping", Duration::from_millis(20), Ping);
        ctx.set_receive_timeout(Duration::from_millis(200));
    }

    /// A question to the peer: it has 50 ms to answer. Asking again sets the timer anew.
    fn question(&mut self, ctx: &mut Context<Self>) {
        ctx.set_timer("answer", Duration::from_millis(50), AnswerOverdue);
    }

    #[handles]
    fn ping(&mut self, _: Ping, ctx: &mut Context<Self>) {
        self.pings += 1;
        println!("ping {}", self.pings);
        if self.pings == 5 {
            ctx.cancel_timer("ping"); // from now on it is quiet
        }
    }

    #[handles]
    fn overdue(&mut self, _: AnswerOverdue) {
        println!("no answer");
    }

    #[handles]
    fn idle(&mut self, _: ReceiveTimeout, ctx: &mut Context<Self>) {
        println!("nothing for 200 ms: the session is closed");
        ctx.stop();
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("sessions").start().await?;
        let session = system.spawn(Session::default).named("session").await?;
        session.tell(Question)?;
        session.terminated().await;
        Ok(system.stop().await?)
    })
}
