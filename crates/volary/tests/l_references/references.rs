//! L4 and L9: equality, protocols, weak references and the status of an actor.

use super::*;

protocol!(Noting { Note, Who });

#[tokio::test]
async fn l4_references_are_equal_by_incarnation_and_cheap_to_clone() {
    let system = system().await;
    let log = Log::new();
    let one = system.spawn(a_desk(&log)).named("one").await.unwrap();
    let two = system.spawn(a_desk(&log)).named("two").await.unwrap();
    assert_eq!(one, one.clone());
    assert_ne!(one, two);
    let set: std::collections::HashSet<_> = [one.clone(), one.clone(), two.clone()].into();
    assert_eq!(set.len(), 2);
    assert_eq!(one.recipient::<Note>(), one.recipient::<Note>());
    assert_ne!(one.recipient::<Note>(), two.recipient::<Note>());
    fn anywhere<T: Send + Sync + Clone + 'static>(_: &T) {}
    anywhere(&one);
    anywhere(&one.recipient::<Note>());
    anywhere(&one.downgrade());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l4_a_protocol_hides_the_actor_and_keeps_its_messages() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let narrow: ActorRef<Noting> = desk.narrow();
    narrow.tell(Note { number: 1 }).unwrap();
    narrow.send(Note { number: 2 }).await.unwrap();
    assert_eq!(narrow.ask(Note { number: 3 }).await.unwrap(), 3);
    let weak = narrow.downgrade();
    assert_eq!(weak.upgrade().unwrap().ask(Note { number: 4 }).await.unwrap(), 4);
    let recipient: Recipient<Note> = narrow.recipient();
    assert_eq!(recipient.ask(Note { number: 5 }).await.unwrap(), 5);
    assert_eq!(narrow.id(), desk.id());
    narrow.stop();
    soon("the end", narrow.terminated()).await;
    assert!(narrow.tell(Note { number: 6 }).is_err());
    assert!(!recipient.is_alive());
    system.stop().await.unwrap();
}

/// Takes one message of the protocol, and not the other.
struct Notebook;

#[actor]
impl Notebook {
    #[handles]
    fn note(&mut self, note: Note) -> u64 {
        100 + note.number
    }
}

/// Takes both, each in its own way.
struct Echo;

#[actor]
impl Echo {
    #[handles]
    fn note(&mut self, note: Note) -> u64 {
        note.number
    }
    #[handles]
    fn who(&mut self, _: Who) -> Option<ActorId> {
        None
    }
}

#[tokio::test]
async fn l4_a_protocol_is_found_at_the_address_of_whoever_speaks_it() {
    let system = system().await;
    let desk = system.spawn(a_desk(&Log::new())).named("desk").await.unwrap();
    system.spawn(|| Echo).named("echo").await.unwrap();
    system.spawn(|| Notebook).named("notebook").await.unwrap();
    // More than once, and in turn: what is known of one is not taken for the other's.
    for times in 1..=3 {
        let found = system.lookup::<Noting>("/user/desk").unwrap();
        assert_eq!(found.id(), desk.id());
        assert_eq!(found.ask(Note { number: 7 }).await.unwrap(), times);
        let echo = system.lookup::<Noting>("/user/echo").unwrap();
        assert_eq!(echo.ask(Note { number: 7 }).await.unwrap(), 7);
        assert_eq!(echo.ask(Who).await.unwrap(), None);
        assert!(system.lookup::<Noting>("/user/notebook").is_none(), "it takes no `Who`");
        assert!(system.lookup::<Noting>("/user/nobody").is_none());
    }
    let takes = system.lookup::<Takes<Note>>("/user/notebook").unwrap();
    assert_eq!(takes.ask(Note { number: 7 }).await.unwrap(), 107);
    assert!(system.lookup::<Takes<Who>>("/user/notebook").is_none());
    system.stop().await.unwrap();
}

#[tokio::test]
async fn l4_a_weak_reference_leads_to_the_living_only() {
    let system = system().await;
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).await.unwrap();
    let weak = desk.downgrade();
    drop(desk);
    let desk = weak.upgrade().expect("the actor lives without references");
    assert_eq!(desk.ask(Note { number: 1 }).await.unwrap(), 1);
    desk.stop();
    soon("the end", desk.terminated()).await;
    assert!(weak.upgrade().is_none());
    drop(desk);
    assert!(weak.upgrade().is_none());
    assert!(weak.clone().upgrade().is_none());
    system.stop().await.unwrap();
    drop(system);
    assert!(weak.upgrade().is_none());
}

#[test]
fn l9_the_status_follows_the_life_of_an_actor() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).await.unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let idle = desk.status();
        assert!(
            idle.running && !idle.busy && !idle.stopping && !idle.ended && !idle.slow && !idle.system,
            "{idle:?}"
        );
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        let waiting = desk.status();
        assert!(waiting.running && waiting.busy, "{waiting:?}");
        desk.stop();
        let stopping = desk.status();
        assert!(
            !stopping.running && stopping.stopping && !stopping.ended,
            "{stopping:?}"
        );
        assert_eq!(system.actors()[0].status, stopping, "listed with the same flags");
        drop(open);
        desk.terminated().await;
        let ended = desk.status();
        assert!(
            ended.ended && !ended.running && !ended.stopping && !ended.busy,
            "{ended:?}"
        );
        system.stop().await.unwrap();
    });
}
