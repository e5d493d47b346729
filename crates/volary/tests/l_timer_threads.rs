//! L21: timers and schedules cost no thread. Alone in its process, since it counts all of them.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::io::Write as _;
use std::time::Duration;

use common::*;
use volary::prelude::*;

const HOUR: Duration = Duration::from_hours(1);
const MANY: u64 = 50_000;

#[derive(Clone, Message)]
struct Remind(u64);

struct Sleepyhead;

#[actor]
impl Sleepyhead {
    fn wind_up(&mut self, count: u64, ctx: &mut Context<Self>) {
        for number in 0..count {
            ctx.set_timer(format!("timer {number}"), HOUR, Remind(number));
        }
    }
    #[handles]
    fn remind(&mut self, reminder: Remind) {
        unreachable!("reminder {} is an hour away", reminder.0);
    }
}

/// The names of all threads of this process; none where they cannot be seen.
fn threads() -> Option<Vec<String>> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    Some(names.collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_a_hundred_thousand_timers_add_no_thread() {
    if threads().is_none() {
        writeln!(
            std::io::stdout(),
            "skipped: l21_a_hundred_thousand_timers_add_no_thread: no /proc to see threads in"
        )
        .unwrap();
        return;
    }
    let count = || threads().map_or(0, |names| names.len());
    let system = system().await;
    let actor = system.spawn(|| Sleepyhead).await.unwrap();
    actor.ask(WindUp { count: 1 }).await.unwrap();
    eventually_async("the clock", || {
        threads().unwrap().iter().any(|name| name.starts_with("volary-clock"))
    })
    .await;
    let before = count();
    actor.ask(WindUp { count: MANY }).await.unwrap();
    for number in 0..MANY {
        system.scheduler().once(HOUR).tell(&actor, Remind(number)).unwrap();
    }
    assert_eq!(system.metrics().timers as u64, 2 * MANY);
    assert_eq!(count(), before, "{:?}", threads());
    soon("the stop", system.stop()).await.unwrap();
}
