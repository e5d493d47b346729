//! Streams on actix: `AsyncContext::add_stream`, which polls the stream inside of
//! the actor's own context, so there is no queue between them.

use actix::{Addr, AsyncContext, Context, Handler, StreamHandler};

use super::actors::Sink;
use super::{Actix, start};
use crate::features::{Numbers, Streaming};
use crate::latch::{LAST, Latch};

message! {
    /// A stream to take in.
    Feed(Numbers) -> ()
}

impl Handler<Feed> for Sink {
    type Result = ();

    fn handle(&mut self, Feed(numbers): Feed, ctx: &mut Context<Self>) {
        ctx.add_stream(numbers);
    }
}

impl StreamHandler<u64> for Sink {
    fn handle(&mut self, value: u64, _: &mut Context<Self>) {
        self.sum = self.sum.wrapping_add(value);
        if value == LAST {
            self.latch.arrive();
        }
    }

    /// By default the actor would stop.
    fn finished(&mut self, _: &mut Context<Self>) {}
}

impl Streaming for Actix {
    type Inlet = Addr<Sink>;

    async fn inlet(&self, latch: &'static Latch) -> Addr<Sink> {
        self.at(0, move || start(Sink { sum: 0, latch }, 0)).await
    }

    fn feed(inlet: &Addr<Sink>, numbers: Numbers) {
        inlet.do_send(Feed(numbers));
    }
}
