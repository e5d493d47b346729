//! `Ref` is written by hand, for its documentation and methods; other languages have its schema.
#![cfg(feature = "proto")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]

#[rustfmt::skip]
#[allow(clippy::all, missing_docs, unreachable_pub, reason = "it is as prost writes it")]
#[path = "generated/reference.rs"]
mod reference;

use prost::Message;
use volary_wire::Ref;

const ADDRESSES: [&str; 3] = ["", "volary://bank/user/a", "volary://bank@10.0.0.7:4242/user/ä#17"];

#[test]
fn a_reference_is_what_its_schema_says() {
    for address in ADDRESSES {
        let own = Ref {
            address: address.to_owned(),
        };
        let generated = reference::Ref {
            address: address.to_owned(),
        };
        let bytes = own.encode_to_vec();
        assert_eq!(bytes, generated.encode_to_vec());
        assert_eq!(reference::Ref::decode(&bytes[..]).unwrap(), generated);
        assert_eq!(Ref::decode(&bytes[..]).unwrap(), own);
    }
}
