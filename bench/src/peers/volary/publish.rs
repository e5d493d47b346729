//! Topics and events on Volary: `Topics::publish` to actors that subscribed, and
//! `EventStream::publish` to actors that subscribed to the type. Each subscriber has
//! room for 1,024, the default.

use volary::prelude::*;

use super::Volary;
use crate::features::{Announcing, Publishing};
use crate::latch::{LAST, Latch};

/// A number for whoever wants it.
#[derive(Clone, Message)]
pub struct Number(u64);

/// Adds what is published.
pub struct Subscriber {
    sum: u64,
    latch: &'static Latch,
}

#[actor]
impl Subscriber {
    #[handles]
    fn number(&mut self, number: Number) {
        self.sum = self.sum.wrapping_add(number.0);
        if number.0 == LAST {
            self.latch.arrive();
        }
    }
}

impl Volary {
    async fn subscriber(&self, latch: &'static Latch) -> ActorRef<Subscriber> {
        self.system.spawn(move || Subscriber { sum: 0, latch }).await.expect("a subscriber")
    }
}

impl Publishing for Volary {
    type Topic = volary::Topics;

    async fn topic(&self, subscribers: usize, latch: &'static Latch) -> volary::Topics {
        let topics = self.system.topics();
        for _ in 0..subscribers {
            let subscriber = self.subscriber(latch).await;
            topics.subscribe::<Number>("numbers", &subscriber).expect("one type");
        }
        topics
    }

    fn publish(topics: &volary::Topics, value: u64) {
        topics.publish("numbers", Number(value)).expect("one type");
    }
}

impl Announcing for Volary {
    type Events = ActorSystem;

    async fn events(&self, subscribers: usize, latch: &'static Latch) -> ActorSystem {
        for _ in 0..subscribers {
            let subscriber = self.subscriber(latch).await;
            self.system.events().subscribe_actor::<Number>(&subscriber.recipient());
        }
        self.system.clone()
    }

    fn announce(system: &ActorSystem, value: u64) {
        system.events().publish(Number(value));
    }
}
