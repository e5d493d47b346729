//! L12: what is particular to each of the ready-made mailboxes; what they share is in `l_mailbox_conformance`.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, DeadReason, Letter, SpawnError};

fn numbers(log: &Log) -> Vec<u64> {
    log.all().iter().filter_map(|e| e.parse().ok()).collect()
}

fn number(letter: &Letter) -> u64 {
    letter.message::<Note>().map_or(0, |note| note.number)
}

/// The desk is held, `numbers` are told from outside, then it is let go.
async fn backlog(system: &ActorSystem, kind: MailboxKind, told: &[u64]) -> Vec<u64> {
    let log = Log::new();
    let desk = system.spawn(a_desk(&log)).mailbox(kind).await.unwrap();
    let (open, gate) = gate();
    desk.tell(Wait { gate }).unwrap();
    system.sleep(Duration::from_millis(1)).await;
    for number in told {
        desk.tell(Note { number: *number }).unwrap();
    }
    open.send(()).unwrap();
    desk.drain();
    desk.terminated().await;
    numbers(&log)
}

#[tokio::test]
async fn l12_no_bounded_kind_has_room_for_nothing() {
    let system = system().await;
    for kind in [
        MailboxKind::Unbounded.bounded(0),
        MailboxKind::Segmented.bounded_refusing(0),
        MailboxKind::priority(number).bounded(0),
        MailboxKind::stable_priority(number).bounded_refusing(0),
        MailboxKind::fair().bounded(0),
    ] {
        let error = system.spawn(a_desk(&Log::new())).mailbox(kind).await.unwrap_err();
        assert!(matches!(error, SpawnError::Capacity { capacity: 0 }));
        assert!(error.to_string().contains("capacity"), "{error}");
    }
    assert_eq!(system.actor_count(), 0);
    system.stop().await.unwrap();
}

#[test]
fn l12_a_later_bound_replaces_an_earlier_one() {
    for (kind, shown) in [
        (MailboxKind::Segmented, "Segmented"),
        (MailboxKind::Segmented.bounded(3), "Bounded(3)"),
        (MailboxKind::Bounded(3).bounded_refusing(4), "BoundedRefusing(4)"),
        (MailboxKind::fair().bounded(3), "BoundedCustom(3)"),
        (MailboxKind::fair().bounded(3).bounded(4), "BoundedCustom(4)"),
        (
            MailboxKind::fair().bounded(3).bounded_refusing(4),
            "BoundedRefusingCustom(4)",
        ),
    ] {
        assert_eq!(format!("{kind:?}"), shown);
    }
}

#[test]
fn l12_priority_takes_any_key_that_can_be_ordered() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let told = [3, 1, 4, 15, 9, 2, 6, 5];
        let greatest_first = MailboxKind::priority(number);
        assert_eq!(backlog(&system, greatest_first, &told).await, [15, 9, 6, 5, 4, 3, 2, 1]);
        let smallest_first = MailboxKind::priority(|letter| std::cmp::Reverse(number(letter).to_string()));
        assert_eq!(backlog(&system, smallest_first, &told).await, [1, 15, 2, 3, 4, 5, 6, 9]);
        let even_first = MailboxKind::stable_priority(|letter| number(letter).is_multiple_of(2));
        assert_eq!(backlog(&system, even_first, &told).await, [4, 2, 6, 3, 1, 15, 9, 5]);
        system.stop().await.unwrap();
    });
}

/// An urgent message that comes while the others are handled is next.
#[test]
fn l12_priority_looks_at_what_came_in_the_meantime() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system
            .spawn(a_desk(&log))
            .mailbox(MailboxKind::priority(|letter| {
                if letter.message::<Nap>().is_some() {
                    5
                } else {
                    number(letter)
                }
            }))
            .await
            .unwrap();
        let nap = || Nap {
            time: Duration::from_secs(1),
        };
        desk.tell(nap()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for number in [1, 9] {
            desk.tell(Note { number }).unwrap();
        }
        desk.tell(nap()).unwrap();
        system.sleep(Duration::from_millis(1_500)).await;
        desk.tell(Note { number: 3 }).unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [9, 3, 1]);
        system.stop().await.unwrap();
    });
}

/// A busy sender does not keep a quiet one waiting.
#[test]
fn l12_fair_lets_a_quiet_sender_pass_a_busy_one() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let log = Log::new();
        let desk = system.spawn(a_desk(&log)).mailbox(MailboxKind::fair()).await.unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for number in 0..100 {
            desk.tell(Note { number }).unwrap();
        }
        let to = desk.clone();
        let quiet = system.spawn(move || Quiet { to: to.clone() }).await.unwrap();
        quiet.ask(Say { number: 1_000 }).await.unwrap();
        open.send(()).unwrap();
        desk.drain();
        desk.terminated().await;
        let heard = numbers(&log);
        assert_eq!(heard[..3], [0, 1_000, 1]);
        assert_eq!(heard.len(), 101);
        system.stop().await.unwrap();
    });
}

struct Quiet {
    to: ActorRef<Desk>,
}

#[actor]
impl Quiet {
    fn say(&mut self, number: u64) {
        self.to.tell(Note { number }).unwrap();
    }
}

#[test]
fn l12_a_priority_function_that_panics_costs_one_dead_letter_and_nothing_else() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let log = Log::new();
        let kind = MailboxKind::stable_priority(|letter| {
            assert_ne!(number(letter), 13, "an unlucky number");
        });
        let desk = system.spawn(a_desk(&log)).mailbox(kind.bounded(4)).await.unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        let unlucky = desk.ask(Note { number: 13 }).await;
        assert!(matches!(unlucky, Err(AskError::NoReply)), "{unlucky:?}");
        desk.tell(Note { number: 2 }).unwrap();
        open.send(()).unwrap();
        desk.drain();
        desk.terminated().await;
        assert_eq!(numbers(&log), [1, 2]);
        let letter = letters.try_next().unwrap().unwrap();
        assert_eq!(letter.reason(), DeadReason::Discarded);
        assert_eq!(letter.take::<Note>().unwrap().number, 13);
        assert!(letters.try_next().is_none());
        system.stop().await.unwrap();
    });
}

/// A key that panics at one of its comparisons.
struct Touchy {
    number: u64,
    comparisons: Arc<AtomicUsize>,
    panics_at: usize,
}

impl Ord for Touchy {
    fn cmp(&self, other: &Self) -> Ordering {
        assert_ne!(
            self.comparisons.fetch_add(1, SeqCst),
            self.panics_at,
            "do not compare me"
        );
        self.number.cmp(&other.number)
    }
}

impl PartialOrd for Touchy {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Touchy {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Touchy {}

/// Whichever comparison it is, on the way in or out.
#[test]
fn l12_a_key_that_panics_when_compared_loses_nothing_in_silence() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let letters = system.events().subscribe::<DeadLetter>();
        let told = [5, 3, 8, 1, 9, 2, 7];
        for panics_at in 0..25 {
            let comparisons = Arc::new(AtomicUsize::new(0));
            let kind = MailboxKind::priority(move |letter| Touchy {
                number: number(letter),
                comparisons: comparisons.clone(),
                panics_at,
            });
            let mut seen = backlog(&system, kind, &told).await;
            while let Some(letter) = letters.try_next() {
                seen.push(letter.unwrap().take::<Note>().unwrap().number);
            }
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 3, 5, 7, 8, 9], "panic at comparison {panics_at}");
        }
        system.stop().await.unwrap();
    });
}

/// The bound is in front of the order: a message that was refused leaves nothing behind.
#[test]
fn l12_refusals_of_a_bounded_priority_mailbox_take_no_room() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let desk = system
            .spawn(a_desk(&Log::new()))
            .mailbox(MailboxKind::priority(number).bounded_refusing(2))
            .await
            .unwrap();
        let (open, gate) = gate();
        desk.tell(Wait { gate }).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        for number in 0..1_000 {
            assert_eq!(desk.tell(Note { number }).is_ok(), number < 2);
        }
        assert_eq!(desk.mailbox_len(), 2);
        open.send(()).unwrap();
        system.sleep(Duration::from_millis(1)).await;
        desk.tell(Note { number: 1 }).unwrap();
        desk.drain();
        desk.terminated().await;
        system.stop().await.unwrap();
    });
}
