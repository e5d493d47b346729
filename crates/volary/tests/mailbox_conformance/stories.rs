//! The stories that are told under many seeds.

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};

use volary::prelude::*;
use volary::{AskFuture, DeadLetter, DeadReason, SendError};

use super::office::{BACKLOG, File, Office, Tear};
use super::{Candidate, Room};
use crate::common::{Bell, StoryEnv, poll_with, seeds};

/// Numbers from here on are not in any backlog.
const MORE: u64 = 1_000;

fn under_seeds<F: Future<Output = ()> + 'static>(candidate: Candidate, story: fn(StoryEnv, Candidate) -> F) {
    seeds(move |env| story(env, candidate.clone()));
}

/// Asks that have their places in the mailbox, each with its number.
fn asks(office: &Office, count: usize) -> Vec<(u64, AskFuture<'_, File>)> {
    let ask = |number| {
        let mut ask = office.clerk.ask(office.file(number)).into_future();
        assert!(poll_with(&mut ask, &Bell::new()).is_pending());
        (number, ask)
    };
    (MORE..).take(count).map(ask).collect()
}

pub fn l12_every_message_is_handled_exactly_once(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        office.backlog().await;
        assert_eq!(office.clerk.mailbox_len(), BACKLOG);
        assert_eq!(office.ledger.filed_once(), 0);
        open.send(()).unwrap();
        office.settle().await;
        assert_eq!(office.ledger.filed_once(), BACKLOG);
        assert_eq!(office.clerk.mailbox_len(), 0);
        assert_eq!(office.clerk.ask(office.file(MORE)).await.unwrap(), MORE);
        assert_eq!(office.system.metrics().dead_letters, 0);
        office.close().await;
    });
}

pub fn l12_the_promised_order_is_kept(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        office.backlog().await;
        open.send(()).unwrap();
        office.settle().await;
        let filed = office.ledger.filed();
        assert_eq!(filed.len(), BACKLOG);
        (candidate.order)(&filed);
        candidate.keeps.check(&filed);
        office.close().await;
    });
}

/// When there is no room, and when the actor has stopped.
pub fn l12_a_refused_message_comes_back(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        office.backlog().await;
        let mut handled = BACKLOG + 1;
        if candidate.room != Room::ForEverything {
            let refused = office.clerk.tell(office.file(MORE)).unwrap_err();
            assert!(refused.is_full());
            assert_eq!(refused.into_message().page.what.number, MORE);
            let refused = office.clerk.ask(office.file(MORE + 1)).await;
            assert!(matches!(refused, Err(AskError::Full)), "{refused:?}");
        }
        let mut send = office.clerk.send(office.file(MORE + 2));
        let sent = poll_with(&mut send, &Bell::new());
        open.send(()).unwrap();
        match candidate.room {
            Room::ForEverything => assert!(sent.is_ready()),
            Room::ThenSendWaits => {
                assert!(sent.is_pending());
                send.await.unwrap();
            }
            Room::ThenAllIsRefused => match sent {
                std::task::Poll::Ready(Err(SendError::Refused(TellError::Full(file)))) => {
                    assert_eq!(file.page.what.number, MORE + 2);
                    handled -= 1;
                }
                sent => panic!("{sent:?}"),
            },
        }
        office.clerk.drain();
        office.clerk.terminated().await;
        assert_eq!(office.ledger.filed_once(), handled);
        match office.clerk.tell(office.file(MORE + 3)) {
            Err(TellError::Stopped(file)) => assert_eq!(file.page.what.number, MORE + 3),
            told => panic!("{told:?}"),
        }
        assert_eq!(
            office.system.metrics().dead_letters,
            0,
            "the refused are no dead letters"
        );
        office.close().await;
    });
}

pub fn l12_each_ask_gets_its_own_answer(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        assert_eq!(office.clerk.ask(office.file(0)).await.unwrap(), 0);
        let open = office.hold().await;
        let asks = asks(&office, BACKLOG);
        open.send(()).unwrap();
        for (number, ask) in asks {
            assert_eq!(ask.await.unwrap(), number);
        }
        office.close().await;
    });
}

pub fn l12_what_is_left_at_a_stop_is_one_dead_letter_each_and_asks_hear_stopped(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let letters = office.system.events().subscribe::<DeadLetter>();
        let open = office.hold().await;
        for number in 0..BACKLOG as u64 / 2 {
            office.clerk.tell(office.file(number)).unwrap();
        }
        let asks = asks(&office, BACKLOG / 2);
        office.clerk.stop();
        open.send(()).unwrap();
        office.clerk.terminated().await;
        let mut answered = 0;
        for (number, ask) in asks {
            match ask.await {
                Ok(answer) => {
                    assert_eq!(answer, number);
                    answered += 1;
                }
                Err(AskError::Stopped) => {}
                ended => panic!("{ended:?}"),
            }
        }
        let handled = office.ledger.filed_once();
        assert!(answered <= handled && handled <= 1, "{answered} of {handled}");
        let mut dead = BTreeSet::new();
        while let Some(letter) = letters.try_next() {
            let letter = letter.unwrap();
            assert_eq!(letter.reason(), DeadReason::Stopped);
            let file = letter.take::<File>().expect("nobody else takes it");
            assert!(dead.insert(file.page.what), "twice: {:?}", file.page.what);
        }
        assert_eq!(dead.len() + handled, BACKLOG);
        assert!(office.ledger.filed().iter().all(|page| !dead.contains(page)));
        assert_eq!(office.system.metrics().dead_letters, dead.len() as u64);
        office.close().await;
    });
}

/// At most the message that was begun already comes before it.
pub fn l12_a_stop_overtakes_a_backlog(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        office.backlog().await;
        office.clerk.stop();
        open.send(()).unwrap();
        office.clerk.terminated().await;
        assert!(office.ledger.filed_once() <= 1);
        office.close().await;
    });
}

pub fn l12_a_kill_overtakes_a_backlog(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let _open = office.hold().await;
        office.backlog().await;
        office.clerk.kill();
        office.clerk.terminated().await;
        assert_eq!(office.ledger.filed_once(), 0);
        assert_eq!(office.system.metrics().dead_letters, BACKLOG as u64);
        office.close().await;
    });
}

pub fn l12_a_drain_handles_all_that_was_queued(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        let asks = asks(&office, 4);
        for number in 4..BACKLOG as u64 {
            office.clerk.tell(office.file(number)).unwrap();
        }
        office.clerk.drain();
        open.send(()).unwrap();
        office.clerk.terminated().await;
        for (number, ask) in asks {
            assert_eq!(ask.await.unwrap(), number);
        }
        assert_eq!(office.ledger.filed_once(), BACKLOG);
        assert_eq!(office.system.metrics().dead_letters, 0);
        office.close().await;
    });
}

/// Whether the state is kept or made anew.
pub fn l12_a_panic_costs_one_message_only(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        for directive in [Directive::Resume, Directive::Restart] {
            let mut office = Office::simulated(&env, &candidate).await;
            office.clerk = office
                .system
                .spawn(|| super::office::Clerk)
                .mailbox(candidate.kind.clone())
                .on_fault(directive)
                .await
                .unwrap();
            let open = office.hold().await;
            let half = BACKLOG as u64 / 2;
            for number in 0..half {
                office.clerk.tell(office.file(number)).unwrap();
            }
            let page = office.page(half);
            let mut torn = office.clerk.ask(Tear { page }).into_future();
            assert!(poll_with(&mut torn, &Bell::new()).is_pending());
            for number in half + 1..BACKLOG as u64 {
                office.clerk.tell(office.file(number)).unwrap();
            }
            open.send(()).unwrap();
            let torn = torn.await;
            assert!(matches!(torn, Err(AskError::Failed(_))), "{torn:?}");
            office.settle().await;
            assert_eq!(office.ledger.filed_once(), BACKLOG - 1);
            assert_eq!(office.system.metrics().dead_letters, 0);
            office.close().await;
        }
    });
}

/// While the actor waits, and with asks that nobody waits for any more.
pub fn l12_the_end_of_the_system_drops_every_message_exactly_once(candidate: Candidate) {
    under_seeds(candidate, |env, candidate| async move {
        let office = Office::simulated(&env, &candidate).await;
        let open = office.hold().await;
        for number in 0..BACKLOG as u64 / 2 {
            office.clerk.tell(office.file(number)).unwrap();
        }
        let mut kept = asks(&office, BACKLOG / 2);
        kept.truncate(BACKLOG / 4);
        let stop = office.system.stop();
        drop(open);
        stop.await.unwrap();
        for (_, ask) in kept {
            let _ = ask.await;
        }
        assert_eq!(office.ledger.made(), BACKLOG);
        let dead = office.system.metrics().dead_letters as usize;
        assert_eq!(office.ledger.filed_once() + dead, BACKLOG);
        office.ledger.check_drops();
    });
}
