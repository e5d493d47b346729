//! Wires: messages of actors across the simulated network.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use volary::Message;

use super::env::short;
use super::packet::Packet;
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
        let name: Arc<str> = Arc::from(short(std::any::type_name::<M>()));
        let packet = Packet {
            from: self.from,
            to: self.to,
            name: name.clone(),
        };
        let (to, path) = (self.to, self.path.clone());
        packet.send(&self.world, move |world| {
            let systems = world.inner().nodes[to.0 as usize].systems.clone();
            match systems.iter().find_map(|system| system.recipient::<M>(&path)) {
                Some(recipient) => {
                    if recipient.tell(message).is_err() {
                        world.note(Some(to), format_args!("{path} refuses {name}"));
                    }
                }
                None => world.note(Some(to), format_args!("{name} finds nobody at {path}")),
            }
        });
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
