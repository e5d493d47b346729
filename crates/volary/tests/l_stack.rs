//! L8: how deep things may go. Alone in its file, because an overflow ends the process.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use common::*;
use volary::prelude::*;

/// Each spawns the next in its `started` hook: deep, but no recursion of the user's.
#[test]
fn l8_a_chain_of_actors_that_start_each_other_does_not_exhaust_the_stack() {
    within("the chain", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("chain")
                .settings(|s| s.init_timeout(std::time::Duration::from_secs(60)))
                .start()
                .await
                .unwrap();
            let (done, all) = tokio::sync::oneshot::channel();
            let done = std::sync::Arc::new(std::sync::Mutex::new(Some(done)));
            system
                .spawn(move || Link {
                    left: 3_000,
                    done: done.clone(),
                    system: None,
                })
                .start()
                .unwrap();
            soon("the last link", all).await.unwrap();
            assert_eq!(system.actor_count(), 3_001);
            system.stop().await.unwrap();
        });
    });
}

struct Link {
    left: u32,
    done: std::sync::Arc<std::sync::Mutex<Option<tokio::sync::oneshot::Sender<()>>>>,
    system: Option<ActorSystem>,
}

#[actor]
impl Link {
    fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> {
        self.system = Some(ctx.system());
        let (left, done) = (self.left, self.done.clone());
        if left == 0 {
            let _ = done.lock().unwrap().take().unwrap().send(());
            return Ok(());
        }
        ctx.system()
            .spawn(move || Link {
                left: left - 1,
                done: done.clone(),
                system: None,
            })
            .start()
            .or_fault()?;
        Ok(())
    }
}

/// A tree that is one long branch: paths, stops and frees walk along it.
#[test]
fn l8_a_deep_tree_stops_and_is_freed() {
    within("the tree", || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = system().await;
            let mut deepest = system.spawn(|| Stem).await.unwrap();
            for _ in 0..5_000 {
                deepest = deepest.ask(GrowOn).await.unwrap();
            }
            assert!(deepest.path().to_string().len() > 1);
            soon("stop", system.stop()).await.unwrap();
            assert!(!deepest.is_alive());
            drop(system);
            drop(deepest); // the last reference: everything above it goes with it
        });
    });
}

struct Stem;

#[actor]
impl Stem {
    fn grow_on(&mut self, ctx: &mut Context<Self>) -> Result<ActorRef<Stem>, Fault> {
        ctx.spawn_child(|| Stem).start().or_fault()
    }
}
