//! Probes: actors that a test holds in its hands, to see what others send and to answer in somebody's place.
//!
//! ```
//! use volary::prelude::*;
//! use volary_testkit::{Probe, TestKit};
//!
//! #[derive(Debug, PartialEq, Message)]
//! struct Greeting(String);
//!
//! struct Greeter { to: Recipient<Greeting> }
//!
//! #[actor]
//! impl Greeter {
//!     fn greet(&mut self, name: String) {
//!         let _ = self.to.tell(Greeting(format!("hello, {name}")));
//!     }
//! }
//!
//! let kit = TestKit::new(); // or any system, in a `#[tokio::test]` or a `Sim`
//! kit.run(async {
//!     let mut probe = Probe::<Greeting>::new(kit.system()).await;
//!     let to = probe.recipient();
//!     let greeter = kit.system().spawn(move || Greeter { to: to.clone() }).await.unwrap();
//!     greeter.tell(Greet { name: "Ada".to_owned() }).unwrap();
//!     probe.expect(Greeting("hello, Ada".to_owned())).await;
//! });
//! ```
//!
//! Whatever is expected may take three seconds of the system's clock, or as long as [`Probe::within`] says. An
//! expectation that is not met fails the test and says what was expected, where, how long it waited, and what came
//! instead:
//!
//! ```text
//! probe /user/$1 expected Greeting("hello, Ada")
//!   at tests/greeter.rs:24:11
//!   waited 0ns of 3s, by the clock of the system
//!   what came, in order:
//!     1. Greeting("hello, ")
//! ```
//!
//! A [`MultiProbe`] takes messages of several types, and keeps their order across types.

mod actor;
mod arrivals;
mod builder;
mod inbox;
mod multi;
mod single;
mod unmet;

pub use actor::{MessageSet, ProbeActor};
pub use builder::ProbeBuilder;
pub use multi::MultiProbe;
pub use single::Probe;
