//! Who goes when there are too many: a pure function of what is known of them.

use super::eviction::Order;

/// What is known of an actor that could go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) id: u64,
    /// When it handled a message last, in nanoseconds.
    pub(super) last_active: u64,
    /// How many messages it has handled.
    pub(super) handled: u64,
    pub(super) bytes: u64,
}

/// How much has to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Excess {
    pub(super) actors: u64,
    pub(super) bytes: u64,
}

/// Those who go, first to last: as few as make up for the excess. Of two that are equal the older one goes.
pub(super) fn choose(mut candidates: Vec<Candidate>, order: Order, excess: Excess) -> Vec<u64> {
    candidates.sort_unstable_by_key(|one| match order {
        Order::LeastRecent => (one.last_active, one.id),
        Order::MostRecent => (u64::MAX - one.last_active, one.id),
        Order::LeastFrequent => (one.handled, one.id),
    });
    let (mut actors, mut bytes) = (0, 0);
    let wanted = |one: &Candidate| {
        let wanted = actors < excess.actors || bytes < excess.bytes;
        actors += 1;
        bytes += one.bytes;
        wanted
    };
    candidates
        .iter()
        .copied()
        .take_while(wanted)
        .map(|one| one.id)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<Candidate> {
        let one = |id, last_active, handled, bytes| Candidate {
            id,
            last_active,
            handled,
            bytes,
        };
        vec![
            one(1, 30, 5, 100),
            one(2, 10, 9, 100),
            one(3, 20, 1, 1_000),
            one(4, 10, 5, 100),
        ]
    }

    fn actors(actors: u64) -> Excess {
        Excess { actors, bytes: 0 }
    }

    #[test]
    fn the_order_says_who_goes_first_and_equals_go_by_age() {
        assert_eq!(choose(candidates(), Order::LeastRecent, actors(3)), [2, 4, 3]);
        assert_eq!(choose(candidates(), Order::MostRecent, actors(2)), [1, 3]);
        assert_eq!(choose(candidates(), Order::LeastFrequent, actors(2)), [3, 1]);
    }

    #[test]
    fn as_few_go_as_make_up_for_the_excess() {
        assert_eq!(choose(candidates(), Order::LeastRecent, actors(0)), []);
        let bytes = |bytes| Excess { actors: 0, bytes };
        assert_eq!(choose(candidates(), Order::LeastRecent, bytes(150)), [2, 4]);
        assert_eq!(choose(candidates(), Order::LeastFrequent, bytes(150)), [3]);
        let both = Excess { actors: 2, bytes: 1 };
        assert_eq!(choose(candidates(), Order::LeastFrequent, both), [3, 1]);
        assert_eq!(choose(candidates(), Order::LeastRecent, actors(9)).len(), 4);
    }
}
