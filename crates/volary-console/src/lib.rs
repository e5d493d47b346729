//! A small HTTP endpoint beside an actor system, for probes and for Prometheus.
//!
//! | path | answer |
//! |---|---|
//! | `/health` | 200 while the process can answer at all |
//! | `/ready` | 200, and 503 from the moment on that a stop begins |
//! | `/metrics` | all figures in the text format of Prometheus |
//!
//! ```text
//!   accept ──▶ connection ──▶ request ──▶ routes ──▶ exposition
//!   (bounded)  (deadlines)    (parser)               (text)
//! ```
//!
//! It listens on the loopback interface unless it is told by name to go beyond, takes one request per connection, and
//! everything about a connection has a bound: its number, the size of a request, and the time of each step. It answers
//! until the actors of the system have stopped, so that a probe can see the shutdown, and then closes by itself.
//!
//! ```
//! use volary_console::Console;
//! use volary_core::ActorSystem;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let system = ActorSystem::builder("shop").start().await?;
//! let console = Console::bind("127.0.0.1:0").serve(&system)?;
//! println!("curl http://{}/metrics", console.local_addr());
//! system.stop().await?; // closes it
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod closing;
mod connection;
mod console;
mod exposition;
mod request;
mod response;
mod routes;
mod running;
mod traffic;

pub use console::{Console, ConsoleError};
pub use running::Running;
pub use traffic::Traffic;
