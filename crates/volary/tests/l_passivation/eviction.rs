//! Who goes when there are too many.

use super::*;

fn evicting(env: &(impl volary::Env + Clone), eviction: Eviction) -> SystemBuilder {
    builder("sim").environment(env.clone()).eviction(eviction)
}

async fn crowd(system: &ActorSystem, count: usize) -> Vec<ActorRef<Session>> {
    let log = Log::new();
    let mut all = Vec::new();
    for _ in 0..count {
        let props = Props::new().passivation(Passivation::on_demand());
        all.push(system.spawn(session(&log)).props(props).await.unwrap());
        system.sleep(MS).await;
    }
    all
}

#[test]
fn l22_the_order_says_who_is_evicted() {
    seeds(|env| async move {
        // The third is used most and last, the first is used least, the second longest ago.
        for (eviction, goes) in [(Eviction::lru(), 1), (Eviction::lfu(), 0), (Eviction::mru(), 2)] {
            let system = evicting(&env, eviction.at_most(3)).start().await.unwrap();
            let actors = crowd(&system, 3).await;
            for index in [1, 1, 0, 2, 2, 2] {
                system.sleep(MS).await;
                actors[index].ask(Add).await.unwrap();
            }
            assert!(asleep(&actors).is_empty());
            let log = Log::new();
            let never = system.spawn(session(&log)).await.unwrap();
            system.sleep(MS).await;
            assert_eq!(
                asleep(&actors),
                [0_usize; 0],
                "one that is never passivated does not count"
            );
            crowd(&system, 1).await;
            assert_eq!(asleep(&actors), [goes], "{eviction:?}");
            assert!(!never.status().asleep);
            system.stop().await.unwrap();
        }
    });
}

#[test]
fn l22_the_busy_are_spared_and_the_limit_holds_again_later() {
    seeds(|env| async move {
        let system = evicting(&env, Eviction::lru().at_most(2)).start().await.unwrap();
        let actors = crowd(&system, 2).await;
        for actor in &actors {
            actor.tell(Work { time: 50 * MS }).unwrap();
        }
        system.sleep(MS).await;
        let more = crowd(&system, 2).await;
        assert_eq!(asleep(&actors), [0_usize; 0], "both have work");
        assert!(asleep(&more).len() <= 1);
        system.sleep(100 * MS).await;
        let last = crowd(&system, 1).await;
        let awake = actors
            .iter()
            .chain(&more)
            .chain(&last)
            .filter(|actor| !actor.status().asleep);
        assert_eq!(awake.count(), 2);
        for actor in actors.iter().chain(&more) {
            actor.ask(Add).await.unwrap(); // each of them comes back
        }
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_eviction_can_count_bytes() {
    seeds(|env| async move {
        let system = evicting(&env, Eviction::lru().at_most_bytes(1 << 20))
            .start()
            .await
            .unwrap();
        let actors = crowd(&system, 5).await;
        for (index, actor) in actors.iter().enumerate() {
            actor.ask(Weigh { bytes: 200 << 10 }).await.unwrap();
            system.sleep(MS).await;
            assert_eq!(asleep(&actors), [0_usize; 0], "{index}");
        }
        actors[4].ask(Weigh { bytes: 500 << 10 }).await.unwrap();
        system.sleep(MS).await;
        assert_eq!(asleep(&actors), [0, 1]);
        actors[0].ask(Add).await.unwrap(); // woken, it is light again
        system.sleep(MS).await;
        assert_eq!(asleep(&actors), [1]);
        system.stop().await.unwrap();
    });
}

#[test]
fn l22_a_large_crowd_is_kept_within_its_limit() {
    within("the crowd", || {
        let env = volary::SeededEnv::new(7);
        env.block_on(async {
            let system = evicting(&env, Eviction::lru().at_most(1_000)).start().await.unwrap();
            let log = Log::new();
            let mut all = Vec::new();
            for _ in 0..20_000 {
                let props = Props::new().passivation(Passivation::on_demand());
                all.push(system.spawn(session(&log)).props(props).await.unwrap());
            }
            system.sleep(MS).await;
            let awake = all.len() - asleep(&all).len();
            assert!((900..=1_000).contains(&awake), "{awake}");
            for actor in &all {
                assert_eq!(actor.ask(Add).await.unwrap(), 1);
            }
            system.stop().await.unwrap();
        });
    });
}
