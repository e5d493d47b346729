//! The stories that need real threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use volary::prelude::*;

use super::Candidate;
use super::office::{File, Office};
use crate::common::{builder, eventually_async, soon, within};

const THREADS: u64 = 4;
const EACH: u64 = 250;

/// Tells the clerk until it has taken the page; says whether it has.
fn insist(office: &Office, mut file: File) -> bool {
    loop {
        match office.clerk.tell(file) {
            Ok(()) => return true,
            Err(TellError::Full(refused)) => file = refused,
            Err(_) => return false,
        }
        std::thread::yield_now();
    }
}

/// Threads that all tell one clerk, while `meanwhile` happens; says how many pages were taken.
fn crowd(office: &Office, meanwhile: impl FnOnce(&AtomicUsize)) -> usize {
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let taken = &taken;
            scope.spawn(move || {
                for number in 0..EACH {
                    let page = office.ledger.page(thread, number);
                    if insist(office, File { page }) {
                        taken.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        meanwhile(&taken);
    });
    taken.into_inner()
}

fn on_threads(candidate: Candidate, story: impl AsyncFnOnce(Office, Candidate) + Send + 'static) {
    within("a story on threads", move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let system = builder("threads")
                .settings(|s| s.dead_letter_log(0))
                .start()
                .await
                .unwrap();
            story(Office::open(system, &candidate).await, candidate).await;
        });
    });
}

pub fn l12_senders_on_several_threads_lose_nothing(candidate: Candidate) {
    on_threads(candidate, async |office, candidate| {
        let taken = crowd(&office, |_| {});
        assert_eq!(taken as u64, THREADS * EACH);
        eventually_async("all of them", || office.ledger.filed().len() >= taken).await;
        assert_eq!(office.ledger.filed_once(), taken);
        candidate.keeps.check(&office.ledger.filed());
        soon("the end", office.close()).await;
    });
}

/// What was taken is handled or a dead letter; what was not, came back.
pub fn l12_a_stop_that_races_with_senders_leaves_no_message_unaccounted(candidate: Candidate) {
    on_threads(candidate, async |office, _| {
        let taken = crowd(&office, |taken| {
            while taken.load(Ordering::SeqCst) < 100 {
                std::thread::yield_now();
            }
            office.clerk.stop();
        });
        soon("the end", office.clerk.terminated()).await;
        let dead = office.system.metrics().dead_letters as usize;
        assert_eq!(office.ledger.filed_once() + dead, taken);
        assert_eq!(office.ledger.made() as u64, THREADS * EACH);
        soon("the end", office.close()).await;
    });
}
