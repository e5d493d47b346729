//! What certificates lead to, without TLS. It does not run here: rustls takes the keys of each connection from the randomness
//! of the machine, and so no run would be the same twice. But remoting sees of it no more than this: who the other side is
//! for certain, and connections that end before anything was said on them.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::Duration;

use volary_remote::transport::{BoxFuture, Connection, Identity, Listener, Transport};
use volary_testkit::Sim;
use volary_testkit::sim::SimTransport;

use super::{NODES, TROUBLE};

/// What is wrong with a passport for some time.
#[derive(Debug, Clone, Copy)]
enum Flaw {
    Expired,
    OfAnother,
}

/// The passports of all nodes, and when they are no good. They are in the end.
pub(super) struct Passports([Option<(Flaw, Range<Duration>)>; NODES]);

impl Passports {
    pub(super) fn draw(sim: &Sim) -> Self {
        let moment = || Duration::from_millis(sim.random() % TROUBLE.as_millis() as u64);
        Passports(std::array::from_fn(|_| {
            let flaw = match sim.random() % 12 {
                0 => Flaw::Expired,
                1 => Flaw::OfAnother,
                _ => return None,
            };
            let (one, other) = (moment(), moment());
            Some((flaw, one.min(other)..one.max(other)))
        }))
    }

    /// Whom a host can show to be.
    fn identity(&self, host: &str, now: Duration) -> io::Result<Identity> {
        let number = host.strip_prefix('n').and_then(|number| number.parse::<usize>().ok());
        let passport = number.and_then(|number| self.0.get(number)?.as_ref());
        match passport.filter(|(_, when)| when.contains(&now)) {
            Some((Flaw::Expired, _)) => Err(io::Error::new(io::ErrorKind::InvalidData, "it has expired")),
            Some((Flaw::OfAnother, _)) => Ok(Identity::new(["somebody-else"])),
            None => Ok(Identity::new([host])),
        }
    }
}

/// Looks at the passport of whoever is at the other end.
pub(super) struct Control {
    pub(super) transport: SimTransport,
    pub(super) sim: Sim,
    pub(super) passports: Arc<Passports>,
    /// How many callers had one that is no good.
    pub(super) turned_away: Arc<AtomicU64>,
}

impl Control {
    fn look(&self, mut connection: Connection, host: &str) -> io::Result<Connection> {
        connection.identity = Some(self.passports.identity(host, self.sim.now())?);
        Ok(connection)
    }
}

impl Transport for Control {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.transport.listen(at)
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Connection>> {
        Box::pin(async move {
            let connection = self.transport.connect(to).await?;
            self.look(connection, to.split(':').next().unwrap_or(to))
        })
    }

    fn accepted(&self, connection: Connection) -> BoxFuture<'_, io::Result<Connection>> {
        let host = connection.from.clone();
        let looked = self.look(connection, &host);
        if looked.is_err() {
            self.turned_away.fetch_add(1, Relaxed);
        }
        Box::pin(std::future::ready(looked))
    }

    fn is_encrypted(&self) -> bool {
        true
    }
}
