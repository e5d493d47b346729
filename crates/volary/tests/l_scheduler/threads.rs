//! Schedules on real threads.

use super::*;

/// On threads: schedules that go off, are cancelled and lose their actor all at once. Each ends in exactly one way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_every_schedule_is_handled_cancelled_or_a_dead_letter_on_threads_too() {
    const ROUNDS: u32 = 20;
    const EACH: u32 = 100;
    let system = system().await;
    let dead = Arc::new(Mutex::new(vec![0_usize; (ROUNDS * EACH) as usize]));
    let letters = system.events().subscribe::<DeadLetter>();
    let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..ROUNDS * EACH).map(|_| AtomicUsize::new(0)).collect());
    let mut cancelled = vec![0_usize; (ROUNDS * EACH) as usize];
    for round in 0..ROUNDS {
        let counter = {
            let seen = seen.clone();
            system.spawn(move || Counter { seen: seen.clone() }).await.unwrap()
        };
        let mut pending = Vec::new();
        for each in 0..EACH {
            let number = round * EACH + each;
            let after = Duration::from_micros(u64::from(number * 37 % 3_000));
            let schedule = system.scheduler().once(after).tell(&counter, Tick(number)).unwrap();
            pending.push((number as usize, schedule));
        }
        if round % 2 == 0 {
            counter.stop();
        }
        for (number, schedule) in pending.iter().filter(|(number, _)| number % 3 == 0) {
            schedule.pause();
            tokio::task::yield_now().await;
            if number % 2 == 0 {
                cancelled[*number] += usize::from(schedule.cancel());
            } else {
                schedule.resume();
            }
        }
        if round % 2 == 0 {
            counter.terminated().await;
        }
    }
    let scheduler = system.scheduler();
    eventually_async("the end of all schedules", || scheduler.is_empty()).await;
    let told = |number: usize| seen[number].load(SeqCst);
    eventually_async("all messages", || {
        let mut dead = dead.lock().unwrap();
        while let Some(Ok(letter)) = letters.try_next() {
            if let Some(Tick(number)) = letter.take::<Tick>() {
                dead[number as usize] += 1;
            }
        }
        (0..cancelled.len()).all(|number| told(number) + cancelled[number] + dead[number] > 0)
    })
    .await;
    let dead = dead.lock().unwrap().clone();
    for number in 0..cancelled.len() {
        assert_eq!(told(number) + cancelled[number] + dead[number], 1, "schedule {number}");
    }
    soon("the stop", system.stop()).await.unwrap();
    // The clock stands still now: a timer that was left would be left for ever. The stop's own may be on its way out.
    eventually_async("no timer is left", || system.metrics().timers == 0).await;
}

/// On threads: repeating ones that are paused and resumed while they send neither stop for good nor run twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l21_pausing_and_resuming_while_it_sends_leaves_one_timer() {
    let system = system().await;
    let seen: Arc<Vec<AtomicUsize>> = Arc::new(vec![AtomicUsize::new(0)]);
    let counter = {
        let seen = seen.clone();
        system.spawn(move || Counter { seen: seen.clone() }).await.unwrap()
    };
    let schedule = system.scheduler().every(MS).tell(&counter, Tick(0)).unwrap();
    for _ in 0..2_000 {
        schedule.pause();
        tokio::task::yield_now().await;
        schedule.resume();
    }
    let before = seen[0].load(SeqCst);
    eventually_async("it goes on", || seen[0].load(SeqCst) > before + 3).await;
    assert!(system.metrics().timers <= 1, "{}", system.metrics().timers);
    schedule.cancel();
    assert_eq!(system.metrics().timers, 0);
    eventually_async("what was sent has come", || {
        seen[0].load(SeqCst) as u64 == schedule.fired()
    })
    .await;
    soon("the stop", system.stop()).await.unwrap();
}
