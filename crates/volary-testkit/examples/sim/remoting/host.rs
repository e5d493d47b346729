//! Hosts use what nodes can do for each other beside messages: they let guests be started on other nodes, look for them,
//! watch them, talk with them, and stop them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use volary::prelude::*;
use volary::{ActorId, Address};
use volary_remote::{OperationError, Remote, RemoteSpawnError, Right};

use super::books::{Known, Paper, Question, Wish};
use super::clerk::Clerk;
use super::guest::{Chat, Guest, Meet, guest_name};
use super::{NODES, OPERATION_TIMEOUT, at};

pub(super) struct Host {
    pub(super) node: usize,
    pub(super) life: usize,
    pub(super) remote: Remote,
    pub(super) paper: Paper,
    pub(super) guests: BTreeMap<ActorId, Visit>,
    /// It is quiet, and there is nobody to look after.
    pub(super) rests: bool,
}

/// A guest that has come.
#[derive(Clone)]
pub(super) struct Visit {
    guest: u64,
    node: usize,
    who: ActorRef<Guest>,
}

#[actor(kind = "sim.Host", remote(Remark))]
impl Host {
    /// Does something, and comes back for more until everybody has left.
    pub(super) async fn receive(&mut self, ctx: &mut Context<Self>) {
        let quiet = self.paper.open().quiet;
        self.rests = quiet && self.guests.is_empty();
        if self.rests {
            return;
        }
        let pause = if quiet {
            self.guests.values().for_each(|visit| self.send_home(visit, ctx));
            Duration::from_secs(1)
        } else {
            self.entertain(ctx);
            Duration::from_millis(50 + ctx.random() % 500)
        };
        ctx.sleep(pause).await;
        let _ = ctx.me().tell(Receive); // refused when the node stops
    }

    /// A guest has started: it is watched from now on.
    fn welcome(&mut self, guest: u64, node: usize, who: ActorRef<Guest>, ctx: &mut Context<Self>) {
        self.paper.open().watches(self.life, &self.name(), guest);
        ctx.watch(&who);
        let (id, number) = self.next(guest, node);
        let meet = Meet {
            id,
            from: self.from(),
            number,
            host: ctx.me(),
            node: self.node,
            life: self.life,
        };
        self.paper.tell(&who, id, meet);
        self.guests.insert(who.id(), Visit { guest, node, who });
        if std::mem::take(&mut self.rests) {
            let _ = ctx.me().tell(Receive);
        }
    }

    /// This node may not stop the guest, who stays; or may not hear of its end.
    fn let_be(&mut self, who: ActorRef<Guest>, ctx: &mut Context<Self>) {
        if let Some(visit) = self.guests.remove(&who.id()) {
            self.paper.open().gives_up(self.life, &self.name(), visit.guest);
            ctx.unwatch(&who);
        }
    }

    #[message(remote = "sim.Remark", codec = postcard, derive(Serialize, Deserialize))]
    pub(super) fn remark(&mut self, id: u64, guest: u64, number: u64, life: usize) {
        let me = self.name();
        let mut books = self.paper.open();
        books.arrived(self.life, id, &guest_name(guest), &me, number);
        books.speaks(self.life, &me, guest);
        if life != self.life {
            books.wrong(format!("{me} of life {} gets mail for life {life}", self.life));
        }
    }

    #[handles]
    fn terminated(&mut self, gone: Terminated) {
        if let Some(visit) = self.guests.remove(&gone.id()) {
            self.paper.open().gone(self.life, &self.name(), visit.guest);
        }
    }

    #[actor(skip)]
    fn name(&self) -> String {
        format!("host of n{}", self.node)
    }

    #[actor(skip)]
    fn from(&self) -> String {
        format!("{} in life {}", self.name(), self.life)
    }

    /// Id and number of a message to a guest.
    #[actor(skip)]
    fn next(&self, guest: u64, node: usize) -> (u64, u64) {
        let mut books = self.paper.open();
        let number = books.next_number(&self.from(), &guest_name(guest));
        (books.write(self.life, node), number)
    }

    #[actor(skip)]
    fn wish(&self, node: usize, guest: u64, right: Right) -> Wish {
        let life = self.life;
        let wish = Wish {
            life,
            node,
            right,
            guest,
        };
        self.paper.open().wishes(&wish);
        wish
    }

    #[actor(skip)]
    fn entertain(&self, ctx: &Context<Self>) {
        let number = ctx.random() as usize % self.guests.len().max(1);
        let choice = ctx.random() % 10;
        match (choice, self.guests.values().nth(number)) {
            (0, _) => self.invite_one_who_may_not_come(ctx),
            (1..=3, _) | (_, None) => self.invite(ctx),
            (4, Some(visit)) => self.look_for(visit, ctx),
            (5, Some(visit)) => self.send_home(visit, ctx),
            (6, Some(visit)) => {
                self.paper.open().told_to_stop(visit.guest);
                visit.who.stop();
            }
            (7, Some(visit)) => self.ask(visit, ctx),
            (_, Some(visit)) => self.talk_to(visit),
        }
    }

    #[actor(skip)]
    fn another_node(&self, ctx: &Context<Self>) -> usize {
        (self.node + 1 + ctx.random() as usize % (NODES - 1)) % NODES
    }

    #[actor(skip)]
    fn invite(&self, ctx: &Context<Self>) {
        let (node, guest) = (self.another_node(ctx), self.paper.open().somebody());
        let wish = self.wish(node, guest, Right::Spawn);
        let spawn = self.remote.spawn::<Guest>(at(node), guest_name(guest));
        let spawn = spawn.argument(guest.to_be_bytes().to_vec());
        let (paper, me, system) = (self.paper.clone(), ctx.me(), ctx.system().clone());
        let deadline = system.now() + OPERATION_TIMEOUT;
        ctx.spawn(async move {
            let spawned = operation(spawn.await);
            let spawned = spawned.unwrap_or_else(|error| {
                paper.open().wrong(format!("{wish:?}: {error}"));
                Err(OperationError::Remote(volary::RemoteError::Unconfirmed {
                    node: at(node),
                }))
            });
            let late = system.now().since(deadline);
            paper.open().granted(&wish, late, &spawned);
            if let Ok(who) = spawned {
                let _ = me.tell(Welcome { guest, node, who });
            }
        });
    }

    /// Clerks can be written to, and still nobody outside may start one.
    #[actor(skip)]
    fn invite_one_who_may_not_come(&self, ctx: &Context<Self>) {
        let node = self.another_node(ctx);
        let spawn = self.remote.spawn::<Clerk>(at(node), "stowaway");
        let paper = self.paper.clone();
        ctx.spawn(async move {
            let is_right = match spawn.await {
                Err(RemoteSpawnError::NotSpawnable { .. }) => true,
                other => matches!(operation(other.map(drop)), Ok(Err(_))),
            };
            if !is_right {
                paper
                    .open()
                    .wrong(format!("n{node} starts a kind that it does not allow"));
            }
        });
    }

    #[actor(skip)]
    fn look_for(&self, visit: &Visit, ctx: &Context<Self>) {
        let wish = self.wish(visit.node, visit.guest, Right::Inspect);
        let (there, who) = (self.remote.at(at(visit.node)), visit.who.address());
        let (paper, system) = (self.paper.clone(), ctx.system().clone());
        let deadline = system.now() + OPERATION_TIMEOUT;
        let path = format!("/user/{}", guest_name(visit.guest));
        ctx.spawn(async move {
            let found = there.lookup(path).await;
            let late = system.now().since(deadline);
            let mut books = paper.open();
            books.granted(&wish, late, &found);
            match found {
                Ok(None) => books.must_be_gone(&wish),
                // A name is given to one only.
                Ok(Some(found)) if !is_same(&found, &who) => {
                    books.wrong(format!("{found} is found where {who} lives"));
                }
                _ => {}
            }
        });
    }

    #[actor(skip)]
    fn send_home(&self, visit: &Visit, ctx: &Context<Self>) {
        let wish = self.wish(visit.node, visit.guest, Right::Control);
        let (there, who) = (self.remote.at(at(visit.node)), visit.who.clone());
        let (paper, me, system) = (self.paper.clone(), ctx.me(), ctx.system().clone());
        let deadline = system.now() + OPERATION_TIMEOUT;
        ctx.spawn(async move {
            let stopped = there.stop(who.address()).await;
            let late = system.now().since(deadline);
            let known = paper.open().granted(&wish, late, &stopped);
            let in_vain = known == Known::Nobody && paper.open().watches_in_vain(wish.life, wish.guest);
            if known == Known::Forbidden || in_vain {
                let _ = me.tell(LetBe { who });
            }
        });
    }

    #[actor(skip)]
    fn talk_to(&self, visit: &Visit) {
        let (id, number) = self.next(visit.guest, visit.node);
        let from = self.from();
        self.paper.tell(&visit.who, id, Chat { id, from, number });
    }

    #[actor(skip)]
    fn ask(&self, visit: &Visit, ctx: &Context<Self>) {
        let (id, number) = self.next(visit.guest, visit.node);
        // Tasks begin in any order, so each is a sender of its own.
        let from = format!("{} asks {id}", self.name());
        let question = Question {
            life: self.life,
            id,
            number,
            message: Chat { id, from, number },
            patience: Duration::from_millis(50 + ctx.random() % 2_000),
        };
        let asking = self
            .paper
            .clone()
            .ask(ctx.system().clone(), visit.who.clone(), question);
        ctx.spawn(asking);
    }
}

/// What an invitation comes to as an operation; otherwise the node has refused a guest that it should have taken.
fn operation<T>(spawned: Result<T, RemoteSpawnError>) -> Result<Result<T, OperationError>, RemoteSpawnError> {
    match spawned {
        Ok(who) => Ok(Ok(who)),
        Err(RemoteSpawnError::Operation(error)) => Ok(Err(error)),
        Err(other) => Err(other),
    }
}

fn is_same(one: &Address, other: &Address) -> bool {
    one.path() == other.path() && one.uid() == other.uid()
}
