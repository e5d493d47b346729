//! L18: what a dead letter tells.

use super::*;

#[test]
fn l18_a_dead_letter_names_reason_sender_and_receiver_and_keeps_the_message() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let (letters, others) = (
            system.events().subscribe::<DeadLetter>(),
            system.events().subscribe::<DeadLetter>(),
        );
        let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
        let directory = system.spawn(directory(&desk)).named("directory").await.unwrap();
        let (_keep, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        directory.tell(ForwardNote { number: 42 }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.kill();
        desk.terminated().await;
        let letter = letters.next().await.unwrap();
        assert_eq!(letter.reason(), DeadReason::Stopped);
        assert_eq!(letter.sender(), Some(directory.id()));
        assert_eq!(letter.sender_path().unwrap().to_string(), "/user/directory");
        assert_eq!(letter.receiver().to_string(), "/user/desk");
        assert_eq!(letter.receiver_id(), Some(desk.id()));
        assert!(letter.message_type().ends_with("Note"));
        assert!(letter.take::<Who>().is_none());
        assert_eq!(letter.take::<Note>().unwrap().number, 42);
        assert!(letter.take::<Note>().is_none(), "taken once");
        assert!(others.next().await.unwrap().take::<Note>().is_none(), "by one of all");
        assert!(letters.try_next().is_none(), "exactly one");
        assert_eq!(system.metrics().dead_letters, 1);
        system.stop().await.unwrap();
    });
}
