//! Every example of the workspace, run as the program it is: one table says which there are, how each is run, and what it
//! says if all went well. What it says must not depend on how fast the machine is.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

mod program;

use std::collections::BTreeSet;

use program::{assert_says, run};

/// A test for each example that is run, and the names of all.
macro_rules! examples {
    (
        run { $($package:literal { $($(#[$needs:meta])* $name:ident $(($($argument:literal),+))? $($line:literal)+;)+ })+ }
        left out { $($other_package:literal { $($other:ident $reason:literal;)+ })+ }
    ) => {
        $($(
            #[test]
            $(#[$needs])*
            fn $name() {
                let said = run($package, stringify!($name), &[$($($argument),+)?]);
                $(assert_says(&said, $line);)+
            }
        )+)+

        const TABLE: &[(&str, &str)] = &[
            $($(($package, stringify!($name)),)+)+
            $($(($other_package, stringify!($other)),)+)+
        ];
    };
}

examples! {
    run {
        "volary" {
            ask_family
                "12 squared, by way of the reception: 144"
                "the guest hears: welcome"
                "squares: [1, 4, 9, 16, 25]";
            behaviours
                "LOGIN ada  -> welcome, ada"
                "1 lines were not handled";
            chat_room
                "of 50 lines Bob got 50"
                "every line is accounted for";
            dispatchers
                "Pinned runs on volary-pinned"
                "a typo: there is no dispatcher named \"raports\"";
            events
                "published: PriceChanged { cents: 250 }"
                "failed: /user/shop: the till is stuck, so Some(Resume)"
                "ended: /user/shop";
            hello
                "alice is short of 5 cents";
            iot_fleet("10000")
                "actors/s"
                "30000 readings"
                "of 10000 are awake, 1000 may be"
                "no reading was lost";
            job_queue
                "490 done, 10 parked after 4 attempts each"
                "70 attempts were repeated, 10 workers crashed"
                "the counts balance";
            mailboxes
                "bounded: all 10 sends arrived";
            passivation
                "the first comes back with click 2";
            pipe
                "circuit breaker prices: Closed -> Open";
            protocols
                "/user/lamp is on: true"
                "found at /user/radio: on is false"
                "a lamp at /user/radio: false";
            rate_limiter
                "ada: come again in"
                "2 of 2 clients sleep"
                "5 requests pass, then: too many requests"
                "all as it should be";
            requests
                "open: sold for 42, 42 sold so far"
                "strict: open nine to five, answered after the sale";
            router
                "/user/desks/1 takes 20 from alice, its order number 1"
                "/user/desks/0 takes 30 from alice, its order number 2"
                "8 tills now";
            scheduler
                "ms: once"
                "and is active: false";
            settings
                "region is Some(\"eu\")"
                "unknown setting ask-timeuot in file shop.toml, line 1: did you mean ask-timeout?";
            shutdown
                "ready: false; the door is closed"
                "the till is counted"
                "shutdown hook \"database\" of phase \"after-actors\" failed after 3 attempts";
            state_machine
                "too early: Err(Rejected(NotAuthorised))"
                "too late: Err(Rejected(NotAuthorised))";
            streams
                "the stream has ended: Completed"
                "7893 letters";
            supervision
                "the nurse hears of the end of /user/patient"
                "3 faults in all";
            timers
                "nothing for 200 ms: the session is closed";
            tokio_inside
                "; the client restarts and connects again"
                "five -> FIVE";
            topics
                "dear: Some(Ok(Price { cents: 900 }))"
                "the topic `prices` carries topics::Price, not &str"
                "topics left: 0";
            #[cfg(all(feature = "console", feature = "telemetry"))]
            observed
                "actor_handler_duration_seconds_count{actor_system=\"market\",actor_kind=\"observed::Till\"} 3"
                "what a tracer gets:"
                "instruments were exported";
            #[cfg(all(feature = "remote", feature = "postcard"))]
            bank("--accounts", "1000", "--seconds", "2")
                "a second process joins in"
                "money is conserved";
            #[cfg(all(feature = "remote", feature = "postcard"))]
            chat_two_nodes
                "ada hears bob:"
                "bob hears ada:"
                "both have heard all 6 lines";
            #[cfg(all(feature = "remote-tls", feature = "postcard"))]
            mtls
                "the till holds 12"
                "the thief hears nothing: true"
                "because: it does not take the certificate of this node: UnknownCA";
            #[cfg(all(feature = "remote", feature = "postcard"))]
            worker_pool
                "17984 primes below 200000"
                "every worker has done its part";
        }
        "volary-remote" {
            #[cfg(all(feature = "remote", feature = "postcard"))]
            flood("5000")
                "ask, 64 in flight: "
                "unconfirmed: 0, unreachable: 0, unsaid: 0, busy: 0,";
        }
        "volary-testkit" {
            linearizable
                "not linearizable: \"price\""
                "✗ no order of these calls explains Read → Value(100) of client 2";
            probes
                "charged, and not paid"
                "reminded after 120 minutes";
            record
                "6: record::Draw"
                "replayed: [";
        }
    }
    left out {
        "volary" {
            instructions "it measures, for `cargo xtask instructions`";
            soak "it takes as long as one likes, for `cargo xtask soak`";
        }
        "volary-testkit" {
            check_speed "it measures";
            sim "its scenarios are tests of the testkit, and for `cargo xtask sim`";
        }
    }
}

#[test]
fn every_example_is_in_the_table() {
    let table: BTreeSet<_> = TABLE
        .iter()
        .map(|(package, name)| ((*package).to_owned(), (*name).to_owned()))
        .collect();
    assert_eq!(table.len(), TABLE.len(), "one is there twice");
    assert_eq!(table, program::all());
}

/// In a network of its own, whose loopback is down.
#[cfg(all(feature = "remote", feature = "postcard"))]
#[test]
fn bank_goes_on_alone_where_no_socket_reaches_another() {
    use std::process::Command;

    let apart = ["--user", "--map-root-user", "--net"];
    let possible = Command::new("unshare").args(apart).arg("true").output();
    if !possible.is_ok_and(|output| output.status.success()) {
        let line = "skipped: bank_goes_on_alone_where_no_socket_reaches_another: no network of one's own here\n";
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()).unwrap();
        return;
    }
    let mut command = Command::new("unshare");
    command.args(apart).arg(program::program("volary", "bank"));
    command.args(["--accounts", "1000", "--seconds", "1"]);
    let said = program::run_command("bank", command);
    assert_says(&said, "the bank goes on alone");
    assert_says(&said, "money is conserved");
}
