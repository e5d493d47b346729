//! Reading an address.
//!
//! ```text
//! address = "volary://" system ( place [ "#" uid ]  |  "@" host ":" port place [ "#" uid ]
//!                              |  "/cluster/" name  |  "/grain/" kind "/" id )
//! place   = "/"  |  ( "/user" | "/system" ) *( "/" segment )
//! ```
//! Hosts and grain ids may be spelled in more than one way and are brought into one; everything else has one spelling,
//! so `parse` accepts just what `Display` writes.

use std::str::FromStr;

use super::{Address, AddressError, Place, SCHEME};
use crate::tree::{
    Node, Path, Uid,
    grain::{decode_id, validate_kind},
    name::validate_system_name,
};

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.len() > Self::MAX_BYTES {
            return Err(AddressError::TooLong { length: text.len() });
        }
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| expected(0, "\"volary://\""))?;
        let slash = rest
            .find('/')
            .ok_or_else(|| expected(text.len(), "'/' and the place below the system"))?;
        let (authority, place) = rest.split_at(slash);
        let (system, node) = match authority.split_once('@') {
            Some((system, node)) => (system, Some(node)),
            None => (authority, None),
        };
        // What stands first is complained about first.
        validate_system_name(system).map_err(|source| AddressError::Name {
            position: SCHEME.len() + source.position(),
            source,
        })?;
        let node_position = SCHEME.len() + system.len() + 1;
        let node = node
            .map(|node| {
                node.parse::<Node>()
                    .map_err(|source| AddressError::node(node_position, source))
            })
            .transpose()?;
        Self::at(system, parse_place(place, SCHEME.len() + slash, node)?)
    }
}

fn expected(position: usize, expected: &'static str) -> AddressError {
    AddressError::Expected { position, expected }
}

/// `text` begins with the slash after the system, which is at byte `start` of the address.
fn parse_place(text: &str, start: usize, node: Option<Node>) -> Result<Place, AddressError> {
    let (first, below) = match text[1..].split_once('/') {
        Some((first, below)) => (first, Some(below)),
        None => (&text[1..], None),
    };
    let read_logical = match first {
        "cluster" => read_cluster,
        "grain" => read_grain,
        _ => return read_actor(text, start, node),
    };
    if node.is_some() {
        return Err(expected(
            start,
            "\"/user\" or \"/system\": a logical address names no node",
        ));
    }
    let position = start + 1 + first.len();
    match below {
        Some(below) if below.contains('#') => {
            let hash = below.find('#').unwrap_or_default();
            Err(expected(position + 1 + hash, "the end: a logical address has no uid"))
        }
        Some(below) => read_logical(below, position + 1),
        None => Err(expected(position, "'/' and a name")),
    }
}

fn read_actor(text: &str, start: usize, node: Option<Node>) -> Result<Place, AddressError> {
    let (path, uid) = match text.split_once('#') {
        Some((path, uid)) => (path, Some(uid)),
        None => (text, None),
    };
    let path_end = start + path.len();
    let path = path.parse::<Path>().map_err(|source| AddressError::Path {
        position: start + source.position(),
        source,
    })?;
    let uid = uid
        .map(|uid| {
            Uid::parse(uid).ok_or_else(|| {
                expected(
                    path_end + 1,
                    "a uid: 1 to 16 lowercase hexadecimal digits without leading zeros",
                )
            })
        })
        .transpose()?;
    Ok(Place::Actor { node, path, uid })
}

fn read_cluster(name: &str, start: usize) -> Result<Place, AddressError> {
    validate_system_name(name).map_err(|source| AddressError::Name {
        position: start + source.position(),
        source,
    })?;
    Ok(Place::Cluster { name: name.into() })
}

fn read_grain(text: &str, start: usize) -> Result<Place, AddressError> {
    let (kind, id) = text
        .split_once('/')
        .ok_or_else(|| expected(start + text.len(), "'/' and a grain id"))?;
    validate_kind(kind).map_err(|source| AddressError::Kind {
        position: start + source.position(),
        source,
    })?;
    let id_start = start + kind.len() + 1;
    let id = decode_id(id).map_err(|source| AddressError::GrainId {
        position: id_start + source.position(),
        source,
    })?;
    Ok(Place::Grain {
        kind: kind.into(),
        id: id.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<Address>().expect_err(text).to_string()
    }

    #[test]
    fn l5_all_four_forms() {
        for text in [
            "volary://sys/",
            "volary://sys/user",
            "volary://sys/system/volary-registry",
            "volary://sys/user/a/b",
            "volary://sys/user/a/$2f#ff",
            "volary://sys@host:1/user/a",
            "volary://sys@10.0.0.1:65535/user/a#0",
            "volary://sys@[::1]:4242/",
            "volary://sys/cluster/name",
            "volary://sys/cluster/volary-store",
            "volary://sys/grain/kind/id",
            "volary://sys/grain/a.b.C/x%20y:z@w",
        ] {
            assert_eq!(text.parse::<Address>().expect(text).to_string(), text);
        }
    }

    #[test]
    fn other_spellings_are_brought_into_one() {
        for (given, kept) in [
            ("volary://s@Host:1/user", "volary://s@host:1/user"),
            ("volary://s@[0:0::1]:1/user", "volary://s@[::1]:1/user"),
            ("volary://s/grain/k/%61%2f", "volary://s/grain/k/a%2F"),
        ] {
            let address: Address = given.parse().expect(given);
            assert_eq!(address.to_string(), kept);
            assert_eq!(address, kept.parse().expect(kept));
        }
    }

    #[test]
    fn errors_point_at_the_byte_and_say_what_was_expected() {
        for (text, message) in [
            ("", "byte 0: expected \"volary://\""),
            ("VOLARY://s/user", "byte 0: expected \"volary://\""),
            ("volary://s", "byte 10: expected '/' and the place below the system"),
            ("volary:///user", "byte 9: a name needs at least one character"),
            ("volary://s y/user", "byte 10: character ' ' is not allowed"),
            ("volary://s@h/user", "byte 12: expected ':' and a port"),
            ("volary://s@h:99999/user", "byte 13: expected a port from 1 to 65535"),
            ("volary://s@:1/user", "byte 11: expected a DNS name"),
            (
                "volary://s@a@b:1/user",
                "byte 12: character '@' is not allowed in a host",
            ),
            ("volary://s@1.2.3.999:1/user", "byte 11: a host that ends in a number"),
            ("volary://s/users", "byte 11: expected \"user\" or \"system\""),
            ("volary://s/user/", "byte 16: a name needs"),
            ("volary://s/user/a?", "byte 17: character '?'"),
            ("volary://s/user/a#", "byte 18: expected a uid"),
            ("volary://s/user/a#FF", "byte 18: expected a uid"),
            ("volary://s/cluster", "byte 18: expected '/' and a name"),
            ("volary://s/cluster/a/b", "byte 20: character '/'"),
            (
                "volary://s/cluster/a#1",
                "byte 20: expected the end: a logical address has no uid",
            ),
            ("volary://s/cluster/$1", "byte 19: character '$'"),
            (
                "volary://s@h:1/cluster/a",
                "byte 14: expected \"/user\" or \"/system\": a logical address names no node",
            ),
            ("volary://s/grain/k", "byte 18: expected '/' and a grain id"),
            ("volary://s/grain//i", "byte 17: expected a letter"),
            ("volary://s/grain/k/", "byte 19: a grain id needs"),
            (
                "volary://s/grain/k/a/b",
                "byte 20: character '/' must be percent-encoded",
            ),
            ("volary://s/grain/k/a%2", "byte 20: expected two hexadecimal digits"),
        ] {
            let found = refusal(text);
            assert!(found.contains(message), "{text}: {found}");
        }
    }

    #[test]
    fn hostile_length_is_refused_unread() {
        let text = format!("volary://s{}", "/user".repeat(100_000));
        assert_eq!(
            text.parse::<Address>(),
            Err(AddressError::TooLong { length: text.len() })
        );
    }

    #[test]
    fn logical_addresses_have_neither_node_nor_children() {
        let room = Address::grain("s", "Room", "1").expect("valid");
        assert_eq!(room.with_node("h", 1), Err(AddressError::Logical));
        assert_eq!(room.child("a"), Err(AddressError::Logical));
        assert_eq!(room.parent(), None);
        assert_eq!(room.with_uid(Uid::new(1)), room);
    }

    #[test]
    fn building_and_reading_agree_on_positions() {
        let built = "volary://s@h:1/user/a".parse::<Address>().expect("valid").child("b c");
        let read = "volary://s@h:1/user/a/b c".parse::<Address>();
        assert_eq!(built, read);
        let user: Address = "volary://s/user".parse().expect("valid");
        assert_eq!(user.with_node("host", 0), "volary://s@host:0/user".parse());
        assert_eq!(user.with_node("a b", 1), "volary://s@a b:1/user".parse());
        assert_eq!(Address::cluster("s", "a b"), "volary://s/cluster/a b".parse());
        assert_eq!(Address::grain("s", "a-", "1"), "volary://s/grain/a-/1".parse());
    }
}
