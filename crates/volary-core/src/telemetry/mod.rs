//! What is measured of messages: how long they wait, how long they take, and which trace they are part of.
//!
//! Off unless the builder says otherwise. On, one message in so many is stamped when it is sent; whoever handles it
//! looks at the clock before and after. Everything else goes its usual way.

mod census;
mod histogram;
mod instrument;
mod kinds;
mod meter;
mod options;
mod sample;
mod source;

pub use census::KindCensus;
pub use histogram::{BOUNDS, Histogram};
pub use instrument::{Instrument, InstrumentKind, Point};
pub use meter::{KindReading, Readings};
pub(crate) use meter::{Meter, Rare, span_id};
pub use options::{Cardinality, Telemetry};
pub use sample::{Begun, Sample, TelemetrySink};
pub use source::InstrumentSource;
pub(crate) use source::Sources;
