//! Mortals speak to whoever watches them, and end.

use std::time::Duration;

use volary::prelude::*;

use super::books::Paper;
use super::clerk::{Clerk, LARGE, Present, Word};

pub(super) struct Mortal {
    pub(super) mortal: u64,
    pub(super) life: usize,
    pub(super) watcher: ActorRef<Clerk>,
    pub(super) watcher_node: usize,
    pub(super) watcher_life: usize,
    pub(super) words: u64,
    pub(super) paper: Paper,
}

#[actor]
impl Mortal {
    pub(super) async fn appear(&mut self, ctx: &mut Context<Self>) {
        let id = self.paper.open().write(self.life, self.watcher_node);
        let present = Present {
            id,
            mortal: self.mortal,
            who: ctx.me(),
            life: self.watcher_life,
        };
        self.paper.tell(&self.watcher, id, present);
        for number in 0..self.words {
            ctx.sleep(Duration::from_millis(ctx.random() % 600)).await;
            self.say(number + 2, ctx);
        }
        // Some wait for the end of the trouble, so that only that of their node can be their own.
        while ctx.random().is_multiple_of(2) && !self.paper.open().quiet {
            ctx.sleep(Duration::from_secs(1)).await;
        }
        self.say(self.words + 2, ctx);
        self.paper.open().ends_now(self.mortal);
        ctx.stop();
    }

    #[actor(skip)]
    fn say(&self, number: u64, ctx: &Context<Self>) {
        let id = self.paper.open().write(self.life, self.watcher_node);
        let large = ctx.random().is_multiple_of(4);
        let word = Word {
            id,
            mortal: self.mortal,
            number,
            life: self.watcher_life,
            who: ctx.me(),
            padding: vec![3; if large { LARGE } else { 4 } as usize],
        };
        self.paper.tell(&self.watcher, id, word);
    }
}
