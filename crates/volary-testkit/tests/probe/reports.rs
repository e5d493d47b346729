//! What an expectation says that is not met.

use super::*;

#[derive(Message)]
struct Secret;

#[derive(Message)]
struct Unshowable;

impl std::fmt::Debug for Unshowable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("it does not like to be looked at")
    }
}

/// The text without the line that says where, which must point into this file.
fn told(text: &str) -> Vec<String> {
    let (places, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("  at "));
    assert_eq!(places.len(), 1, "{text}");
    assert!(places[0].contains("tests/probe/reports.rs:"), "{text}");
    rest.into_iter().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn t1_the_wrong_message_is_shown_with_what_waits_behind_it() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::named(system, "p").await;
        let to = probe.recipient();
        (2..=4).for_each(|number| to.tell(Ping(number)).unwrap());
        probe.expect_any().await;
        system.sleep(SECOND).await;
        probe.expect(Ping(1)).await;
    });
    let expected = [
        "probe /user/p expected Ping(1)",
        "waited 0ns of 3s, by the clock of the system",
        "what came, in order:",
        "1. Ping(3)",
        "2. Ping(4)",
    ];
    assert_eq!(told(&text), expected);
}

#[test]
fn t1_silence_is_called_so_and_measured_in_virtual_time() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::named(system, "p").await;
        probe.within(7_200 * SECOND).expect_any().await;
    });
    let told = told(&text);
    assert_eq!(told[0], "probe /user/p expected a Ping");
    assert!(
        told[1].starts_with("waited 7200") && told[1].contains(" of 7200s"),
        "{text}"
    );
    assert_eq!(told[2..], ["what came: nothing"]);
}

#[test]
fn t1_a_condition_that_does_not_hold_is_told_with_the_message() {
    let text = failure(async |system| {
        let mut probe = MultiProbe::builder()
            .takes::<Ping>()
            .takes::<Pong>()
            .start(system)
            .await;
        probe.recipient().tell(Ping(4)).unwrap();
        probe.expect_that(|ping: &Ping| ping.0 % 2 == 1).await;
    });
    assert!(text.contains("expected a Ping for which the condition holds"), "{text}");
    assert_eq!(told(&text)[3..], ["1. Ping(4)"]);
}

#[test]
fn t1_another_type_is_shown_and_one_without_debug_is_named() {
    let text = failure(async |system| {
        let probe = MultiProbe::builder()
            .takes::<Ping>()
            .takes::<Pong>()
            .takes_opaque::<Secret>();
        let mut probe = probe.takes::<Unshowable>().start(system).await;
        probe.recipient().tell(Pong("first")).unwrap();
        probe.recipient().tell(Secret).unwrap();
        probe.recipient().tell(Unshowable).unwrap();
        system.sleep(MS).await;
        probe.expect_any::<Ping>().await;
    });
    assert!(text.contains("expected a Ping\n"), "{text}");
    assert_eq!(told(&text)[3..], ["1. Pong(\"first\")", "2. Secret", "3. Unshowable"]);
}

#[test]
fn t1_what_comes_where_nothing_should_is_shown_with_the_time() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).await.unwrap();
        let to = probe.recipient();
        desk.tell(Later {
            after: 400 * MS,
            ping: Ping(5),
            to,
        })
        .unwrap();
        probe.expect_none(SECOND).await;
    });
    let told = told(&text);
    assert!(told[0].ends_with("expected nothing for 1s"), "{text}");
    assert!(
        told[1].starts_with("waited 40") && told[1].contains("ms of 1s"),
        "{text}"
    );
    assert_eq!(told[2..], ["what came, in order:", "1. Ping(5)"]);
}

#[test]
fn t1_a_broken_order_says_which_was_missed() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let to = probe.recipient();
        [1, 3, 2].into_iter().for_each(|number| to.tell(Ping(number)).unwrap());
        system.sleep(MS).await;
        probe.expect_in_order([Ping(1), Ping(2), Ping(3)]).await;
    });
    let told = told(&text);
    assert!(
        told[0].ends_with("expected [Ping(1), Ping(2), Ping(3)], in this order"),
        "{text}"
    );
    assert_eq!(
        told[2..],
        [
            "missed at number 2: Ping(2)",
            "what came, in order:",
            "1. Ping(1)",
            "2. Ping(3)",
            "3. Ping(2)"
        ]
    );
}

#[test]
fn t1_any_order_says_what_is_still_missing() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let to = probe.recipient();
        [3, 3, 1].into_iter().for_each(|number| to.tell(Ping(number)).unwrap());
        system.sleep(MS).await;
        probe.expect_all_in_any_order([Ping(1), Ping(2), Ping(3)]).await;
    });
    let expected = [
        "still missing: [Ping(1), Ping(2)]",
        "what came, in order:",
        "1. Ping(3)",
        "2. Ping(3)",
        "3. Ping(1)",
    ];
    assert_eq!(told(&text)[2..], expected);
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        probe.recipient().tell(Ping(2)).unwrap();
        probe.expect_all_in_any_order([Ping(1), Ping(2)]).await;
    });
    assert_eq!(
        told(&text)[2..],
        ["still missing: [Ping(1)]", "what came, in order:", "1. Ping(2)"]
    );
}

#[test]
fn t1_fishing_in_vain_says_what_was_skipped() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let to = probe.recipient();
        (1..=3).for_each(|number| to.tell(Ping(number)).unwrap());
        probe.fish(|ping| ping.0 > 3).await;
    });
    let told = told(&text);
    assert!(
        told[0].ends_with("expected a Ping, sooner or later, for which the condition holds"),
        "{text}"
    );
    assert!(told[1].starts_with("waited 3"), "{text}");
    assert_eq!(
        told[2..],
        [
            "skipped 3",
            "what came, in order:",
            "1. Ping(1)",
            "2. Ping(2)",
            "3. Ping(3)"
        ]
    );
}

#[test]
fn t1_the_patience_of_fishing_is_for_the_whole_catch() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).await.unwrap();
        for number in 1..=9 {
            let to = probe.recipient();
            desk.tell(Later {
                after: SECOND,
                ping: Ping(number),
                to,
            })
            .unwrap();
        }
        probe.within(4_500 * MS).fish(|ping| ping.0 == 9).await;
    });
    assert!(text.contains("skipped 4\n"), "{text}");
}

#[test]
fn t1_an_actor_that_lives_on_is_told_with_what_it_does() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::named(system, "p").await;
        let desk = system.spawn(|| Desk).named("desk").await.unwrap();
        probe.recipient().tell(Ping(1)).unwrap();
        probe.expect_terminated(&desk).await;
    });
    let told_text = told(&text);
    assert_eq!(told_text[0], "probe /user/p expected the end of /user/desk");
    assert_eq!(told_text[2..], ["it is alive", "what came, in order:", "1. Ping(1)"]);
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).await.unwrap();
        desk.tell(Quit { after: 7 * SECOND }).unwrap();
        desk.drain();
        probe.expect_terminated(&desk).await;
    });
    assert_eq!(told(&text)[2], "it was told to stop, and has not ended");
}

#[test]
fn t1_a_child_that_does_not_come_is_told_with_those_that_do() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::named(system, "p").await;
        let desk = system.spawn(|| Desk).named("desk").await.unwrap();
        for name in ["zoe", "abe"] {
            desk.tell(Hire { name, after: MS }).unwrap();
        }
        probe.expect_child(&desk, "max").await;
    });
    let told_text = told(&text);
    assert_eq!(told_text[0], "probe /user/p expected a child `max` of /user/desk");
    assert!(told_text[1].starts_with("waited 3"), "{text}");
    assert_eq!(told_text[2..], ["its children: abe, zoe", "what came: nothing"]);
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        let desk = system.spawn(|| Desk).await.unwrap();
        probe.expect_child(&desk, "max").await;
    });
    assert_eq!(told(&text)[2], "it has no children");
}

#[test]
fn t1_a_message_that_was_told_is_not_an_ask() {
    let text = failure(async |system| {
        let mut probe = Probe::<Count>::new(system).await;
        probe.recipient().tell(Count).unwrap();
        let _ = probe.expect_ask().await;
    });
    let told_text = told(&text);
    assert!(told_text[0].ends_with("expected a Count that somebody asks"), "{text}");
    assert_eq!(
        told_text[2..],
        [
            "it was told, or nobody waits for the answer any more",
            "what came, in order:",
            "1. Count"
        ]
    );
}

#[test]
fn t1_a_reply_that_nobody_waits_for_fails() {
    let cannot = |text: String, why: &str| {
        let told = told(&text);
        assert_eq!(told, [format!("probe /user/p cannot reply: {why}")]);
    };
    let text = failure(async |system| {
        let mut probe = Probe::<Count>::named(system, "p").await;
        probe.reply(1);
    });
    cannot(text, "no message was taken, or it was answered already");
    let text = failure(async |system| {
        let mut probe = Probe::<Count>::named(system, "p").await;
        probe.recipient().tell(Count).unwrap();
        probe.expect_any().await;
        probe.reply(1);
    });
    cannot(
        text,
        "the last message, a Count, was told, or nobody waits for the answer any more",
    );
    let text = failure(async |system| {
        let mut probe = MultiProbe::builder()
            .takes::<Count>()
            .takes::<Ping>()
            .named("p")
            .start(system)
            .await;
        probe.recipient().tell(Ping(1)).unwrap();
        probe.expect(Ping(1)).await;
        probe.reply::<Count>(1);
    });
    cannot(text, "the last message was a Ping, which is not answered like a Count");
}

#[test]
fn t1_a_probe_that_was_stopped_says_so_at_once() {
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        probe.actor_ref().stop();
        probe.expect_any().await;
    });
    let told_text = told(&text);
    assert!(told_text[1].starts_with("waited 0ns"), "{text}");
    assert_eq!(told_text[2], "the probe was stopped meanwhile");
    let text = failure(async |system| {
        let mut probe = Probe::<Ping>::new(system).await;
        probe.actor_ref().stop();
        probe.expect_none(SECOND).await;
    });
    assert_eq!(
        told(&text)[2],
        "the probe was stopped meanwhile",
        "silence proves nothing"
    );
}

#[test]
fn t1_wrong_use_is_named() {
    let text = failure(async |system| {
        let probe = MultiProbe::builder()
            .takes::<Ping>()
            .takes::<Pong>()
            .named("p")
            .start(system)
            .await;
        let _ = probe.recipient::<Count>();
    });
    assert_eq!(
        text,
        "probe /user/p takes Ping, Pong, not Count: add `.takes::<Count>()`"
    );
    let text = failure(async |system| {
        let _ = Probe::<Ping>::new(system).await.with_patience(Duration::ZERO);
    });
    assert!(
        text.starts_with("the patience of a probe is 0ns, but must be more than nothing"),
        "{text}"
    );
    let text = failure(async |system| {
        let _first = Probe::<Ping>::named(system, "p").await;
        let _second = Probe::<Ping>::named(system, "p").await;
    });
    assert!(text.starts_with("the probe does not start: "), "{text}");
}
