//! Connections of which one direction is gone while the other lives.

use super::super::trace::NodeNumber;
use super::super::world::Inner;
use super::connections::Standing;
use super::pipe::Item;

/// How one direction of a connection goes while the other lives; see [`Sim::half_close`](crate::Sim::half_close).
///
/// ```
/// use std::time::Duration;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use volary_testkit::Sim;
/// use volary_testkit::sim::HalfClose;
///
/// Sim::new(7).run(|sim| async move {
///     let (a, b) = (sim.node("a"), sim.node("b"));
///     let listener = b.listen(80)?;
///     let mut client = a.connect("b", 80).await?;
///     let (mut server, _) = listener.accept().await?;
///     sim.half_close(&a, &b, HalfClose::Ended);
///     assert_eq!(server.read(&mut [0; 8]).await?, 0);
///     server.write_all(b"x").await?;
///     assert_eq!(client.read(&mut [0; 8]).await?, 1); // the other direction lives
///     Ok::<(), std::io::Error>(())
/// })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HalfClose {
    /// Whoever reads sees an end of file behind what was on its way. Whoever writes is told nothing: what it writes from
    /// then on is taken, and read by nobody.
    Ended,
    /// Nothing arrives any more, nor that the other end was closed or reset: only silence tells. Whoever writes can do so
    /// until 64 KiB are on their way.
    Silent,
}

impl Inner {
    /// The direction from one node to another goes, of all connections that there are.
    pub(crate) fn half_close(&mut self, from: NodeNumber, to: NodeNumber, how: HalfClose) {
        for (number, side) in self.connections.directions(from, to) {
            let Some(connection) = self.connections.get(number) else {
                continue;
            };
            let is_open = connection.end(side).standing == Standing::Open;
            let pipe = connection.from(side);
            match how {
                HalfClose::Silent => pipe.silent = true,
                // One that is still being made has no end to be read.
                HalfClose::Ended if !is_open || pipe.ended => {}
                HalfClose::Ended => self.send_item(number, side, Item::End),
            }
        }
    }
}
