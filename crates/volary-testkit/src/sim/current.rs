//! The node whose code runs right now, for libraries that ask a static function what time it is or where to spawn.

use std::cell::RefCell;
use std::sync::Arc;

use super::interpose;
use super::node::Node;
use super::trace::NodeNumber;
use super::world::World;

thread_local! {
    static CURRENT: RefCell<Option<Node>> = const { RefCell::new(None) };
}

/// The node whose code runs on this thread: its tasks, handlers of its actors, its timers and what packets do when they
/// arrive there. `None` in the scenario itself, which is on no node, and outside of all runs.
///
/// Some libraries want their runtime as a type with static functions, which have nobody to ask for a handle. They spawn, sleep
/// and draw with what this gives: [`Node::spawn`], [`Node::sleep`], [`Node::now`], [`Node::random`].
///
/// ```
/// use std::time::Duration;
/// use volary_testkit::{Sim, sim};
///
/// /// What a library would call.
/// fn spawn(task: impl Future<Output = ()> + Send + 'static) {
///     sim::current().expect("a library is called on a node").spawn(task);
/// }
///
/// Sim::new(7).run(|sim| async move {
///     assert!(sim::current().is_none());
///     sim.node("a").spawn(async {
///         spawn(async { assert_eq!(sim::current().unwrap().name(), "a") });
///     });
///     sim.sleep(Duration::from_millis(1)).await;
/// });
/// ```
#[must_use]
pub fn current() -> Option<Node> {
    // A destructor of the thread may ask when there is nothing left to ask.
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}

/// While this lives, code of a node runs, or of none: [`current`] says so, and interposed clocks show its time.
pub(crate) struct Here<'a> {
    world: &'a Arc<World>,
    outer: Option<Node>,
    clock: interpose::Shown,
}

impl<'a> Here<'a> {
    pub(crate) fn enter(world: &'a Arc<World>, node: Option<NodeNumber>) -> Self {
        let clock = interpose::Shown::new(world.clocks(node));
        let node = node.map(|number| Node {
            world: world.clone(),
            number,
        });
        Here {
            world,
            outer: CURRENT.replace(node),
            clock,
        }
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        let left = CURRENT.replace(self.outer.take());
        drop(left);
        // Reading a clock takes a moment, so that code which waits by looking at one gets somewhere.
        let passed = self.clock.passed();
        if !passed.is_zero() {
            // Twice as much as was shown: no clock goes back at the next step, not even one at half the speed.
            self.world.pass(2 * passed);
        }
    }
}
