//! Actors that sleep: a crowd exists, all of it lets go of its state, then
//! each gets one message and comes back. An operation is one actor put to
//! sleep and woken. How the crowd comes into being, and handles a first message,
//! is not timed.

use futures::executor::block_on;

use crate::contender::{Bench, Case, Slumber};
use crate::dormant::Dormancy;
use crate::features::Passivating;
use crate::latch::Latch;

/// The program for `workload`, if it is this one.
pub fn bench<P: Passivating>(workload: &str) -> Option<Bench> {
    (workload == "passivation").then_some(Bench::Slumber(passivation::<P>))
}

fn passivation<P: Passivating>(case: &Case) -> Box<dyn Slumber> {
    Box::new(Sleepers {
        peer: P::start(case),
        dormancy: Dormancy {
            asleep: Latch::leaked(),
            awake: Latch::leaked(),
        },
        crowd: None,
        count: 0,
        next: 0,
    })
}

struct Sleepers<P: Passivating> {
    peer: P,
    dormancy: Dormancy,
    crowd: Option<P::Crowd>,
    /// How many the crowd has.
    count: u64,
    /// The id of whoever comes next.
    next: u64,
}

impl<P: Passivating> Slumber for Sleepers<P> {
    fn gather(&mut self, count: u64) {
        let crowd = block_on(self.peer.crowd(self.next, count, self.dormancy));
        // Those before live on: their end is not part of anything measured.
        std::mem::forget(self.crowd.replace(crowd));
        self.next += count;
        self.count = count;
        self.wake(); // all have started, and have handled something
    }

    fn sleep(&mut self) {
        self.dormancy.asleep.arm(self.count);
        let crowd = self.crowd.take().expect("a crowd");
        self.crowd = Some(block_on(self.peer.passivate(crowd)));
        self.dormancy.asleep.wait();
    }

    fn wake(&mut self) {
        self.dormancy.awake.arm(self.count);
        let crowd = self.crowd.take().expect("a crowd");
        self.crowd = Some(block_on(self.peer.wake(crowd)));
        self.dormancy.awake.wait();
    }
}
