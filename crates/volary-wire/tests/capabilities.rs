//! R1: what nodes can do beyond the version, and what becomes of names of a later one.

mod common;

use volary_wire::native::{Bounds, Capabilities, Capability, Frame, Hello, Limits, Text, Welcome};

/// The hello that was written down when this was first released: it says `chunks`, and `watch`, which means nothing.
fn old_hello() -> Hello {
    let old = common::frames().into_iter().find_map(|(name, frame)| match frame {
        Frame::Hello(hello) if name == "hello" => Some(hello),
        _ => None,
    });
    old.unwrap_or_else(|| unreachable!("it is among them"))
}

#[test]
fn r1_capabilities_of_a_later_version_are_kept_and_mean_nothing() {
    let mut hello = old_hello();
    hello.capabilities.push("telepathy".into());
    let frame = Frame::Hello(hello.clone());
    let read = common::decoded(&common::encoded(&frame), &Limits::default());
    assert_eq!(read, Ok(vec![frame]), "each name arrives");
    assert_eq!(Capabilities::of(&hello.capabilities).names(), [Text::from("chunks")]);
}

#[test]
fn r1_only_what_both_can_is_used() {
    let chunks: Capabilities = [Capability::Chunks].into_iter().collect();
    assert_eq!(chunks & Capabilities::all(), chunks);
    assert_eq!(chunks & Capabilities::none(), Capabilities::none());
    assert_eq!(Capabilities::of(&[]), Capabilities::none());
    assert_eq!(
        (Capabilities::all().to_string(), Capabilities::none().to_string()),
        ("chunks".to_owned(), String::new())
    );
    assert_eq!(format!("{:?}", Capabilities::all()), "{Chunks}");
}

#[test]
fn r1_every_capability_is_found_by_its_name() {
    for one in Capability::ALL {
        assert_eq!(Capability::named(one.name()), Some(one));
        assert_eq!(Capability::named(&one.name().to_uppercase()), None, "names are exact");
    }
}

#[test]
fn r1_whoever_does_not_say_whom_it_calls_is_understood() {
    assert!(old_hello().called.is_empty());
}

#[test]
fn r1_whoever_does_not_say_how_much_it_takes_is_understood() {
    assert_eq!(old_hello().bounds, Bounds::default());
}

/// The frames of a handshake, with this behind them.
fn handshakes_with(field: &[u8]) -> Vec<(&'static str, Frame, Vec<u8>)> {
    let handshakes = common::frames().into_iter();
    let handshakes = handshakes.filter(|(_, frame)| matches!(frame, Frame::Hello(_) | Frame::Welcome(_)));
    let with = |(name, frame)| {
        let mut bytes = common::encoded(&frame).to_vec();
        bytes.extend_from_slice(field);
        let length = u32::try_from(bytes.len() - 4).unwrap_or_else(|_| unreachable!("it is short"));
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        (name, frame, bytes)
    };
    handshakes.map(with).collect()
}

#[test]
fn r1_fields_of_a_later_version_are_passed_over_in_a_handshake() {
    for (name, frame, bytes) in handshakes_with(&[200, 3, 1, 2, 3, 201, 0]) {
        assert_eq!(common::decoded(&bytes, &Limits::default()), Ok(vec![frame]), "{name}");
    }
}

#[test]
fn r1_a_bound_is_said_once_and_is_a_number() {
    for tag in [11, 12, 13, 14] {
        for (name, frame, bytes) in handshakes_with(&[tag, 1, 7]) {
            let (Frame::Hello(Hello { bounds, .. }) | Frame::Welcome(Welcome { bounds, .. })) = frame else {
                unreachable!("only these")
            };
            let read = common::decoded(&bytes, &Limits::default());
            let is_said =
                [bounds.frame, bounds.message, bounds.headers, bounds.window][usize::from(tag - 11)].is_some();
            assert_eq!(read.is_ok(), !is_said, "{name}: {read:?}");
        }
        for wrong in [&[tag, 0][..], &[tag, 2, 7, 7], &[tag, 1, 0x80]] {
            for (name, _, bytes) in handshakes_with(wrong) {
                assert!(
                    common::decoded(&bytes, &Limits::default()).is_err(),
                    "{name}, {wrong:?}"
                );
            }
        }
    }
}
