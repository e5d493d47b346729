//! S2: every message ends once.

use super::*;

/// Sent = handled + dead letters, and nothing twice.
#[test]
fn s2_every_accepted_message_is_handled_or_one_dead_letter() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).named("desk").await.unwrap();
        let mut accepted = 0;
        for number in 0..40 {
            if desk.tell(Note { number }).is_ok() {
                accepted += 1;
            }
            match env.random() % 24 {
                0 => desk.stop(),
                1 => desk.drain(),
                2 => desk.kill(),
                3 => desk.tell(Crash).map(|()| accepted += 1).unwrap_or(()),
                4 => desk.restart(),
                5 => system.sleep(Duration::from_micros(10)).await,
                _ => {}
            }
        }
        desk.drain();
        desk.terminated().await;
        let handled = log.all().iter().filter(|entry| entry.parse::<u64>().is_ok()).count() as u64;
        let crashed = system.metrics().faults;
        let mut dead = Vec::new();
        while let Some(letter) = letters.try_next() {
            dead.push(letter.unwrap());
        }
        assert_eq!(dead.len() as u64, system.metrics().dead_letters);
        assert_eq!(accepted, handled + crashed + dead.len() as u64);
        for letter in &dead {
            assert_eq!(letter.reason(), DeadReason::Stopped);
            assert_eq!(letter.receiver().to_string(), "/user/desk");
            assert_eq!(letter.receiver_id(), Some(desk.id()));
        }
        system.stop().await.unwrap();
    });
}

#[tokio::test]
async fn s2_a_refused_message_comes_back_and_is_no_dead_letter() {
    let system = system().await;
    let desk = system.spawn(a_desk(&Log::new())).await.unwrap();
    desk.stop();
    soon("stop", desk.terminated()).await;
    let back = desk.tell(Note { number: 7 }).unwrap_err();
    assert!(matches!(back, TellError::Stopped(_)));
    assert_eq!(back.into_message().number, 7);
    let back = desk.send(Note { number: 8 }).await.unwrap_err();
    assert_eq!(back.into_message().number, 8);
    assert!(matches!(desk.ask(Note { number: 9 }).await, Err(AskError::Stopped)));
    let refused = desk.tell_all((10..20).map(|number| Note { number })).unwrap_err();
    assert_eq!(refused.into_messages().len(), 10);
    assert_eq!(system.metrics().dead_letters, 0);
    assert_eq!(
        system.metrics().refused,
        4,
        "a tell, a send, an ask and the first of a batch were refused"
    );
    system.stop().await.unwrap();
}
