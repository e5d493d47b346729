//! R6: what is published, streamed and announced to an actor elsewhere goes there too.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod common;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use common::*;
use futures_core::Stream;
use volary::foreign::{Errand, Outlet, Parcel, Undeliverable};
use volary::groups::GroupChanged;
use volary::prelude::*;
use volary::{Address, DeadLetter, DeadReason};

#[derive(Clone, Debug, volary::Message)]
struct News(u64);

#[derive(Debug, volary::Message)]
struct Ended;

/// Never runs here: its handlers would find the state of somebody else.
struct Reader {
    log: Log,
    words: [u64; 32],
}

#[actor]
impl Reader {
    #[handles]
    fn news(&mut self, news: News) {
        self.words[0] += news.0;
        self.log.push("handled here");
    }
    #[handles]
    fn ended(&mut self, _: Ended) {
        self.log.push("handled here");
    }
    #[handles]
    fn changed(&mut self, _: GroupChanged) {
        self.log.push("handled here");
    }
}

#[derive(Default)]
struct Far {
    got: Mutex<Vec<String>>,
    full: AtomicBool,
}

impl Outlet for Far {
    fn send(&self, parcel: &mut Parcel<'_>) -> Result<(), Undeliverable> {
        if self.full.load(Ordering::SeqCst) {
            return Err(Undeliverable::Full);
        }
        let line = match parcel.message().downcast_ref::<News>() {
            Some(news) => news.0.to_string(),
            None => parcel.type_name().rsplit("::").next().unwrap().to_owned(),
        };
        self.got.lock().unwrap().push(line);
        Ok(())
    }
    fn run(&self, _: Errand) {}
}

struct Listed(std::vec::IntoIter<u64>);
impl Stream for Listed {
    type Item = u64;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<u64>> {
        Poll::Ready(self.0.next())
    }
}

#[test]
fn r6_topics_events_streams_and_groups_reach_an_actor_elsewhere() {
    seeds(|env| async move {
        let system = simulated(&env).await;
        let far = Arc::new(Far::default());
        let address: Address = "volary://far@10.0.0.7:4242/user/reader#2f".parse().unwrap();
        let stand_in = system.stand_in(address, far.clone()).unwrap();
        let reader: ActorRef<Reader> = stand_in.actor_ref();
        let letters = system.events().subscribe::<DeadLetter>();
        let calm = || system.sleep(Duration::from_millis(5));
        let got = || std::mem::take(&mut *far.got.lock().unwrap());

        system.topics().subscribe::<News>("news", &reader).unwrap();
        system.topics().publish("news", News(1)).unwrap();
        calm().await;
        assert_eq!(got(), ["1"]);

        system.events().subscribe_actor::<News>(&reader.recipient());
        system.events().publish(News(2));
        calm().await;
        assert_eq!(got(), ["2"]);

        let attached = reader
            .attach(Listed(vec![3, 4, 5].into_iter()))
            .window(1)
            .on_end(|_| Ended)
            .each(News);
        calm().await;
        assert!(attached.is_finished());
        assert_eq!(got(), ["3", "4", "5", "Ended"]);

        let group = system.groups().of::<Desk>("desks");
        group.watch(&reader.recipient());
        group.join(&system.spawn(a_desk(&Log::new())).await.unwrap()).unwrap();
        calm().await;
        assert_eq!(got(), ["GroupChanged"]);

        assert!(letters.try_next().is_none());
        far.full.store(true, Ordering::SeqCst);
        system.topics().publish("news", News(6)).unwrap();
        calm().await;
        assert_eq!(letters.try_next().unwrap().unwrap().reason(), DeadReason::Full);
        stand_in.end();
        calm().await;
        assert_eq!(system.topics().publish("news", News(7)).unwrap(), 0);
        system.stop().await.unwrap();
    });
}
