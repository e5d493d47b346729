//! Topics on kameo: an actor that knows its subscribers and tells each, which is
//! what `PubSub` of `kameo_actors` is with best effort. Written here because that
//! crate turns on features of kameo that would slow its other workloads.

use kameo::actor::ActorRef;
use kameo::message::{Context, Message};

use super::actors::Sink;
use super::{Kameo, send, spawn};
use crate::features::Publishing;
use crate::latch::Latch;

/// Tells its subscribers.
pub struct PubSub(Vec<ActorRef<Sink>>);
actor!(PubSub);

/// A number for all of them.
pub struct Publish(u64);

impl Message<Publish> for PubSub {
    type Reply = ();

    async fn handle(&mut self, Publish(value): Publish, _: &mut Context<Self, ()>) {
        for subscriber in &self.0 {
            send(subscriber.tell(value).try_send());
        }
    }
}

impl Publishing for Kameo {
    type Topic = ActorRef<PubSub>;

    async fn topic(&self, subscribers: usize, latch: &'static Latch) -> ActorRef<PubSub> {
        let set_up = async move {
            let sinks = (0..subscribers).map(|_| spawn(Sink { sum: 0, latch })).collect();
            spawn(PubSub(sinks))
        };
        self.host.at(0, set_up).await
    }

    fn publish(topic: &ActorRef<PubSub>, value: u64) {
        send(topic.tell(Publish(value)).try_send());
    }
}
