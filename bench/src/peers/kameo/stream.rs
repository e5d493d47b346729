//! Streams on kameo: `ActorRef::attach_stream` into a mailbox bounded to 64, its
//! default, which is what slows the stream.

use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox;
use kameo::message::{Context, Message, StreamMessage};

use super::Kameo;
use super::actors::Sink;
use crate::features::{Numbers, Streaming};
use crate::latch::{LAST, Latch};

/// What the stream becomes.
type Element = StreamMessage<u64, (), ()>;

impl Message<Element> for Sink {
    type Reply = ();

    async fn handle(&mut self, element: Element, _: &mut Context<Self, ()>) {
        let StreamMessage::Next(value) = element else { return };
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }
}

impl Streaming for Kameo {
    type Inlet = ActorRef<Sink>;

    async fn inlet(&self, latch: &'static Latch) -> ActorRef<Sink> {
        let set_up = async move { Sink::spawn_with_mailbox(Sink { sum: 0, latch }, mailbox::bounded(64)) };
        self.host.at(0, set_up).await
    }

    fn feed(inlet: &ActorRef<Sink>, numbers: Numbers) {
        inlet.attach_stream(numbers, (), ());
    }
}
