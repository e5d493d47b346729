//! L2: actors from closures.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use volary::prelude::*;
use volary::{async_function, function};

#[derive(Message)]
#[message(reply = u64)]
struct Add(u64);

#[test]
fn l2_a_closure_handles_messages_with_a_state_of_its_own() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let add = |sum: &mut u64, Add(n), _: &mut Context<_>| {
            *sum += n;
            Ok(*sum)
        };
        let one = system.spawn(function(|| 0, add)).named("one").await.unwrap();
        let other = system.spawn(function(|| 100, add)).await.unwrap();
        one.tell(Add(1)).unwrap();
        assert_eq!(one.ask(Add(2)).await.unwrap(), 3);
        assert_eq!(other.ask(Add(2)).await.unwrap(), 102);
        assert_eq!(one.path().to_string(), "/user/one");
        system.stop().await.unwrap();
    });
}

#[test]
fn l2_a_function_actor_that_crashes_is_restarted_with_a_new_state() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let made = Arc::new(AtomicU32::new(0));
        let count = made.clone();
        let state = move || {
            count.fetch_add(1, Ordering::Relaxed);
            0
        };
        let actor = system
            .spawn(function(state, |sum: &mut u64, Add(n), _: &mut Context<_>| {
                assert!(n != 0, "as told");
                *sum += n;
                Ok(*sum)
            }))
            .await
            .unwrap();
        assert_eq!(actor.ask(Add(5)).await.unwrap(), 5);
        assert!(matches!(actor.ask(Add(0)).await, Err(AskError::Failed(_))));
        assert_eq!(actor.ask(Add(1)).await.unwrap(), 1);
        assert_eq!(made.load(Ordering::Relaxed), 2);
        system.stop().await.unwrap();
    });
}

#[test]
fn l2_an_async_closure_suspends_without_letting_others_in_and_survives_a_restart() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let actor = system
            .spawn(async_function(
                || 0,
                |sum: &mut u64, Add(n), ctx: &mut Context<_>| {
                    Box::pin(async move {
                        let before = *sum;
                        ctx.sleep(std::time::Duration::from_millis(n)).await;
                        assert!(n != 0, "as told");
                        assert_eq!(*sum, before, "somebody else ran meanwhile");
                        *sum += n;
                        Ok(*sum)
                    })
                },
            ))
            .await
            .unwrap();
        let answers = actor.ask_all([Add(3), Add(4), Add(0), Add(5)]).await;
        let mut answers = answers.into_iter();
        assert_eq!(answers.next().unwrap().unwrap(), 3);
        assert_eq!(answers.next().unwrap().unwrap(), 7);
        assert!(answers.next().unwrap().is_err());
        assert_eq!(
            answers.next().unwrap().unwrap(),
            5,
            "a restarted one handles messages as before"
        );
        system.stop().await.unwrap();
    });
}

#[test]
fn l2_a_function_actor_is_reached_by_its_path() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let state = || 0;
        let sum = function(state, |sum: &mut u64, Add(n), _: &mut Context<_>| {
            *sum += n;
            Ok(*sum)
        });
        system.spawn(sum).named("sum").await.unwrap();
        let found = system.recipient::<Add>("/user/sum").unwrap();
        assert_eq!(found.ask(Add(9)).await.unwrap(), 9);
        system.stop().await.unwrap();
    });
}
