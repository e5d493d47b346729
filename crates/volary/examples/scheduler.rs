//! The scheduler: once, at a fixed rate, by name, by path, paused and resumed.
//!
//! `cargo run -p volary --example scheduler`, or with `--features cron` to see the calendar as well

use std::time::Duration;

use volary::DeadLetter;
use volary::prelude::*;

#[derive(Clone, Message)]
struct Tick(&'static str);

struct Bell {
    began: volary::Moment,
}

#[actor]
impl Bell {
    #[handles]
    fn tick(&mut self, tick: Tick, ctx: &mut Context<Self>) {
        println!("{:>4} ms: {}", ctx.now().since(self.began).as_millis(), tick.0);
    }
}

fn main() -> volary::Result<()> {
    volary::run(async {
        let system = ActorSystem::builder("schedules").start().await?;
        let began = system.now();
        let bell = system.spawn(move || Bell { began }).named("bell").await?;
        let lost = system.events().subscribe::<DeadLetter>();
        let scheduler = system.scheduler();

        scheduler.once(Duration::from_millis(50)).tell(&bell, Tick("once"))?;
        let pulse = scheduler.every(Duration::from_millis(100)).named("pulse");
        let pulse = pulse.tell(&bell, Tick("every 100 ms"))?;
        let thrice = scheduler.with_delay(Duration::from_millis(70)).at_most(3);
        thrice.tell_path("/user/bell", Tick("three times, to whoever is the bell"))?;
        #[cfg(feature = "cron")]
        {
            let seconds = volary::Cron::parse("* * * * * *")?;
            scheduler.cron(&seconds).tell(&bell, Tick("a new second"))?;
        }

        system.sleep(Duration::from_millis(350)).await;
        pulse.pause();
        println!("{} schedules, one of them paused", scheduler.len());
        system.sleep(Duration::from_millis(200)).await;
        pulse.resume();
        system.sleep(Duration::from_millis(200)).await;

        // The end of the actor is the end of what is meant for it.
        bell.stop();
        bell.terminated().await;
        println!(
            "the pulse went {} times, and is active: {}",
            pulse.fired(),
            pulse.is_active()
        );
        while let Some(Ok(letter)) = lost.try_next() {
            println!("not delivered: {} ({})", letter.message_type(), letter.reason());
        }
        Ok(system.stop().await?)
    })
}
