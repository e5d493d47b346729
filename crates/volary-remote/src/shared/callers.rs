//! Callers that are in their handshake: not too many at a time, and of them not too many from one address, or whoever says
//! nothing keeps all others out for as long as a handshake may take.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::transport::host_of;

/// From one address there may be one in so many of all.
const PART: usize = 4;
/// But so many in any case.
const FEWEST: usize = 4;

pub(super) struct Callers {
    most: usize,
    /// How many there are from each address.
    from: Mutex<BTreeMap<String, usize>>,
}

/// One of them, for as long as it is there.
pub(super) struct Calling {
    callers: Arc<Callers>,
    host: String,
}

/// Why a caller is not heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Crowded {
    #[error("too many connections are in their handshake")]
    All,
    #[error("too many connections from one address are in their handshake")]
    FromThere,
}

impl Callers {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Callers {
            most,
            from: Mutex::default(),
        })
    }

    pub(super) fn enter(self: &Arc<Self>, from: &str) -> Result<Calling, Crowded> {
        let host = host_of(from);
        let mut hosts = self.from.lock();
        if hosts.values().sum::<usize>() >= self.most {
            return Err(Crowded::All);
        }
        let count = hosts.entry(host.to_owned()).or_default();
        if *count >= (self.most / PART).max(FEWEST) {
            return Err(Crowded::FromThere);
        }
        *count += 1;
        Ok(Calling {
            callers: self.clone(),
            host: host.to_owned(),
        })
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut hosts = self.callers.from.lock();
        if let Some(count) = hosts.get_mut(&self.host) {
            *count -= 1;
            if *count == 0 {
                hosts.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s20_no_address_has_more_than_its_share_of_the_handshakes() {
        let callers = Callers::new(40);
        let mut there = Vec::new();
        for host in 1..=4 {
            there.extend((0..10).map(|port| callers.enter(&format!("10.0.0.{host}:{port}")).unwrap()));
            let more = callers.enter(&format!("10.0.0.{host}:99")).map(drop);
            let why = if host < 4 { Crowded::FromThere } else { Crowded::All };
            assert_eq!(more, Err(why));
        }
        there.pop();
        assert_eq!(callers.enter("10.0.0.1:99").map(drop), Err(Crowded::FromThere));
        assert_eq!(callers.enter("[::1]:99").map(drop), Ok(()));
        drop(there);
        assert!(callers.from.lock().is_empty());
        // Where there are few, one may have all.
        let callers = Callers::new(2);
        let there = [
            callers.enter("10.0.0.1:1").unwrap(),
            callers.enter("10.0.0.1:2").unwrap(),
        ];
        assert_eq!(callers.enter("10.0.0.2:1").map(drop), Err(Crowded::All));
        drop(there);
    }
}
