//! Messages put aside on Volary: `Context::stash`, up to the 1,024 that an actor may hold
//! unless it says otherwise, and `Context::unstash_all`.

use volary::prelude::*;

use super::Volary;
use crate::features::Stashing;
use crate::latch::{LAST, Latch};
use crate::tally::Tally;

/// Stashes what it is told until it is told to open.
pub struct Hoarder {
    /// How many of those taken back are still to come.
    back: usize,
    sum: u64,
    done: u64,
    latch: &'static Latch,
    handled: &'static Tally,
}

/// A number.
#[derive(Message)]
pub struct Put(u64);

#[actor]
impl Hoarder {
    #[handles]
    fn put(&mut self, put: Put, ctx: &mut Context<Self>) -> Result<(), Failure> {
        if self.back == 0 {
            return Err(ctx.stash(put).map_err(Fault::from)?.into());
        }
        self.back -= 1;
        self.sum = self.sum.wrapping_add(put.0);
        self.done += 1;
        if put.0 == LAST {
            self.handled.add(std::mem::take(&mut self.done));
            self.latch.arrive();
        }
        Ok(())
    }

    /// Takes all back.
    pub fn open(&mut self, ctx: &mut Context<Self>) {
        self.back = ctx.unstash_all();
    }
}

impl Stashing for Volary {
    type Hoarder = ActorRef<Hoarder>;

    async fn hoarder(&self, latch: &'static Latch, handled: &'static Tally) -> ActorRef<Hoarder> {
        let factory = move || Hoarder {
            back: 0,
            sum: 0,
            done: 0,
            latch,
            handled,
        };
        self.system.spawn(factory).await.expect("a hoarder")
    }

    fn put(hoarder: &ActorRef<Hoarder>, value: u64) {
        hoarder.tell(Put(value)).expect("the actor lives");
    }

    fn open(hoarder: &ActorRef<Hoarder>) {
        hoarder.tell(Open).expect("the actor lives");
    }
}
