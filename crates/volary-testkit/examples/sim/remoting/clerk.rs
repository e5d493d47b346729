//! The actors of the scenario: clerks write to each other and hire mortals, who speak to whoever watches them, and end.
#![expect(clippy::too_many_arguments, reason = "each is a field of a message")]

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::{ActorId, Address};
use volary_remote::Remote;

use super::books::Paper;
use super::{CLERKS, NODES, at};

/// Larger than the chunks that the scenario sets.
const LARGE: u64 = 5_000;

pub(super) struct Clerk {
    pub(super) node: usize,
    pub(super) life: usize,
    pub(super) number: usize,
    pub(super) remote: Remote,
    pub(super) paper: Paper,
    pub(super) watched: BTreeMap<ActorId, u64>,
    /// Somebody of whom a message spoke, their node and its life.
    pub(super) met: Option<(ActorRef<Clerk>, usize, usize)>,
}

pub(super) fn clerk_name(number: usize) -> String {
    format!("clerk-{number}")
}

#[actor(kind = "sim.Clerk", remote(Letter, Hire, Present, Word))]
impl Clerk {
    /// Does something, and comes back for more.
    pub(super) async fn step(&mut self, ctx: &mut Context<Self>) {
        if self.paper.open().quiet {
            self.met = None;
            return;
        }
        match ctx.random() % 12 {
            0..=5 => {
                for _ in 0..=ctx.random() % 4 {
                    self.write(ctx);
                }
            }
            6..=8 => self.inquire(ctx),
            9..=10 => self.look_for_a_mortal(ctx),
            // Many at once: more than the other side takes for one actor.
            _ => (0..30).for_each(|_| self.write(ctx)),
        }
        ctx.sleep(Duration::from_millis(20 + ctx.random() % 400)).await;
        let _ = ctx.me().tell(Step); // refused when the node stops
    }

    #[message(remote = "sim.Letter", codec = postcard, derive(Serialize, Deserialize))]
    async fn letter(
        &mut self,
        id: u64,
        from: String,
        number: u64,
        nap: u64,
        padding: Vec<u8>,
        ctx: &mut Context<Self>,
    ) -> u64 {
        let me = self.name();
        self.paper.open().arrived(self.life, id, &from, &me, number);
        drop(padding);
        if nap > 0 {
            ctx.sleep(Duration::from_millis(nap)).await;
        }
        number
    }

    /// Lets somebody live here who speaks to `watcher`.
    #[message(remote = "sim.Hire", codec = postcard, derive(Serialize, Deserialize))]
    async fn hire(
        &mut self,
        id: u64,
        from: String,
        number: u64,
        watcher: ActorRef<Clerk>,
        watcher_node: usize,
        watcher_life: usize,
        ctx: &mut Context<Self>,
    ) {
        let me = self.name();
        let mortal = {
            let mut books = self.paper.open();
            if !books.quiet {
                self.met = Some((watcher.clone(), watcher_node, watcher_life));
            }
            books.arrived(self.life, id, &from, &me, number);
            books.next_id()
        };
        let words = ctx.random() % 12;
        let paper = self.paper.clone();
        let made = ctx.spawn_child(move || Mortal {
            mortal,
            watcher: watcher.clone(),
            watcher_life,
            words,
            paper: paper.clone(),
        });
        if let Ok(made) = made.named(format!("mortal-{mortal}")).await {
            let _ = made.tell(Appear);
        }
    }

    #[message(remote = "sim.Present", codec = postcard, derive(Serialize, Deserialize))]
    fn present(&mut self, id: u64, mortal: u64, who: ActorRef<Mortal>, life: usize, ctx: &mut Context<Self>) {
        self.hears(id, mortal, 1, life);
        let me = self.name();
        self.paper.open().watches(self.life, &me, mortal);
        self.watched.insert(who.id(), mortal);
        ctx.watch(&who);
    }

    #[message(remote = "sim.Word", codec = postcard, derive(Serialize, Deserialize))]
    fn word(
        &mut self,
        id: u64,
        mortal: u64,
        number: u64,
        life: usize,
        who: ActorRef<Mortal>,
        padding: Vec<u8>,
        ctx: &mut Context<Self>,
    ) {
        drop(padding);
        self.hears(id, mortal, number, life);
        if ctx.random().is_multiple_of(16) && self.watched.remove(&who.id()).is_some() {
            ctx.unwatch(&who);
            let me = self.name();
            self.paper.open().gives_up(self.life, &me, mortal);
        }
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        let me = self.name();
        if let Some(mortal) = self.watched.remove(&gone.id()) {
            self.paper.open().gone(self.life, &me, mortal);
        }
    }

    #[actor(skip)]
    fn hears(&self, id: u64, mortal: u64, number: u64, life: usize) {
        let me = self.name();
        let mut books = self.paper.open();
        books.arrived(self.life, id, &format!("mortal-{mortal}"), &me, number);
        books.speaks(self.life, &me, mortal);
        if life != self.life {
            books.wrong(format!("{me} of life {} gets mail for life {life}", self.life));
        }
    }

    #[actor(skip)]
    fn name(&self) -> String {
        format!("n{}/{}", self.node, self.number)
    }

    /// A clerk of another node, and its name.
    /// A clerk of another node, and its name.
    #[actor(skip)]
    fn somebody(&self, ctx: &Context<Self>) -> Option<(ActorRef<Clerk>, String)> {
        let node = (self.node + 1 + ctx.random() as usize % (NODES - 1)) % NODES;
        self.somebody_at(node, ctx)
    }

    #[actor(skip)]
    fn somebody_at(&self, node: usize, ctx: &Context<Self>) -> Option<(ActorRef<Clerk>, String)> {
        let number = ctx.random() as usize % CLERKS;
        let address = format!("volary://n{node}@{}/user/{}", at(node), clerk_name(number));
        let address: Address = address.parse().ok()?;
        Some((self.remote.actor(&address)?, format!("n{node}/{number}")))
    }

    #[actor(skip)]
    fn letter_to(&self, to: &str, ctx: &Context<Self>) -> Letter {
        let from = format!("{} of life {}", self.name(), self.life);
        let mut books = self.paper.open();
        let large = ctx.random().is_multiple_of(12);
        Letter {
            id: books.next_id(),
            number: books.next_number(&from, to),
            from,
            nap: if ctx.random().is_multiple_of(8) {
                ctx.random() % 200
            } else {
                0
            },
            padding: vec![7; if large { ctx.random() % LARGE } else { 8 } as usize],
        }
    }

    #[actor(skip)]
    fn write(&self, ctx: &Context<Self>) {
        if let Some((peer, to)) = self.somebody(ctx) {
            let _ = peer.tell(self.letter_to(&to, ctx)); // given back: counted by nobody
        }
    }

    #[actor(skip)]
    fn inquire(&self, ctx: &Context<Self>) {
        let Some((peer, to)) = self.somebody(ctx) else { return };
        let patience = Duration::from_millis(50 + ctx.random() % 3_000);
        // Tasks begin in any order, so each is a sender of its own.
        let mut letter = self.letter_to(&to, ctx);
        letter.from = format!("{} asks {}", self.name(), letter.id);
        let (paper, life, system) = (self.paper.clone(), self.life, ctx.system().clone());
        paper.open().asked(life);
        let deadline = system.now() + patience;
        ctx.spawn(async move {
            let _ = peer.ask(letter).timeout(patience).await;
            paper.open().ask_ended(life, system.now().since(deadline));
        });
    }

    #[actor(skip)]
    fn look_for_a_mortal(&self, ctx: &Context<Self>) {
        // For itself, or for somebody of whom it has heard, who may not be there any more.
        let met = self.met.clone().filter(|_| ctx.random().is_multiple_of(2));
        let (watcher, watcher_node, watcher_life) = met.unwrap_or_else(|| (ctx.me(), self.node, self.life));
        let others: Vec<usize> = (0..NODES)
            .filter(|node| *node != self.node && *node != watcher_node)
            .collect();
        let other = others.get(ctx.random() as usize % others.len().max(1)).copied();
        let Some((peer, to)) = other.and_then(|node| self.somebody_at(node, ctx)) else {
            return;
        };
        let from = format!("{} of life {}", self.name(), self.life);
        let hire = {
            let mut books = self.paper.open();
            Hire {
                id: books.next_id(),
                number: books.next_number(&from, &to),
                from,
                watcher,
                watcher_node,
                watcher_life,
            }
        };
        let _ = peer.tell(hire);
    }
}

pub(super) struct Mortal {
    mortal: u64,
    watcher: ActorRef<Clerk>,
    watcher_life: usize,
    words: u64,
    paper: Paper,
}

#[actor]
impl Mortal {
    async fn appear(&mut self, ctx: &mut Context<Self>) {
        let id = self.paper.open().next_id();
        let _ = self.watcher.tell(Present {
            id,
            mortal: self.mortal,
            who: ctx.me(),
            life: self.watcher_life,
        });
        for number in 0..self.words {
            ctx.sleep(Duration::from_millis(ctx.random() % 600)).await;
            self.say(number + 2, ctx);
        }
        // Some wait for the end of the trouble, so that only that of their node can be their own.
        while ctx.random().is_multiple_of(2) && !self.paper.open().quiet {
            ctx.sleep(Duration::from_secs(1)).await;
        }
        self.say(self.words + 2, ctx);
        ctx.stop();
    }

    #[actor(skip)]
    fn say(&self, number: u64, ctx: &Context<Self>) {
        let id = self.paper.open().next_id();
        let large = ctx.random().is_multiple_of(4);
        let _ = self.watcher.tell(Word {
            id,
            mortal: self.mortal,
            number,
            life: self.watcher_life,
            who: ctx.me(),
            padding: vec![3; if large { LARGE } else { 4 } as usize],
        });
    }
}
