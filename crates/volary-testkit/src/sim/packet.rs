//! One packet on its way from a node to another.

use std::sync::Arc;
use std::time::Duration;

use super::current::Here;
use super::trace::NodeNumber;
use super::world::World;

/// How long a packet waits at the door of a machine that stands still before it is looked at again.
const DOORSTEP: Duration = Duration::from_millis(1);

/// From where to where, and what it is called in the trace.
#[derive(Clone)]
pub(crate) struct Packet {
    pub(crate) from: NodeNumber,
    pub(crate) to: NodeNumber,
    pub(crate) name: Arc<str>,
}

impl Packet {
    /// Sends it, late, lost or twice as the link says. `arrive` runs at the other end, once for each copy that gets there.
    pub(crate) fn send(self, world: &Arc<World>, arrive: impl FnOnce(&Arc<World>) + Clone + Send + 'static) {
        let arrivals = {
            let inner = &mut *world.inner();
            if !inner.nodes[self.from.0 as usize].up {
                return; // a dead node sends nothing
            }
            let (now, from, to) = (inner.now, self.from, self.to);
            let arrivals = inner.network.send(now, from, to, &mut inner.chance);
            let (name, target) = (&self.name, inner.node_name(to).to_owned());
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
        let mut copies = vec![(self, arrive); arrivals.len()];
        for at in arrivals {
            let Some((packet, arrive)) = copies.pop() else { continue };
            let delay = at.saturating_sub(world.now());
            world.arrive_after(delay, Box::new(move |world| packet.knock(world, arrive)));
        }
    }

    fn knock(self, world: &Arc<World>, arrive: impl FnOnce(&Arc<World>) + Send + 'static) {
        let Packet { from, to, name } = &self;
        let (cut, up, paused) = {
            let inner = world.inner();
            let node = &inner.nodes[to.0 as usize];
            (inner.network.is_cut(*from, *to), node.up, node.stands_still())
        };
        if cut {
            world.note(Some(*to), format_args!("{name} is lost: the link was cut meanwhile"));
        } else if !up {
            world.note(Some(*to), format_args!("{name} is lost: the node is down"));
        } else if paused {
            world.arrive_after(DOORSTEP, Box::new(move |world| self.knock(world, arrive)));
        } else {
            let _here = Here::enter(world, Some(*to));
            arrive(world);
        }
    }
}
