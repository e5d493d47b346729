//! Streams on Volary: `ActorRef::attach` with the window of 64 that is the default.

use volary::prelude::*;

use super::Volary;
use super::actors::{Put, Sink};
use crate::features::{Numbers, Streaming};
use crate::latch::Latch;

impl Streaming for Volary {
    type Inlet = ActorRef<Sink>;

    async fn inlet(&self, latch: &'static Latch) -> ActorRef<Sink> {
        self.system.spawn(move || Sink::new(latch)).await.expect("a sink")
    }

    fn feed(inlet: &ActorRef<Sink>, numbers: Numbers) {
        inlet.attach(numbers).each(|value| Put { value });
    }
}
