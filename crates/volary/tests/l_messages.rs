//! L1: messages of every shape, and that each is dropped exactly once.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use volary::prelude::*;
use volary::{DeadLetter, INLINE_BYTES, Letter, Mailbox};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[repr(align(64))]
struct Aligned64([u8; 64]);

#[repr(align(4096))]
struct Aligned4096(u8);

struct Scale;

#[actor]
impl Scale {
    fn empty(&mut self) -> u32 {
        7
    }
    fn aligned(&mut self, value: Aligned64, counted: Counted) -> bool {
        let _ = counted;
        (&raw const value).addr().is_multiple_of(64) && value.0.iter().all(|byte| *byte == 3)
    }
    fn page(&mut self, value: Aligned4096) -> bool {
        (&raw const value).addr().is_multiple_of(4096) && value.0 == 5
    }
    fn exact(&mut self, value: [u8; INLINE_BYTES]) -> u64 {
        value.iter().map(|byte| u64::from(*byte)).sum()
    }
    fn beyond(&mut self, value: [u8; INLINE_BYTES + 1]) -> u64 {
        value.iter().map(|byte| u64::from(*byte)).sum()
    }
    fn huge(&mut self, value: [u64; 2_048], counted: Counted) -> u64 {
        let _ = counted;
        value.iter().sum()
    }
    fn not_sync(&mut self, value: Cell<u64>) -> Cell<u64> {
        value.set(value.get() + 1);
        value
    }
    fn odd(&mut self, a: u8, b: u16, c: Option<String>) -> String {
        format!("{a}{b}{}", c.unwrap_or_default())
    }
    fn keep(&mut self, counted: Counted) {
        let _ = counted;
    }
    async fn hold(&mut self, gate: tokio::sync::oneshot::Receiver<()>, counted: Counted) {
        let _ = gate.await;
        drop(counted);
    }
    async fn big_future(&mut self) -> u64 {
        let table = [1_u64; 4_096];
        tokio::task::yield_now().await;
        table.iter().sum()
    }
    async fn aligned_future(&mut self) -> bool {
        let value = Aligned64([3; 64]);
        tokio::task::yield_now().await;
        (&raw const value).addr().is_multiple_of(64) && value.0[63] == 3
    }
    fn callback(&mut self, call: Box<dyn FnOnce() -> u32 + Send>) -> u32 {
        call()
    }
}

async fn weigh(scale: &ActorRef<Scale>) {
    let drops = Arc::new(AtomicUsize::new(0));
    assert_eq!(scale.ask(Empty).await.unwrap(), 7);
    assert!(
        scale
            .ask(Aligned {
                value: Aligned64([3; 64]),
                counted: Counted(drops.clone())
            })
            .await
            .unwrap()
    );
    assert!(scale.ask(Page { value: Aligned4096(5) }).await.unwrap());
    assert_eq!(
        scale
            .ask(Exact {
                value: [1; INLINE_BYTES]
            })
            .await
            .unwrap(),
        INLINE_BYTES as u64
    );
    assert_eq!(
        scale
            .ask(Beyond {
                value: [1; INLINE_BYTES + 1]
            })
            .await
            .unwrap(),
        INLINE_BYTES as u64 + 1
    );
    assert_eq!(
        scale
            .ask(Huge {
                value: [1; 2_048],
                counted: Counted(drops.clone())
            })
            .await
            .unwrap(),
        2_048
    );
    assert_eq!(scale.ask(NotSync { value: Cell::new(1) }).await.unwrap().get(), 2);
    assert_eq!(
        scale
            .ask(Odd {
                a: 1,
                b: 2,
                c: Some("3".to_owned())
            })
            .await
            .unwrap(),
        "123"
    );
    assert_eq!(scale.ask(BigFuture).await.unwrap(), 4_096);
    assert!(scale.ask(AlignedFuture).await.unwrap());
    assert_eq!(scale.ask(Callback { call: Box::new(|| 9) }).await.unwrap(), 9);
    assert_eq!(drops.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_messages_of_every_shape_arrive_whole() {
    let system = system().await;
    for _ in 0..20 {
        let scale = system.spawn(|| Scale).await.unwrap();
        weigh(&scale).await;
        let bounded = system.spawn(|| Scale).mailbox(MailboxKind::Bounded(4)).await.unwrap();
        weigh(&bounded).await;
    }
    system.stop().await.unwrap();
}

#[derive(Default)]
struct Fifo(std::sync::Mutex<std::collections::VecDeque<Letter>>);

impl Mailbox for Fifo {
    fn push(&self, letter: Letter) -> Result<(), Letter> {
        self.0.lock().unwrap().push_back(letter);
        Ok(())
    }
    fn pop(&self) -> Option<Letter> {
        self.0.lock().unwrap().pop_front()
    }
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn kinds() -> [MailboxKind; 3] {
    [
        MailboxKind::Unbounded,
        MailboxKind::Bounded(1_000),
        MailboxKind::Custom(Arc::new(|| Box::<Fifo>::default())),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_messages_of_every_shape_pass_through_a_mailbox_of_ones_own() {
    let system = system().await;
    let [_, _, custom] = kinds();
    let scale = system.spawn(|| Scale).mailbox(custom).await.unwrap();
    for _ in 0..20 {
        weigh(&scale).await;
    }
    system.stop().await.unwrap();
}

/// Handled, refused, left behind, dropped with the handler: always exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_a_message_is_dropped_exactly_once_wherever_it_ends() {
    for kind in kinds() {
        for listening in [false, true] {
            let system = builder("drops")
                .settings(|s| s.dead_letter_log(0))
                .start()
                .await
                .unwrap();
            let letters = listening.then(|| system.events().subscribe::<DeadLetter>());
            let drops = Arc::new(AtomicUsize::new(0));
            let counted = || Counted(drops.clone());
            let scale = system.spawn(|| Scale).mailbox(kind.clone()).await.unwrap();
            let mut made = 0;
            for _ in 0..100 {
                scale.tell(Keep { counted: counted() }).unwrap();
                made += 1;
            }
            let (_keep, gate) = gate();
            scale
                .tell(Hold {
                    gate,
                    counted: counted(),
                })
                .unwrap();
            made += 1;
            eventually_async("it holds", || scale.mailbox_len() == 0).await;
            assert_eq!(drops.load(Ordering::SeqCst), made - 1);
            for _ in 0..50 {
                scale.tell(Keep { counted: counted() }).unwrap();
                scale
                    .tell(Aligned {
                        value: Aligned64([0; 64]),
                        counted: counted(),
                    })
                    .unwrap();
                scale
                    .tell(Huge {
                        value: [0; 2_048],
                        counted: counted(),
                    })
                    .unwrap();
                made += 3;
            }
            drop(scale.ask(Keep { counted: counted() }).into_future());
            made += 1;
            scale.kill();
            soon("the end", scale.terminated()).await;
            let refused = scale.tell(Keep { counted: counted() });
            made += 1;
            assert!(refused.is_err());
            drop(refused);
            assert_eq!(system.metrics().dead_letters, 151);
            drop(letters);
            soon("stop", system.stop()).await.unwrap();
            eventually_async("all drops", || drops.load(Ordering::SeqCst) >= made).await;
            assert_eq!(drops.load(Ordering::SeqCst), made, "{kind:?}, listening: {listening}");
        }
    }
}

/// Nobody stops the system; its runtime just goes away with everything in it.
#[test]
fn l1_messages_of_a_runtime_that_is_dropped_are_not_dropped_twice() {
    within("a dropped runtime", || {
        let drops: Vec<_> = (0..102).map(|_| Arc::new(AtomicUsize::new(0))).collect();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let scale = runtime.block_on(async {
            let system = system().await;
            let scale = system.spawn(|| Scale).await.unwrap();
            let (keep, gate) = gate();
            std::mem::forget(keep);
            scale
                .tell(Hold {
                    gate,
                    counted: Counted(drops[0].clone()),
                })
                .unwrap();
            for drops in &drops[1..101] {
                let counted = Counted(drops.clone());
                scale.tell(Keep { counted }).unwrap();
            }
            scale
        });
        drop(runtime);
        let _ = scale.tell(Keep {
            counted: Counted(drops[101].clone()),
        });
        drop(scale);
        let drops: Vec<_> = drops.iter().map(|drops| drops.load(Ordering::SeqCst)).collect();
        assert!(drops.iter().all(|drops| *drops <= 1), "{drops:?}");
    });
}
