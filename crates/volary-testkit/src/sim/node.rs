//! A node: a simulated machine with its own clock, on which actor systems run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use volary::{ActorSystem, Env, Moment, SystemBuilder};

use super::clock::Clock;
use super::current::Here;
use super::env::NodeEnv;
use super::packet::Packet;
use super::trace::NodeNumber;
use super::world::World;
use super::{Bell, Ringing};

/// What a node does when it starts.
pub(crate) type Boot = Arc<dyn Fn(Node) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A simulated machine. It runs actor systems, has a clock of its own, and can crash, pause and start again.
///
/// ```
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim| async move {
///     let node = sim.node("a");
///     let system = node.start().await;
///     assert_eq!(system.name(), "a");
///     node.crash();
///     assert!(!node.is_up());
/// });
/// ```
#[derive(Clone)]
pub struct Node {
    pub(super) world: Arc<World>,
    pub(super) number: NodeNumber,
}

impl Node {
    /// Its name.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// assert_eq!(sim.node("a").name(), "a");
    /// # });
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        self.world.inner().node_name(self.number).to_owned()
    }

    /// Starts an actor system on this node, named after it.
    ///
    /// # Panics
    /// If the system does not start.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// let system = sim.node("a").start().await;
    /// assert_eq!(system.name(), "a");
    /// # }); }
    /// ```
    pub async fn start(&self) -> ActorSystem {
        self.start_with(|builder| builder).await
    }

    /// The same with settings of yours.
    ///
    /// # Panics
    /// If the system does not start, or the node is down.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// let system = sim.node("a").start_with(|b| b.settings(|s| s.ask_timeout(Duration::from_secs(1)))).await;
    /// assert_eq!(system.settings().ask_timeout(), Duration::from_secs(1));
    /// # }); }
    /// ```
    pub async fn start_with(&self, change: impl FnOnce(SystemBuilder) -> SystemBuilder) -> ActorSystem {
        assert!(self.is_up(), "{} is down; `restart` it first", self.name());
        let builder = ActorSystem::builder(self.name())
            .settings(|settings| settings.log_config(false))
            .environment(self.node_env());
        let system = match change(builder).start().await {
            Ok(system) => system,
            Err(error) => panic!("{} does not start: {error}", self.name()),
        };
        self.world.inner().node_mut(self.number).systems.push(system.clone());
        system
    }

    /// What its systems run on, for tests that build systems themselves. Such a system is not among
    /// [`systems`](Node::systems): a crash takes its tasks and timers, but what the test holds of it stays.
    #[doc(hidden)]
    #[must_use]
    pub fn env(&self) -> Arc<dyn Env> {
        Arc::new(self.node_env())
    }

    fn node_env(&self) -> NodeEnv {
        NodeEnv {
            incarnation: self.world.inner().nodes[self.number.0 as usize].incarnation,
            world: self.world.clone(),
            node: self.number,
        }
    }

    /// The actor systems that were started on it since it is up.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let node = sim.node("a");
    /// node.start().await;
    /// assert_eq!(node.systems().len(), 1);
    /// # });
    /// ```
    #[must_use]
    pub fn systems(&self) -> Vec<ActorSystem> {
        self.world.inner().nodes[self.number.0 as usize].systems.clone()
    }

    /// Runs a future on this node; it is gone when the node crashes, and stands still while it is paused.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (tell, told) = std::sync::mpsc::channel();
    /// sim.node("a").spawn(async move {
    ///     // a client
    ///     # tell.send(()).unwrap();
    /// });
    /// sim.sleep(Duration::from_millis(1)).await;
    /// # assert!(told.try_recv().is_ok());
    /// # }); }
    /// ```
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if self.is_up() {
            self.world.spawn(Some(self.number), Box::pin(future));
        }
    }

    /// What its monotonic clock shows.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let node = sim.node("a");
    /// let began = node.now();
    /// sim.sleep(Duration::from_secs(5)).await;
    /// assert!(node.now().since(began) >= Duration::from_secs(5));
    /// # });
    /// ```
    #[must_use]
    pub fn now(&self) -> Moment {
        self.node_env().now()
    }

    /// Waits by the clock of this node, which may not go right.
    ///
    /// Cancel safe: dropping it ends the waiting and nothing else.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::{Sim, sim::Clock};
    /// # Sim::new(1).run(|sim| async move {
    /// let node = sim.node("a");
    /// node.set_clock(Clock::true_time().drifting(500_000)); // half as fast again
    /// node.sleep(Duration::from_secs(3)).await;
    /// assert!(sim.now() < Duration::from_millis(2_001));
    /// # });
    /// ```
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + 'static {
        let (node, end) = (self.clone(), self.now() + time);
        async move {
            // Again, if the clock was changed meanwhile.
            while node.now() < end {
                node.world.sleep_on(node.number, end).await;
            }
        }
    }

    /// A random number, from the seed.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// let roll = || Sim::new(1).run(|sim| async move { sim.node("a").random() % 6 + 1 });
    /// assert_eq!(roll(), roll(), "the seed decides");
    /// ```
    #[must_use]
    pub fn random(&self) -> u64 {
        self.node_env().random()
    }

    /// Writes a line into the timeline, as something that happened here.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(1).run(|sim| async move {
    ///     sim.node("a").note("is the leader now");
    ///     assert!(sim.random() == 0, "by chance");
    /// });
    /// assert!(failed.unwrap_err().timeline().contains("is the leader now"));
    /// ```
    pub fn note(&self, what: impl fmt::Display) {
        self.world.note(Some(self.number), format_args!("{what}"));
    }

    /// Sends a packet to another node: late, lost or twice, as the [`Link`](super::Link) between them says. At the other end
    /// `arrive` runs once for each copy that gets there. Messages of actors go by [`Wire`](super::Wire); this is for code
    /// that brings a protocol of its own.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let heard = Arc::<AtomicU32>::default();
    /// # let counted = heard.clone();
    /// let (a, b) = (sim.node("a"), sim.node("b"));
    /// a.send(&b, "ping", move |a, b| b.send(&a, "pong", move |_, a| {
    ///     a.note("heard of b");
    ///     # counted.fetch_add(1, SeqCst);
    /// }));
    /// sim.sleep(Duration::from_millis(10)).await;
    /// # assert_eq!(heard.load(SeqCst), 1);
    /// # }); }
    /// ```
    pub fn send(&self, to: &Node, name: impl Into<String>, arrive: impl FnOnce(Node, Node) + Clone + Send + 'static) {
        let packet = Packet {
            from: self.number,
            to: to.number,
            name: Arc::from(name.into()),
        };
        let (from, to) = (self.clone(), to.clone());
        packet.send(&self.world, move |_| arrive(from, to));
    }

    /// Says what the node does when it starts, now and after each [`restart`](Node::restart), and does it, as a task of the
    /// node: it stands still while the node is paused, and a crash ends it. Returns when it is over, or the node has crashed.
    ///
    /// Cancel safe: dropping it ends the waiting, not what the node does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let boots = Arc::<AtomicU32>::default();
    /// # let counted = boots.clone();
    /// let node = sim.node("a");
    /// node.boot(move |node| {
    ///     # counted.fetch_add(1, SeqCst);
    ///     async move {
    ///         let system = node.start().await;
    ///         // spawn what should run there
    ///     }
    /// })
    /// .await;
    /// node.crash();
    /// node.restart().await;
    /// # assert_eq!(boots.load(SeqCst), 2);
    /// # }); }
    /// ```
    pub async fn boot<F>(&self, boot: impl Fn(Node) -> F + Send + Sync + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let boot: Boot = Arc::new(move |node| Box::pin(boot(node)));
        self.world.inner().node_mut(self.number).boot = Some(boot.clone());
        self.run_boot(&boot).await;
    }

    /// Runs it as a task of the node, so that it stands still and goes with it.
    async fn run_boot(&self, boot: &Boot) {
        let over = RingsAtLast(Arc::default());
        let heard = Ringing(over.0.clone());
        let booting = {
            let _here = Here::enter(&self.world, Some(self.number));
            boot(self.clone())
        };
        self.spawn(async move {
            let _over = over;
            booting.await;
        });
        heard.await;
    }

    /// The machine dies: what ran on it is gone without a word, and so is what was sent to it. Nothing happens to one that
    /// is down.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let node = sim.node("a");
    /// node.crash();
    /// assert!(!node.is_up());
    /// # });
    /// ```
    pub fn crash(&self) {
        if self.is_up() {
            self.world.note(Some(self.number), format_args!("crashes"));
            self.world.clear_node(self.number);
        }
    }

    /// Starts a node that is down, and does what [`boot`](Node::boot) said. Returns when that is over, or the node has crashed
    /// again.
    ///
    /// Cancel safe: dropping it ends the waiting, not what the node does.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// let node = sim.node("a");
    /// node.crash();
    /// node.restart().await;
    /// assert!(node.is_up());
    /// # });
    /// ```
    pub async fn restart(&self) {
        let boot = {
            let inner = &mut *self.world.inner();
            let state = inner.node_mut(self.number);
            if state.up {
                return;
            }
            state.up = true;
            state.boot.clone()
        };
        self.world.note(Some(self.number), format_args!("starts again"));
        if let Some(boot) = boot {
            self.run_boot(&boot).await;
        }
    }

    /// Stops the machine in its tracks, as `SIGSTOP` or a long pause of the garbage collector next door would. Its clock
    /// goes on, and packets to it wait.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// b.pause();
    /// assert!(!reaches(&sim, &a, &b).await);
    /// # }); }
    /// ```
    pub fn pause(&self) {
        self.set_paused(true, "stands still");
    }

    /// Lets a paused machine go on.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// b.pause();
    /// b.resume();
    /// assert!(reaches(&sim, &a, &b).await);
    /// # }); }
    /// ```
    pub fn resume(&self) {
        self.set_paused(false, "goes on");
    }

    fn set_paused(&self, paused: bool, what: &str) {
        let changed = {
            let inner = &mut *self.world.inner();
            let state = inner.node_mut(self.number);
            let changed = state.up && std::mem::replace(&mut state.paused, paused) != paused;
            if changed && !paused {
                inner.release_streams();
            }
            changed
        };
        if changed {
            self.world.note(Some(self.number), format_args!("{what}"));
        }
    }

    /// Changes how its clock goes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let (a, b) = (sim.node("a"), sim.node("b"));
    /// a.set_clock(Clock::true_time().drifting(500));
    /// # let (one, other) = (a.now(), b.now());
    /// sim.sleep(Duration::from_secs(1_000)).await;
    /// assert!(a.now().since(one) > b.now().since(other));
    /// # }); }
    /// ```
    pub fn set_clock(&self, clock: Clock) {
        let sleepers = {
            let inner = &mut *self.world.inner();
            let now = inner.now;
            let state = inner.node_mut(self.number);
            state.clock.change(now, clock);
            std::mem::take(&mut state.sleepers)
        };
        self.world.note(Some(self.number), format_args!("its clock: {clock:?}"));
        // Timers were computed by the old one; looking early does no harm.
        let now = self.world.now();
        self.world.timer_changed(self.number, now);
        sleepers.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    /// Whether it runs, perhaps paused.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(1).run(|sim| async move {
    /// assert!(sim.node("a").is_up());
    /// # });
    /// ```
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.world.inner().nodes[self.number.0 as usize].up
    }
}

/// Rings when it is dropped, however that comes about.
struct RingsAtLast(Arc<Bell>);

impl Drop for RingsAtLast {
    fn drop(&mut self) {
        self.0.ring();
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({}, {})", self.name(), if self.is_up() { "up" } else { "down" })
    }
}
