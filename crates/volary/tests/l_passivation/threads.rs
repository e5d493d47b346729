//! Nothing is lost on real threads, and receive timeouts are kept.

use super::*;

/// S14 under fire: whatever is accepted is handled by some incarnation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s14_no_message_is_lost_to_passivation_on_real_threads() {
    struct Counter(Arc<AtomicU64>, u64);
    #[actor]
    impl Counter {
        fn hit(&mut self) -> u64 {
            self.1 += 1;
            self.0.fetch_add(1, Ordering::SeqCst);
            self.1
        }
    }
    let system = builder("race")
        .eviction(Eviction::mru().at_most(2))
        .start()
        .await
        .unwrap();
    let total = Arc::new(AtomicU64::new(0));
    let mut actors = Vec::new();
    for _ in 0..8 {
        let total = total.clone();
        let props = Props::new().passivation(Passivation::after_messages(5));
        actors.push(
            system
                .spawn(move || Counter(total.clone(), 0))
                .props(props)
                .await
                .unwrap(),
        );
    }
    const EACH: u64 = 20_000;
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let actors = actors.clone();
            std::thread::spawn(move || {
                for number in 0..EACH {
                    let actor = &actors[(number + thread) as usize % actors.len()];
                    actor.tell(Hit).unwrap();
                    if number % 7 == 0 {
                        actor.passivate();
                    }
                }
            })
        })
        .collect();
    let mut asked = 0;
    for number in 0..2_000 {
        let answer = soon("an answer", actors[number % actors.len()].ask(Hit)).await.unwrap();
        assert!((1..=5).contains(&answer), "{answer} messages in one incarnation");
        asked += 1;
    }
    for thread in threads {
        tokio::task::spawn_blocking(move || thread.join().unwrap())
            .await
            .unwrap();
    }
    eventually_async("all are handled", || total.load(Ordering::SeqCst) == 3 * EACH + asked).await;
    assert_eq!(system.metrics().dead_letters, 0);
    assert!(system.metrics().woken > 1_000);
    system.stop().await.unwrap();
}

/// Counts how often nothing came for a while.
struct Quiet(u64);

#[actor]
impl Quiet {
    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.set_receive_timeout(10 * MS);
    }
    fn speak(&mut self) -> u64 {
        self.0
    }
    #[handles]
    fn idle(&mut self, _: volary::ReceiveTimeout) {
        self.0 += 1;
    }
}

#[test]
fn l22_a_receive_timeout_is_kept_by_an_actor_that_may_be_passivated() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let props = Props::new().passivation(Passivation::on_demand());
        let quiet = system.spawn(|| Quiet(0)).props(props).await.unwrap();
        for _ in 0..10 {
            system.sleep(8 * MS).await;
            assert_eq!(quiet.ask(Speak).await.unwrap(), 0, "each message puts it off");
        }
        system.sleep(25 * MS).await;
        assert_eq!(quiet.ask(Speak).await.unwrap(), 2);
        system.stop().await.unwrap();
    });
}
