//! Fakes: what stands in for a part of the runtime in a test, and does as it is told.
//!
//! | trait | its fake |
//! |---|---|
//! | [`Mailbox`](volary::Mailbox) | [`FakeMailbox`] writes down, refuses, reorders, panics |
//! | [`Env`](volary::Env) | [`FakeClock`] has a clock and a calendar that the test sets |

mod clock;
mod mailbox;

pub use clock::FakeClock;
pub use mailbox::FakeMailbox;
