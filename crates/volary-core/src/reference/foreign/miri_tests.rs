//! Stand-ins, their replies and receipts under Miri: every way an ask elsewhere can end.

use std::convert::Infallible;
use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

use super::*;
use crate::sync::Mutex;
use crate::*;

struct Query(Box<u32>);
impl Message for Query {
    type Reply = Box<u32>;
    type Rejection = Infallible;
}

struct Echo;
impl Actor for Echo {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Query>();
    }
}
impl SyncHandler<Query> for Echo {
    fn handle(&mut self, query: Query, _: &mut Context<Self>) -> Result<Box<u32>, Failure> {
        Ok(query.0)
    }
}

#[derive(Default)]
struct Shelf {
    kept: Mutex<Vec<PendingReply>>,
    received: AtomicU64,
}

impl Outlet for Shelf {
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        let Some(Query(number)) = parcel.message().downcast_ref() else {
            return Err(Undeliverable::Unsendable);
        };
        if **number == 0 {
            return Err(Undeliverable::Full);
        }
        self.kept.lock().extend(parcel.take_reply());
        Ok(())
    }
    fn run(&self, _: Errand) {}
}

impl Received for Shelf {
    fn received(&self, ticket: u64) {
        self.received.fetch_add(ticket, SeqCst);
    }
}

#[test]
fn miri_stand_ins_and_every_end_of_an_ask_elsewhere() {
    let env = SeededEnv::new(3);
    env.block_on(async {
        let builder = ActorSystem::builder("miri").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let shelf = Arc::new(Shelf::default());
        let address = "volary://far@10.0.0.7:4242/user/echo".parse().unwrap();
        let stand_in = system.stand_in(address, shelf.clone()).unwrap();
        let far: ActorRef<Echo> = stand_in.actor_ref();
        let ask = || {
            far.ask(Query(Box::new(7)))
                .timeout(Duration::from_secs(1))
                .into_future()
        };
        let take = || shelf.kept.lock().pop().unwrap();

        let first = ask();
        take().for_message::<Query>().unwrap().send(Box::new(8));
        assert_eq!(*first.await.unwrap(), 8);
        let second = ask();
        drop(take());
        assert!(matches!(second.await, Err(AskError::NoReply)));
        let third = ask();
        take().lost(RemoteError::Busy { node: "far".to_owned() });
        assert!(matches!(third.await, Err(AskError::Remote(_))));
        assert!(matches!(ask().await, Err(AskError::Timeout { .. })));
        take().for_message::<Query>().unwrap().send(Box::new(9)); // too late
        drop(ask()); // given up before the answer
        take().stopped();
        assert!(matches!(far.ask(Query(Box::new(0))).await, Err(AskError::Full)));
        assert!(far.tell(Query(Box::new(0))).is_err());
        far.tell(Query(Box::new(1))).unwrap();

        let echo = system.spawn(|| Echo).await.unwrap();
        let baggage = Baggage::new().with_header("user", "ada").unwrap();
        let arrival = |ticket| {
            let receipt = Receipt::new(shelf.clone(), ticket);
            Arrival::new(&system)
                .from(Some(stand_in.id()))
                .baggage(&baggage)
                .receipt(receipt)
        };
        let near = arrival(1).deliver(|| echo.ask(Query(Box::new(5))).into_future());
        assert_eq!(*near.await.unwrap(), 5);
        arrival(10).deliver(|| ()); // nothing was sent: the receipt says so at once
        assert_eq!(shelf.received.load(SeqCst), 11);

        // With nothing but a receipt, which travels in the word itself; to an actor that is lent.
        let receipts = Receipts::new(shelf.clone());
        let any = AnyRef::from(&echo);
        for ticket in [100, 200] {
            Arrival::new(&system).receipt(receipts.next(ticket)).deliver(|| {
                let told = any.with(|echo: &ActorRef<Echo>| echo.tell(Query(Box::new(5))));
                assert!(matches!(told, Some(Ok(()))));
            });
        }
        assert_eq!(*echo.ask(Query(Box::new(6))).await.unwrap(), 6);
        assert_eq!(shelf.received.load(SeqCst), 311);
        echo.stop();
        echo.terminated().await;
        Arrival::new(&system)
            .receipt(receipts.next(1_000))
            .deliver(|| assert!(echo.tell(Query(Box::new(5))).is_err()));
        assert_eq!(
            shelf.received.load(SeqCst),
            1_311,
            "refused, it has not stayed in the mailbox either"
        );

        stand_in.end();
        far.terminated().await;
        assert!(matches!(ask().await, Err(AskError::Stopped)));
        drop((far, stand_in));
        system.stop().await.unwrap();
    });
}

/// How many were said to have left, in how many words.
#[derive(Default)]
struct Words {
    said: AtomicU64,
    words: AtomicU64,
}

impl Received for Words {
    fn received(&self, ticket: u64) {
        self.all_received(&[ticket]);
    }
    fn all_received(&self, tickets: &[u64]) {
        assert!(tickets.is_sorted(), "in the order of the mailbox");
        self.said.fetch_add(tickets.len() as u64, SeqCst);
        self.words.fetch_add(1, SeqCst);
    }
}

/// Stops whoever handles it.
const END: u64 = 1_000;

struct Number(u64);
impl Message for Number {
    type Reply = ();
    type Rejection = Infallible;
}

/// Looks, while it handles a message, how many were said to have left.
struct Looker {
    words: Arc<Words>,
    seen: Arc<Mutex<Vec<(u64, u64)>>>,
}
impl Actor for Looker {
    fn messages(list: &mut MessageList<Self>) {
        list.add::<Number>();
    }
    async fn stopping(&mut self, _: &mut Context<Self>) -> Result<(), Fault> {
        self.seen.lock().push((END, self.words.said.load(SeqCst)));
        Ok(())
    }
}
impl SyncHandler<Number> for Looker {
    fn handle(&mut self, number: Number, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if number.0 == END {
            ctx.stop();
            return Ok(());
        }
        self.seen.lock().push((number.0, self.words.said.load(SeqCst)));
        assert_ne!(number.0, 25, "a crash in the middle of a turn");
        Ok(())
    }
}

/// What a few messages have left their mailbox is said at once, the last of them before it is handled, and none later than
/// with the sixteenth.
#[test]
fn miri_r8_what_is_taken_is_said_of_a_few_at_once() {
    let env = SeededEnv::new(5);
    env.block_on(async {
        let system = ActorSystem::builder("near").environment(env.clone());
        let system = system.settings(|s| s.log_config(false)).start().await.unwrap();
        let words = Arc::new(Words::default());
        let seen: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
        let made: Arc<Mutex<Vec<u64>>> = Arc::default();
        let looker = {
            let (words, seen, made) = (words.clone(), seen.clone(), made.clone());
            let make = move || {
                made.lock().push(words.said.load(SeqCst));
                Looker {
                    words: words.clone(),
                    seen: seen.clone(),
                }
            };
            system.spawn(make).await.unwrap()
        };
        let receipts = Receipts::new(words.clone());
        let count = 60;
        for number in 1..=count {
            Arrival::new(&system)
                .receipt(receipts.next(number))
                .deliver(|| looker.tell(Number(number)).unwrap());
        }
        assert_eq!(words.said.load(SeqCst), 0, "nothing was taken yet");
        looker.ask(Number(0)).await.unwrap();
        assert_eq!(words.said.load(SeqCst), count);
        assert_eq!(seen.lock().len() as u64, count + 1);
        assert_eq!(
            *made.lock(),
            [0, 25],
            "all was said when the one that crashed was made again"
        );
        for (number, said) in seen.lock().iter().filter(|(number, _)| *number > 0) {
            assert!(number - said < 16, "{said} were said when {number} was handled");
        }
        assert!(
            words.words.load(SeqCst) <= count / 4,
            "in {} words",
            words.words.load(SeqCst)
        );
        // One alone is said before it is handled.
        let tell = |receipt, number| {
            Arrival::new(&system)
                .receipt(receipt)
                .deliver(|| looker.tell(Number(number)))
        };
        let alone = count + 1;
        tell(receipts.next(alone), alone).unwrap();
        let echo = system.spawn(|| Echo).await.unwrap();
        while *seen.lock().last().unwrap() != (alone, alone) {
            echo.ask(Query(Box::new(0))).await.unwrap(); // it has a turn meanwhile
        }
        // And so are those that may not wait.
        for number in alone + 1..=alone + 5 {
            tell(receipts.next(number).promptly(), number).unwrap();
        }
        looker.ask(Number(0)).await.unwrap();
        let prompt = seen
            .lock()
            .iter()
            .filter(|(number, said)| *number > alone && number == said)
            .count();
        assert_eq!(prompt, 5);
        // Before anybody hears that the actor ends, all that it has taken was said.
        (0..3).for_each(|number| tell(receipts.next(alone + 6 + number), number).unwrap());
        looker.tell(Number(END)).unwrap();
        looker.tell(Number(0)).unwrap();
        looker.terminated().await;
        assert_eq!(*seen.lock().last().unwrap(), (END, alone + 8));
        system.stop().await.unwrap();
    });
}

/// A way out that is always full; its line panics when somebody in it asks whether it is his turn.
#[derive(Default)]
struct Broken {
    line: Arc<BrokenLine>,
}

#[derive(Default)]
struct BrokenLine {
    left: Mutex<Vec<u64>>,
}

impl Outlet for Broken {
    fn send(&self, _: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        Err(Undeliverable::Full)
    }
    fn run(&self, _: Errand) {}
    fn room(&self) -> Option<Arc<dyn Room>> {
        Some(self.line.clone())
    }
}

impl Room for BrokenLine {
    fn may_try(&self, ticket: Option<u64>) -> bool {
        assert!(ticket.is_none(), "broken");
        false
    }
    fn wait(&self, _: Option<u64>, _: &Waker) -> u64 {
        7
    }
    fn leave(&self, ticket: u64) {
        self.left.lock().push(ticket);
    }
}

#[test]
fn miri_a_place_in_a_line_that_panics_is_given_up() {
    let env = SeededEnv::new(3);
    env.block_on(async {
        let builder = ActorSystem::builder("miri").environment(env.clone());
        let system = builder.settings(|s| s.log_config(false)).start().await.unwrap();
        let outlet = Arc::new(Broken::default());
        let address = "volary://far@10.0.0.7:4242/user/echo".parse().unwrap();
        let stand_in = system.stand_in(address, outlet.clone()).unwrap();
        let far: ActorRef<Echo> = stand_in.actor_ref();
        let mut sending = Box::pin(far.send(Query(Box::new(7))));
        let poll = || sending.as_mut().poll(&mut TaskContext::from_waker(Waker::noop()));
        assert!(catch_unwind(AssertUnwindSafe(poll)).is_err());
        drop(sending);
        assert_eq!(*outlet.line.left.lock(), [7]);
        system.stop().await.unwrap();
    });
}
