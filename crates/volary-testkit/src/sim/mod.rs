//! The simulator: whole systems of actors on one thread, in an order drawn from a seed, on virtual time.
//!
//! ```
//! use std::time::Duration;
//! use volary::prelude::*;
//! use volary_testkit::Sim;
//!
//! struct Account { cents: i64 }
//!
//! #[actor]
//! impl Account {
//!     fn deposit(&mut self, cents: i64) -> i64 {
//!         self.cents += cents;
//!         self.cents
//!     }
//! }
//!
//! // A hundred runs, each in another order.
//! Sim::check(100, |sim| async move {
//!     let system = sim.node("bank").start().await;
//!     let alice = system.spawn(|| Account { cents: 0 }).await.unwrap();
//!     for _ in 0..3 {
//!         alice.tell(Deposit { cents: 10 }).unwrap();
//!     }
//!     assert_eq!(alice.ask(Deposit { cents: 0 }).await.unwrap(), 30);
//! });
//! ```
//!
//! # What is deterministic
//!
//! Everything that goes through Volary: which actor runs next and for how many messages, where a suspended handler goes
//! on, when timers fire, `ctx` time, randomness and tasks, [wires](Wire) and [byte streams](SimStream) between nodes, and
//! their [disks](SimDisk). tokio's timers work inside handlers and
//! follow the virtual clock. The same seed and the same binary give the same trace, to the letter.
//!
//! Not deterministic, and therefore found and reported: `tokio::spawn` (use `ctx.spawn` or [`Node::spawn`]) and tokio's I/O (use a
//! [`Wire`], a [`SimStream`], or a trait of yours). What no simulator can see, such as the order of a `HashMap` or the real clock, shows when
//! [`Sim::check`] runs a sample of seeds twice: "nondeterminism at step N". [`interpose!`](crate::interpose) in a test
//! binary makes those two, and the randomness of other crates, part of the seed. Not so tokio's own, from which its `select!`
//! draws unless it is `biased`, and its `watch` channel whom of several it wakes first.
//!
//! A library whose runtime is a set of static functions finds the node that it runs on with [`current`].

mod chaos;
mod check;
mod choice;
mod clock;
mod current;
mod disk;
mod env;
pub(crate) mod interpose;
mod links;
mod network;
mod node;
mod packet;
mod panics;
mod report;
mod stream;
mod trace;
#[cfg(feature = "remote")]
mod transport;
mod wire;
mod world;

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use chaos::Chaos;
pub use check::{Check, FailedRun, Story, Summary, Verdict};
pub use choice::Strategy;
pub use clock::Clock;
pub use current::current;
pub use disk::{DiskFault, SimDisk};
pub(crate) use env::short;
pub use network::Link;
pub use node::Node;
pub use stream::{HalfClose, SimListener, SimReadHalf, SimStream, SimWriteHalf};
#[cfg(feature = "remote")]
pub use transport::SimTransport;
pub use wire::Wire;

use volary::{Message, Moment};
use world::{Beginning, When, World};

/// A run of a scenario under a seed; made by [`Sim::new`] or, many at once, by [`Sim::check`].
///
/// Cheap to clone: all clones are the same run.
///
/// ```
/// use volary_testkit::Sim;
///
/// Sim::new(7).run(|sim: Sim| async move { assert_eq!(sim.clone().seed(), 7) });
/// ```
#[derive(Clone)]
pub struct Sim {
    world: Arc<World>,
}

/// A seed that waits for its scenario; made by [`Sim::new`].
///
/// ```
/// use volary_testkit::{Sim, sim::SimBuilder};
///
/// let seventh: SimBuilder = Sim::new(7);
/// seventh.run(|_| async {});
/// ```
#[derive(Debug, Clone)]
#[must_use = "`run` runs a scenario"]
pub struct SimBuilder {
    beginning: Beginning,
}

impl SimBuilder {
    /// How the next step is chosen.
    ///
    /// ```
    /// use volary_testkit::{Sim, sim::Strategy};
    /// Sim::new(7).strategy(Strategy::Priorities { changes: 3 }).run(|_| async {});
    /// ```
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.beginning.strategy = strategy;
        self
    }

    /// Runs a scenario, and panics with a timeline if it fails.
    ///
    /// ```
    /// use volary_testkit::Sim;
    /// assert_eq!(Sim::new(7).run(|_| async { 6 * 7 }), 42);
    /// ```
    ///
    /// # Panics
    /// If the scenario panics, an invariant does not hold, or nothing can ever happen any more.
    pub fn run<F: Future>(self, scenario: impl FnOnce(Sim) -> F) -> F::Output {
        match check::run_here(self.beginning, scenario) {
            Ok(output) => output,
            Err(failed) => panic!("{failed}"),
        }
    }
}

impl Sim {
    /// A run under this seed.
    ///
    /// ```
    /// use volary_testkit::Sim;
    /// Sim::new(7).run(|sim| async move {
    ///     assert_eq!(sim.seed(), 7);
    /// });
    /// ```
    #[expect(clippy::new_ret_no_self, reason = "the run begins with its scenario")]
    pub fn new(seed: u64) -> SimBuilder {
        SimBuilder {
            beginning: Beginning {
                seed,
                keep: trace::Keep {
                    lines: true,
                    ..trace::Keep::default()
                },
                ..Beginning::default()
            },
        }
    }

    /// Runs a scenario under the seeds from 0 to `seeds`, on all cores, and panics with the first that fails: its seed,
    /// the fewest faults that it takes, and a timeline. [`Check`] has more to choose.
    ///
    /// The variable `VOLARY_SEED` runs one seed alone, to look at it.
    ///
    /// ```
    /// use volary_testkit::Sim;
    /// let summary = Sim::check(20, |sim| async move {
    ///     let system = sim.node("a").start().await;
    ///     system.stop().await.unwrap();
    /// });
    /// assert_eq!(summary.seeds, 20);
    /// ```
    ///
    /// # Panics
    /// With a report, if a seed fails.
    pub fn check<F, V>(seeds: u64, scenario: impl Fn(Sim) -> F + Send + Sync) -> Summary
    where
        F: Future<Output = V>,
        V: Verdict,
    {
        match Check::new().seeds(seeds).run(scenario) {
            Ok(summary) => summary,
            Err(failed) => panic!("{failed}"),
        }
    }

    /// The seed of this run.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// assert_eq!(sim.seed(), 3);
    /// # });
    /// ```
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.world.beginning.seed
    }

    /// A node of this name; a new one, if there is none yet.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// let node = sim.node("a");
    /// let same = sim.node("a");
    /// # assert_eq!(node.name(), same.name());
    /// # });
    /// ```
    #[must_use]
    pub fn node(&self, name: impl Into<String>) -> Node {
        let name = name.into();
        let inner = &mut *self.world.inner();
        let known = inner.nodes.iter().position(|node| node.name == name);
        let number = known.map_or_else(|| inner.new_node(name), |at| trace::NodeNumber(at as u32));
        Node {
            world: self.world.clone(),
            number,
        }
    }

    /// All nodes, in the order in which they were made.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// let _ = (sim.node("a"), sim.node("b"));
    /// assert_eq!(sim.nodes().len(), 2);
    /// # });
    /// ```
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let count = self.world.inner().nodes.len() as u32;
        let node = |number| Node {
            world: self.world.clone(),
            number: trace::NodeNumber(number),
        };
        (0..count).map(node).collect()
    }

    /// How long the run has lasted, in virtual time.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// sim.sleep(Duration::from_secs(7_200)).await;
    /// assert!(sim.now() >= Duration::from_secs(7_200));
    /// # });
    /// ```
    #[must_use]
    pub fn now(&self) -> Duration {
        self.world.now()
    }

    /// A random number, from the seed.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// let roll = || Sim::new(3).run(|sim| async move { sim.random() % 6 + 1 });
    /// assert_eq!(roll(), roll(), "the seed decides");
    /// ```
    #[must_use]
    pub fn random(&self) -> u64 {
        self.world.inner().chance.next()
    }

    /// Waits, in virtual time.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// let began = sim.node("a").now();
    /// sim.sleep(Duration::from_secs(86_400)).await; // a day, in no time
    /// assert!(sim.node("b").now().since(began) >= Duration::from_secs(86_400));
    /// # }); }
    /// ```
    pub fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.world.sleep(time)
    }

    /// Writes a line into the timeline.
    ///
    /// ```
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(1).run(|sim| async move {
    ///     sim.note("the transfer begins");
    ///     assert!(sim.random() == 0, "by chance");
    /// });
    /// assert!(failed.unwrap_err().timeline().contains("the transfer begins"));
    /// ```
    pub fn note(&self, what: impl fmt::Display) {
        self.world.note(None, format_args!("{what}"));
    }

    /// Something that must be true after every step of the run.
    ///
    /// ```
    /// # use std::sync::{Arc, atomic::{AtomicI64, Ordering::SeqCst}};
    /// # use volary_testkit::sim::Check;
    /// let failed = Check::new().seeds(1).run(|sim| async move {
    ///     let balance = Arc::new(AtomicI64::new(0));
    ///     let looked_at = balance.clone();
    ///     sim.invariant("nobody is overdrawn", move || match looked_at.load(SeqCst) {
    ///         0.. => Ok(()),
    ///         balance => Err(format!("the balance is {balance}")),
    ///     });
    ///     balance.store(-5, SeqCst);
    ///     # sim.sleep(std::time::Duration::from_secs(1)).await;
    /// });
    /// assert!(failed.unwrap_err().why().contains("the balance is -5"));
    /// ```
    pub fn invariant(&self, name: impl Into<String>, holds: impl FnMut() -> Result<(), String> + Send + 'static) {
        self.world.add_invariant(When::EveryStep, name.into(), Box::new(holds));
    }

    /// Something that must be true whenever nothing is left to do but timers: nobody is ready, and nothing is on its way. A
    /// scenario that sleeps is a timer, and so is trouble to come. What waits behind a link that is cut does not count as on
    /// its way. A run that ends without any rest fails: it would prove nothing.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use volary::prelude::*;
    /// # use volary_testkit::Sim;
    /// # struct Till(u64);
    /// # #[actor] impl Till { fn put(&mut self, cents: u64) { self.0 += cents; } }
    /// # Sim::new(3).run(|sim| async move {
    /// let till = sim.node("shop").start().await.spawn(|| Till(0)).await.unwrap();
    /// let looked_at = till.clone();
    /// sim.at_rest("nobody waits at the till", move || match looked_at.mailbox_len() {
    ///     0 => Ok(()),
    ///     waiting => Err(format!("{waiting} do")),
    /// });
    /// till.tell(Put { cents: 5 }).unwrap();
    /// sim.sleep(Duration::from_secs(1)).await;
    /// # });
    /// ```
    pub fn at_rest(&self, name: impl Into<String>, holds: impl FnMut() -> Result<(), String> + Send + 'static) {
        self.world.add_invariant(When::AtRest, name.into(), Box::new(holds));
    }

    /// Fails the run.
    ///
    /// ```should_panic
    /// # use volary_testkit::Sim;
    /// Sim::new(3).run(|sim| async move {
    ///     sim.fail("that was not right");
    ///     sim.sleep(std::time::Duration::from_secs(1)).await;
    /// });
    /// ```
    pub fn fail(&self, why: impl fmt::Display) {
        self.world.fail(why.to_string());
    }

    /// A way for messages from a node to the actor at a path of another.
    ///
    /// ```
    /// # use volary::prelude::*;
    /// # use volary_testkit::Sim;
    /// # #[derive(Message, Clone)] struct Ring;
    /// # Sim::new(7).run(|sim| async move {
    /// let wire = sim.wire::<Ring>(&sim.node("a"), &sim.node("b"), "/user/bell");
    /// # });
    /// ```
    #[must_use]
    pub fn wire<M: Message + Clone>(&self, from: &Node, to: &Node, path: impl Into<String>) -> Wire<M> {
        Wire {
            world: self.world.clone(),
            from: from.number,
            to: to.number,
            path: Arc::from(path.into()),
            message: PhantomData,
        }
    }

    /// Brings trouble upon the nodes there are, drawn from the seed, from now on. A failing run is tried again with fewer
    /// and fewer of it.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/packets.rs"));
    /// # fn main() { Sim::new(3).run(|sim| async move {
    /// # let boots = Arc::<AtomicU32>::default();
    /// # let counted = boots.clone();
    /// # sim.node("a").boot(move |_| { counted.fetch_add(1, SeqCst); async {} }).await;
    /// sim.chaos(&Chaos::within(Duration::from_secs(10)).crashes(1..=2).partitions(0..=2));
    /// sim.sleep(Duration::from_secs(11)).await; // it is over
    /// # assert!(boots.load(SeqCst) >= 2);
    /// # }); }
    /// ```
    pub fn chaos(&self, chaos: &Chaos) {
        let nodes = self.nodes();
        let plan = {
            let inner = &mut *self.world.inner();
            chaos.draw(&nodes, &mut inner.chance)
        };
        for planned in plan {
            let words = planned.in_words(&nodes);
            let number = {
                let inner = &mut *self.world.inner();
                inner.plan.push(words);
                inner.plan.len() - 1
            };
            let wanted = self.world.beginning.faults.as_ref();
            if wanted.is_none_or(|wanted| wanted.contains(&number)) {
                planned.schedule(&self.world, &nodes);
            }
        }
    }

    /// A hash of everything that happened so far: the same for the same seed.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// let hash = || Sim::new(3).run(|sim| async move {
    ///     sim.node("a").start().await;
    ///     sim.trace_hash()
    /// });
    /// assert_eq!(hash(), hash());
    /// ```
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.world.inner().trace.hash()
    }

    /// Everything that happened so far, one line each: time, node, actor, what it did. Empty in a [`Check`], which keeps the
    /// lines of failed runs alone.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// sim.note("the transfer begins");
    /// assert!(sim.timeline().contains("the transfer begins"));
    /// # });
    /// ```
    #[must_use]
    pub fn timeline(&self) -> String {
        report::whole(&self.world.inner())
    }

    /// How many lines the trace has so far.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// let before = sim.trace_length();
    /// sim.note("one line");
    /// assert_eq!(sim.trace_length(), before + 1);
    /// # });
    /// ```
    #[must_use]
    pub fn trace_length(&self) -> u64 {
        self.world.inner().trace.count()
    }

    /// How many steps were taken so far.
    ///
    /// ```
    /// # use volary_testkit::Sim;
    /// # Sim::new(3).run(|sim| async move {
    /// assert!(sim.steps() > 0);
    /// # });
    /// ```
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.world.inner().steps()
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim")
            .field("seed", &self.seed())
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

impl World {
    fn sleep(&self, time: Duration) -> Ringing {
        let bell = Arc::new(Bell::default());
        let ringer = bell.clone();
        self.after(time, Box::new(move |_| ringer.ring()));
        Ringing(bell)
    }

    /// Waits until the clock of a node has come to `at` if it goes on as it does; or until it is changed.
    fn sleep_on(&self, node: trace::NodeNumber, at: Moment) -> Ringing {
        let left = {
            let inner = self.inner();
            let at = inner.nodes[node.0 as usize].clock.world(at);
            // Never at the same instant again, whatever the clock's rounding says.
            at.saturating_sub(inner.now).max(Duration::from_nanos(1))
        };
        let ringing = self.sleep(left);
        let inner = &mut *self.inner();
        let sleepers = &mut inner.node_mut(node).sleepers;
        sleepers.retain(|sleeper| sleeper.strong_count() > 0);
        sleepers.push(Arc::downgrade(&ringing.0));
        ringing
    }
}

/// Rings once.
#[derive(Default)]
struct Bell(Mutex<(bool, Option<Waker>)>);

impl Bell {
    fn ring(&self) {
        let waker = {
            let mut bell = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            bell.0 = true;
            bell.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct Ringing(Arc<Bell>);

impl Future for Ringing {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let mut bell = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bell.0 {
            return Poll::Ready(());
        }
        bell.1 = Some(task.waker().clone());
        Poll::Pending
    }
}
