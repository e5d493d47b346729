//! Clerks write to each other, ask each other, and hire mortals for each other, whom they watch.
#![expect(clippy::too_many_arguments, reason = "each is a field of a message")]

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::{ActorId, Address};
use volary_remote::Remote;

use super::books::{Paper, Question};
use super::mortal::{Appear, Mortal};
use super::{CLERKS, NODES, at};

/// Larger than the chunks that the scenario sets.
pub(super) const LARGE: u64 = 5_000;

pub(super) struct Clerk {
    pub(super) node: usize,
    pub(super) life: usize,
    pub(super) number: usize,
    pub(super) remote: Remote,
    pub(super) paper: Paper,
    pub(super) watched: BTreeMap<ActorId, (u64, ActorRef<Mortal>)>,
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

    /// Nobody is waited for any more: whoever is still watched is where this node may not watch.
    pub(super) fn give_up(&mut self, ctx: &mut Context<Self>) {
        let me = self.name();
        for (mortal, who) in std::mem::take(&mut self.watched).into_values() {
            ctx.unwatch(&who);
            self.paper.open().gives_up(self.life, &me, mortal);
        }
    }

    #[message(remote = "sim.Letter", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) async fn letter(
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
    pub(super) async fn hire(
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
            let mortal = books.somebody();
            books.starts(mortal, self.life);
            mortal
        };
        let words = ctx.random() % 12;
        let (life, paper) = (self.life, self.paper.clone());
        let made = ctx.spawn_child(move || Mortal {
            mortal,
            life,
            watcher: watcher.clone(),
            watcher_node,
            watcher_life,
            words,
            paper: paper.clone(),
        });
        if let Ok(made) = made.named(format!("mortal-{mortal}")).await {
            let _ = made.tell(Appear);
        }
    }

    #[message(remote = "sim.Present", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) fn present(
        &mut self,
        id: u64,
        mortal: u64,
        who: ActorRef<Mortal>,
        life: usize,
        ctx: &mut Context<Self>,
    ) {
        self.hears(id, mortal, 1, life);
        let me = self.name();
        self.paper.open().watches(self.life, &me, mortal);
        ctx.watch(&who);
        self.watched.insert(who.id(), (mortal, who));
    }

    #[message(remote = "sim.Word", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) fn word(
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
        if let Some((mortal, _)) = self.watched.remove(&gone.id()) {
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

    #[actor(skip)]
    fn another_node(&self, ctx: &Context<Self>) -> usize {
        (self.node + 1 + ctx.random() as usize % (NODES - 1)) % NODES
    }

    /// A clerk of another node, and its name.
    #[actor(skip)]
    fn somebody_at(&self, node: usize, ctx: &Context<Self>) -> Option<(ActorRef<Clerk>, String)> {
        let number = ctx.random() as usize % CLERKS;
        let address = format!("volary://n{node}@{}/user/{}", at(node), clerk_name(number));
        let address: Address = address.parse().ok()?;
        Some((self.remote.actor(&address)?, format!("n{node}/{number}")))
    }

    #[actor(skip)]
    fn letter_to(&self, node: usize, to: &str, ctx: &Context<Self>) -> Letter {
        let from = format!("{} of life {}", self.name(), self.life);
        let mut books = self.paper.open();
        let large = ctx.random().is_multiple_of(12);
        Letter {
            id: books.write(self.life, node),
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
        let node = self.another_node(ctx);
        if let Some((peer, to)) = self.somebody_at(node, ctx) {
            let letter = self.letter_to(node, &to, ctx);
            self.paper.tell(&peer, letter.id, letter);
        }
    }

    #[actor(skip)]
    fn inquire(&self, ctx: &Context<Self>) {
        let node = self.another_node(ctx);
        let Some((peer, to)) = self.somebody_at(node, ctx) else {
            return;
        };
        let patience = Duration::from_millis(50 + ctx.random() % 3_000);
        // Tasks begin in any order, so each is a sender of its own.
        let mut letter = self.letter_to(node, &to, ctx);
        letter.from = format!("{} asks {}", self.name(), letter.id);
        let question = Question {
            life: self.life,
            id: letter.id,
            number: letter.number,
            message: letter,
            patience,
        };
        ctx.spawn(self.paper.clone().ask(ctx.system().clone(), peer, question));
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
        let Some(node) = other else { return };
        let Some((peer, to)) = self.somebody_at(node, ctx) else {
            return;
        };
        let from = format!("{} of life {}", self.name(), self.life);
        let hire = {
            let mut books = self.paper.open();
            Hire {
                id: books.write(self.life, node),
                number: books.next_number(&from, &to),
                from,
                watcher,
                watcher_node,
                watcher_life,
            }
        };
        self.paper.tell(&peer, hire.id, hire);
    }
}
