//! Wires: messages of actors across the simulated network.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use volary::{Message, Recipient};

use super::env::short;
use super::trace::NodeNumber;
use super::world::World;

/// Sends messages from one node to an actor on another, over the simulated network: late, lost, twice or out of order, as
/// the [`Link`](super::Link) between them says.
///
/// It finds the receiver by its path when a packet arrives, so it goes on working when the node there was restarted.
///
/// ```
/// use std::time::Duration;
/// use volary::prelude::*;
/// use volary_testkit::Sim;
///
/// struct Bell(u32);
///
/// #[derive(Message, Clone)]
/// struct Ring;
///
/// #[actor]
/// impl Bell {
///     #[handles]
///     fn ring(&mut self, _: Ring) { self.0 += 1; }
///     fn rung(&mut self) -> u32 { self.0 }
/// }
///
/// Sim::new(7).run(|sim| async move {
///     let (a, b) = (sim.node("a"), sim.node("b"));
///     let bell = b.start().await.spawn(|| Bell(0)).named("bell").await.unwrap();
///     let wire = sim.wire::<Ring>(&a, &b, "/user/bell");
///     wire.tell(Ring);
///     sim.sleep(Duration::from_millis(5)).await;
///     assert_eq!(bell.ask(Rung).await.unwrap(), 1);
/// });
/// ```
pub struct Wire<M> {
    pub(super) world: Arc<World>,
    pub(super) from: NodeNumber,
    pub(super) to: NodeNumber,
    pub(super) path: Arc<str>,
    pub(super) message: PhantomData<fn(M)>,
}

impl<M: Message + Clone> Wire<M> {
    /// Sends a message. Whether it arrives, nobody knows.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::Sim;
    /// # #[derive(Message, Clone)] struct Ring;
    /// # Sim::new(7).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// sim.wire::<Ring>(&a, &b, "/user/bell").tell(Ring); // nobody is there
    /// # });
    /// ```
    pub fn tell(&self, message: M) {
        let name = short(std::any::type_name::<M>());
        let arrivals = {
            let inner = &mut *self.world.inner();
            if !inner.nodes[self.from.0 as usize].up {
                return; // a dead node sends nothing
            }
            let (now, from, to) = (inner.now, self.from, self.to);
            let arrivals = inner.network.send(now, from, to, &mut inner.chance);
            let target = inner.node_name(to).to_owned();
            let fate = match arrivals.len() {
                0 => ", lost",
                1 => "",
                _ => ", twice",
            };
            inner
                .trace
                .note(now, Some(from), None, format_args!("sends {name} to {target}{fate}"));
            arrivals
        };
        let mut copies = vec![message; arrivals.len()];
        for at in arrivals {
            let Some(message) = copies.pop() else { continue };
            let delay = at.saturating_sub(self.world.now());
            self.world.after(delay, self.arrival(message));
        }
    }

    fn arrival(&self, message: M) -> super::world::Happening {
        let (from, to, path) = (self.from, self.to, self.path.clone());
        Box::new(move |world| arrive(world, from, to, &path, message))
    }

    /// The nodes at its ends, and the path.
    fn ends(&self) -> String {
        let inner = self.world.inner();
        let (from, to) = (inner.node_name(self.from), inner.node_name(self.to));
        format!("{from} -> {to}{}", self.path)
    }

    /// Where it leads to.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::Sim;
    /// # #[derive(Message, Clone)] struct Ring;
    /// # Sim::new(7).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// assert_eq!(sim.wire::<Ring>(&a, &b, "/user/bell").path(), "/user/bell");
    /// # });
    /// ```
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// How long a packet waits at the door of a machine that stands still before it is looked at again.
const DOORSTEP: Duration = Duration::from_millis(1);

/// What becomes of a packet at the other end.
enum Fate<M: Message> {
    Taken(Option<Recipient<M>>),
    Later,
    Lost(&'static str),
}

fn arrive<M: Message + Clone>(world: &Arc<World>, from: NodeNumber, to: NodeNumber, path: &Arc<str>, message: M) {
    let name = short(std::any::type_name::<M>());
    let fate = {
        let inner = world.inner();
        let node = &inner.nodes[to.0 as usize];
        if inner.network.is_cut(from, to) {
            Fate::Lost("the link was cut meanwhile")
        } else if !node.up {
            Fate::Lost("the node is down")
        } else if node.paused {
            Fate::Later
        } else {
            let systems = node.systems.clone();
            drop(inner);
            Fate::Taken(systems.iter().find_map(|system| system.recipient::<M>(path)))
        }
    };
    match fate {
        Fate::Taken(Some(recipient)) => {
            if recipient.tell(message).is_err() {
                world.note(Some(to), format_args!("{path} refuses {name}"));
            }
        }
        Fate::Taken(None) => world.note(Some(to), format_args!("{name} finds nobody at {path}")),
        Fate::Lost(why) => world.note(Some(to), format_args!("{name} is lost: {why}")),
        Fate::Later => {
            let path = path.clone();
            world.after(DOORSTEP, Box::new(move |world| arrive(world, from, to, &path, message)));
        }
    }
}

impl<M> Clone for Wire<M> {
    fn clone(&self) -> Self {
        Wire {
            world: self.world.clone(),
            from: self.from,
            to: self.to,
            path: self.path.clone(),
            message: PhantomData,
        }
    }
}

impl<M: Message + Clone> fmt::Debug for Wire<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wire({})", self.ends())
    }
}
