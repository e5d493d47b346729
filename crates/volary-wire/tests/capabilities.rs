//! R1: what nodes can do beyond the version, and what becomes of names of a later one.

mod common;

use volary_wire::native::{Capabilities, Capability, Frame, Hello, Limits, Text};

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
