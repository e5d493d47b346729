//! The scenarios of `cargo xtask sim`, for as many seeds each as there is time for in every run of the tests. They are the
//! same seeds each time; many more are for the simulator itself.

#[path = "../examples/sim/disk.rs"]
mod disk;
#[path = "../examples/sim/network.rs"]
mod network;
#[path = "../examples/sim/remoting/mod.rs"]
mod remoting;
#[path = "../examples/sim/runtime.rs"]
mod runtime;
#[path = "../examples/sim/streams.rs"]
mod streams;

use volary_testkit::sim::Check;

macro_rules! scenarios {
    ($($test:ident: $scenario:ident for $seeds:literal seeds;)*) => {
        $(#[test]
        fn $test() {
            if let Err(failed) = Check::new().seeds($seeds).run($scenario::run) {
                let (scenario, seed) = (stringify!($scenario), failed.seed());
                panic!("{failed}\nor with `cargo xtask sim --seed {seed} {scenario}`");
            }
        })*
    };
}

scenarios! {
    s3_actors_in_trouble_keep_order_lose_nothing_and_end_each_ask: runtime for 100 seeds;
    every_letter_between_nodes_is_handled_once_and_in_order: network for 25 seeds;
    what_was_acknowledged_is_in_the_log_after_crashes: disk for 100 seeds;
    what_arrives_of_a_stream_is_what_was_sent_up_to_there: streams for 50 seeds;
    r8_three_nodes_in_trouble_keep_what_is_promised: remoting for 40 seeds;
}
