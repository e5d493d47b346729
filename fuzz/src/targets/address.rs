//! Addresses, paths and nodes: what is read is written and read again.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use volary_core::tree::Node;
use volary_core::{Address, Path};

fn again<T: FromStr<Err: Debug + PartialEq> + Display + Debug + PartialEq>(text: &str) -> Option<String> {
    let read = text.parse::<T>().ok()?;
    let written = read.to_string();
    assert_eq!(written.parse::<T>().as_ref(), Ok(&read));
    Some(written)
}

pub fn address(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(written) = again::<Address>(text) {
        assert!(written.len() <= Address::MAX_BYTES);
    }
    again::<Path>(text);
    again::<Node>(text);
}
