//! What becomes of connections when a node crashes.

use std::task::Waker;
use std::time::Duration;

use super::super::trace::NodeNumber;
use super::super::world::Inner;
use super::connections::{Side, Standing};
use super::pipe::Item;

/// Within which peers hear of the crash of a node; one in four hears of it only after the longer time.
const HEARD_SOON: Duration = Duration::from_millis(500);
const HEARD_LATE: Duration = Duration::from_secs(30);

impl Inner {
    /// A node has died, and its ends of connections with it. Peers hear of it late, and not at all while they are cut off.
    pub(crate) fn crash_connections(&mut self, node: NodeNumber) -> Vec<Waker> {
        let mut wakers = Vec::new();
        self.connections.listeners.retain(|(home, _), listener| {
            if *home == node {
                wakers.extend(listener.acceptor.take());
            }
            *home != node
        });
        let numbers: Vec<u64> = self.connections.open.keys().copied().collect();
        for number in numbers {
            for side in [Side::Connector, Side::Acceptor] {
                let Some(connection) = self.connections.open.get_mut(&number) else {
                    continue;
                };
                let end = connection.end(side);
                if end.node != node || !matches!(end.standing, Standing::Open | Standing::Waiting) {
                    continue;
                }
                end.standing = Standing::Dead;
                end.is_held = false;
                wakers.extend(connection.from(side.other()).reader.take());
                wakers.extend(connection.from(side).writer.take());
                // Some of what was sent is on the wire already. What was held up nobody sends again.
                let pipe = connection.from(side);
                let kept = if pipe.stalled {
                    0
                } else {
                    self.chance.below(pipe.under_way() as u64 + 1) as usize
                };
                pipe.cut_off(kept);
                let longest = if self.chance.below(4) == 0 {
                    HEARD_LATE
                } else {
                    HEARD_SOON
                };
                let heard = self.now + Duration::from_nanos(self.chance.below(longest.as_nanos() as u64));
                pipe.send(heard, Item::Reset);
                self.await_arrival(number, side);
                self.forget_if_over(number);
            }
        }
        wakers
    }
}
