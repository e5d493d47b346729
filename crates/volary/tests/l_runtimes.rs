//! L14: which tokio runtime a handler runs on.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::future::IntoFuture;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use common::*;
use volary::prelude::*;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

/// Says on which tokio runtime its handler runs, and asks the next one the same.
struct Where {
    next: Option<ActorRef<Where>>,
}

#[actor]
impl Where {
    async fn runtimes(&mut self) -> Vec<tokio::runtime::Id> {
        let mut all = vec![tokio::runtime::Handle::current().id()];
        if let Some(next) = &self.next {
            all.extend(next.ask(Runtimes).await.unwrap());
        }
        all
    }
}

#[test]
fn l14_an_own_dispatcher_with_a_runtime_of_its_own_stays_on_it() {
    let apart = runtime();
    let main = runtime();
    let (here, there) = (main.handle().id(), apart.handle().id());
    main.block_on(async {
        let options = volary::DispatcherOptions::new()
            .workers(2)
            .executor(apart.handle().clone());
        let system = builder("apart").dispatcher("apart", options).start().await.unwrap();
        let spawn = async |next: Option<ActorRef<Where>>, apart: bool| {
            let dispatcher = if apart {
                Dispatcher::Named("apart".to_owned())
            } else {
                Dispatcher::Default
            };
            let spawned = system
                .spawn(move || Where { next: next.clone() })
                .dispatcher(dispatcher);
            spawned.await.unwrap()
        };
        let last = spawn(None, true).await;
        let third = spawn(Some(last), false).await;
        let second = spawn(Some(third), true).await;
        let first = spawn(Some(second.clone()), false).await;
        for _ in 0..100 {
            assert_eq!(first.ask(Runtimes).await.unwrap(), [here, there, here, there]);
            assert_eq!(second.ask(Runtimes).await.unwrap(), [there, here, there]);
        }
        system.stop().await.unwrap();
    });
}

/// Two systems on two runtimes ask each other: each handler runs on its own system's runtime.
#[test]
fn l14_an_ask_between_systems_does_not_move_handlers_between_runtimes() {
    let runtimes = [runtime(), runtime()];
    let ids = runtimes.each_ref().map(|runtime| runtime.handle().id());
    let systems = runtimes.each_ref().map(|runtime| runtime.block_on(system()));
    let far = runtimes[1].block_on(async { systems[1].spawn(|| Where { next: None }).await.unwrap() });
    let near = runtimes[0].block_on(async {
        let spawned = systems[0].spawn(move || Where {
            next: Some(far.clone()),
        });
        spawned.await.unwrap()
    });
    for _ in 0..100 {
        let seen = runtimes[0].block_on(async { near.ask(Runtimes).await.unwrap() });
        assert_eq!(seen, ids);
    }
    for (runtime, system) in runtimes.iter().zip(&systems) {
        runtime.block_on(system.stop()).unwrap();
    }
}

/// One task asks under two runtimes in turn: the handler runs on its own system's each time.
fn from_a_task_that_changes_runtimes(ask: fn(&ActorRef<Where>, &tokio::runtime::Handle) -> Vec<tokio::runtime::Id>) {
    let runtimes = [runtime(), runtime()];
    let [own, other] = runtimes.each_ref().map(|runtime| runtime.handle().clone());
    let system = own.block_on(system());
    let actor = own
        .block_on(system.spawn(|| Where { next: None }).into_future())
        .unwrap();
    let asked = {
        let (own, other) = (own.clone(), other.clone());
        move || {
            for _ in 0..100 {
                assert_eq!(ask(&actor, &own), [own.id()]);
                assert_eq!(ask(&actor, &other), [own.id()], "asked under the other runtime");
            }
        }
    };
    // The body is a task, within which runtimes may be waited for.
    own.block_on(own.spawn_blocking(asked)).unwrap();
    own.block_on(system.stop()).unwrap();
}

/// Both waits have the same task and the same waker.
#[test]
fn l14_an_ask_runs_at_home_from_a_task_that_waits_for_one_runtime_and_then_for_another() {
    from_a_task_that_changes_runtimes(|actor, runtime| runtime.block_on(actor.ask(Runtimes).into_future()).unwrap());
}

/// So do adapters that lend a runtime to a future for each of its polls.
#[test]
fn l14_an_ask_runs_at_home_from_a_task_that_enters_one_runtime_and_then_another() {
    from_a_task_that_changes_runtimes(|actor, runtime| {
        let _entered = runtime.enter();
        let mut ask = pin!(actor.ask(Runtimes).into_future());
        let mut answer = None;
        eventually("an answer", || {
            if let Poll::Ready(runtimes) = ask.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
                answer = Some(runtimes.unwrap());
            }
            answer.is_some()
        });
        answer.unwrap()
    });
}

/// Waits, within its handler, for another runtime to ask the next one.
struct Detour {
    by: tokio::runtime::Handle,
    next: ActorRef<Where>,
}

#[actor]
impl Detour {
    fn there_and_back(&mut self) -> Vec<tokio::runtime::Id> {
        tokio::task::block_in_place(|| self.by.block_on(async { self.next.ask(Runtimes).await.unwrap() }))
    }
}

#[test]
fn l14_an_ask_runs_at_home_from_a_handler_that_waits_for_another_runtime() {
    let (home, other, elsewhere) = (runtime(), runtime(), runtime());
    let system = home.block_on(async { builder("detour").start().await.unwrap() });
    let by = other.handle().clone();
    let detour = home.block_on(async {
        let next = system.spawn(|| Where { next: None }).await.unwrap();
        let make = move || Detour {
            by: by.clone(),
            next: next.clone(),
        };
        system.spawn(make).await.unwrap()
    });
    for _ in 0..20 {
        // Asked from elsewhere, so that a worker runs it.
        let there = elsewhere.block_on(async { detour.ask(ThereAndBack).await.unwrap() });
        assert_eq!(there, [home.handle().id()]);
    }
    home.block_on(async { system.stop().await.unwrap() });
}
