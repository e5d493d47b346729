//! Sleep without end, and parents that sleep with their children.

use super::*;

/// Goes to sleep as soon as it is started, a thousand times.
struct Lazy {
    log: Log,
    other: ActorRef<Cat>,
    other_log: Log,
}
#[actor]
impl Lazy {
    fn started(&mut self, ctx: &mut Context<Self>) {
        self.log.push("started");
        match self.log.count("started") {
            2 => self.other.tell(Fall).unwrap(),
            n if n >= 1_000 => {
                self.log.push(if self.other_log.count("started") > 1 {
                    "fair"
                } else {
                    "unfair"
                });
                return;
            }
            _ => {}
        }
        ctx.passivate();
    }
    fn serve(&mut self) -> u64 {
        1
    }
}

/// S6: nobody starves. Waking up and falling asleep again is a turn without end, and uses up no budget.
#[test]
fn s6_an_actor_that_falls_asleep_whenever_it_starts_does_not_keep_its_worker() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (log, other_log) = (Log::new(), Log::new());
        let other = system.spawn(cat(&other_log)).await.unwrap();
        let (its_log, its_other) = (log.clone(), other_log.clone());
        let lazy = system
            .spawn(move || Lazy {
                log: its_log.clone(),
                other: other.clone(),
                other_log: its_other.clone(),
            })
            .await
            .unwrap();
        system.sleep(MS).await;
        assert!(lazy.status().asleep);
        lazy.tell(Serve).unwrap();
        system.sleep(SECOND).await;
        assert!(!log.has("unfair"), "{} incarnations in one turn", log.count("started"));
        system.stop().await.unwrap();
    });
}

struct Parent(Log);
#[actor]
impl Parent {
    async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        ctx.spawn_child(cat(&self.0)).named("c").await.or_fault()?;
        Ok(())
    }
    fn ping(&mut self) -> u64 {
        1
    }
}

/// S14: a parent that falls asleep and wakes up again and again, on threads, while its child and it are asked.
#[test]
fn s14_a_parent_sleeps_and_wakes_with_its_child_and_nobody_waits() {
    within("parents", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let log = Log::new();
            let made = log.clone();
            let parent = system
                .spawn(move || Parent(made.clone()))
                .named("p")
                .mailbox(MailboxKind::Bounded(4))
                .props(
                    Props::new()
                        .passivation(Passivation::after_messages(3))
                        .mailbox(MailboxKind::Bounded(4)),
                )
                .await
                .unwrap();
            let mut tasks = Vec::new();
            for _ in 0..3 {
                let parent = parent.clone();
                tasks.push(tokio::spawn(async move {
                    for _ in 0..1_000 {
                        parent.send(Ping).await.unwrap();
                    }
                }));
            }
            let (asking, sleeping) = (system.clone(), parent.clone());
            tasks.push(tokio::spawn(async move {
                for _ in 0..1_000 {
                    if let Some(child) = asking.lookup::<Cat>("/user/p/c") {
                        match child.ask(Count).await {
                            Ok(_) | Err(volary::AskError::Stopped) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                    }
                    sleeping.passivate();
                    tokio::task::yield_now().await;
                }
            }));
            for task in tasks {
                soon("tasks", task).await.unwrap();
            }
            assert!(parent.is_alive());
            soon("the stop", system.stop()).await.unwrap();
        });
    });
}
