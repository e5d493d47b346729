//! Stand-ins, their replies and receipts under Miri: every way an ask elsewhere can end.

use std::convert::Infallible;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
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
