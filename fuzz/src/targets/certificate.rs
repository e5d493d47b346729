//! The names in a certificate: of arbitrary bytes, and of a certificate made around arbitrary names.

use volary_remote::__private::certificate_names;
use volary_remote::transport::Identity;

const SEQUENCE: u8 = 0x30;
const DNS_NAME: u8 = 0x82;

/// An element of DER.
fn element(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match value.len() {
        short @ 0..0x80 => bytes.push(short as u8),
        middle @ 0x80..0x100 => bytes.extend([0x81, middle as u8]),
        long => bytes.extend([0x82, (long >> 8) as u8, long as u8]),
    }
    bytes.extend(value);
    bytes
}

/// As much of a certificate as its names need.
fn certificate_of(names: &[&str]) -> Vec<u8> {
    let names: Vec<u8> = names
        .iter()
        .flat_map(|name| element(DNS_NAME, name.as_bytes()))
        .collect();
    let octets = element(0x04, &element(SEQUENCE, &names));
    let extension = [element(0x06, &[0x55, 0x1d, 0x11]), octets].concat();
    let extensions = element(0xa3, &element(SEQUENCE, &element(SEQUENCE, &extension)));
    element(SEQUENCE, &element(SEQUENCE, &extensions))
}

fn known(names: Vec<String>) {
    let identity = Identity::new(names);
    for name in identity.names() {
        // A host in brackets is an address without them.
        assert!(identity.is_for(name) || name.starts_with('['), "{name}");
    }
}

pub fn certificate(data: &[u8]) {
    let read = certificate_names(data);
    // The longest text of an address is that of 18 bytes.
    assert!(read.iter().map(String::len).sum::<usize>() <= 3 * data.len());
    known(read);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let names: Vec<&str> = text.split('\n').collect();
    let read = certificate_names(&certificate_of(&names));
    assert_eq!(read, names);
    known(read);
}
