//! The ring of consistent hashing.
//!
//! Every seat has many points on a circle of 64-bit numbers; a key belongs to the seat of the first point at or after
//! it. A seat that comes or goes moves only the keys at its own points. The points of a seat follow from its identity
//! alone, so two routers over the same seats agree.
//!
//! ```text
//!   0 ── a ──── b ── a ─────── c ── b ───── c ── 2^64
//!          key ─┘ belongs to b
//! ```

use super::hash::mix;

/// Distance of the points of one seat in the input of the hash; any odd number does.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Which seat a place on the circle belongs to.
#[derive(Debug, Clone, Default)]
pub(super) struct Ring {
    /// Sorted; the second is the index of a seat.
    points: Vec<(u64, u32)>,
    /// The first point at or behind the beginning of each slice of the circle, so that a lookup is one step and a few
    /// more, whatever the number of points.
    starts: Vec<u32>,
    /// How far right to shift a hash to get its slice.
    shift: u32,
}

impl Ring {
    /// A ring of seats with these identities, each with so many points.
    pub(super) fn new(identities: &[u64], points_each: u32) -> Self {
        let mut points: Vec<(u64, u64, u32)> = Vec::with_capacity(identities.len() * points_each as usize);
        for (seat, identity) in identities.iter().enumerate() {
            for point in 1..=u64::from(points_each) {
                let place = mix(identity.wrapping_add(point.wrapping_mul(STEP)));
                points.push((place, *identity, seat as u32));
            }
        }
        // Where two points meet, the identity decides, not the order in which seats came.
        points.sort_unstable();
        let points: Vec<(u64, u32)> = points.into_iter().map(|(place, _, seat)| (place, seat)).collect();
        let slices = points.len().next_power_of_two().max(2);
        let shift = 64 - slices.trailing_zeros();
        let mut starts = Vec::with_capacity(slices);
        let mut at = 0;
        for slice in 0..slices as u64 {
            while at < points.len() && points[at].0 < slice << shift {
                at += 1;
            }
            starts.push(at as u32);
        }
        Ring { points, starts, shift }
    }

    /// The index of the first point at or after a hash.
    fn first(&self, hash: u64) -> usize {
        let Some(start) = self.starts.get((hash >> self.shift) as usize) else {
            return 0;
        };
        let mut at = *start as usize;
        while self.points.get(at).is_some_and(|(place, _)| *place < hash) {
            at += 1;
        }
        if at == self.points.len() { 0 } else { at }
    }

    /// The seat of a hash; `None` on an empty ring.
    #[inline]
    pub(super) fn seat(&self, hash: u64) -> Option<usize> {
        self.points.get(self.first(hash)).map(|(_, seat)| *seat as usize)
    }

    /// All seats in the order in which they stand in for each other, from a hash on; a seat comes once for each of its
    /// points.
    pub(super) fn from(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (before, after) = self.points.split_at(self.first(hash));
        after.iter().chain(before).map(|(_, seat)| *seat as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By looking at every point.
    fn slowly(ring: &Ring, hash: u64) -> Option<usize> {
        let at_or_after = ring.points.iter().find(|(place, _)| *place >= hash);
        at_or_after.or(ring.points.first()).map(|(_, seat)| *seat as usize)
    }

    proptest! {
        #[test]
        fn lookup_agrees_with_a_scan(identities in proptest::collection::btree_set(any::<u64>(), 0..20), points in 1_u32..40,
                                     keys in proptest::collection::vec(any::<u64>(), 50)) {
            let identities: Vec<u64> = identities.into_iter().collect();
            let ring = Ring::new(&identities, points);
            for key in keys.into_iter().chain([0, u64::MAX]).chain(ring.points.iter().map(|(place, _)| *place)) {
                prop_assert_eq!(ring.seat(key), slowly(&ring, key));
                prop_assert_eq!(ring.from(key).next(), ring.seat(key));
            }
        }

        #[test]
        fn only_keys_of_the_seat_that_goes_are_moved(count in 2_usize..20, gone in 0_usize..20,
                                                     keys in proptest::collection::vec(any::<u64>(), 100)) {
            let gone = gone % count;
            let all: Vec<u64> = (0..count as u64).map(mix).collect();
            let rest: Vec<u64> = all.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, id)| *id).collect();
            let (before, after) = (Ring::new(&all, 64), Ring::new(&rest, 64));
            for key in keys {
                let (was, is) = (before.seat(key).map(|seat| all[seat]), after.seat(key).map(|seat| rest[seat]));
                prop_assert!(was == is || was == Some(all[gone]));
            }
        }
    }
}
