//! The names in a certificate: of arbitrary bytes, and of a certificate made around arbitrary names.

use volary_remote::__private::certificate_identity;
use volary_remote::transport::Identity;

const SEQUENCE: u8 = 0x30;
const DNS_NAME: u8 = 0x82;
const URI: u8 = 0x86;

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

/// As much of a certificate as its names of this kind need.
fn certificate_of(kind: u8, names: &[String]) -> Vec<u8> {
    let names: Vec<u8> = names.iter().flat_map(|name| element(kind, name.as_bytes())).collect();
    let octets = element(0x04, &element(SEQUENCE, &names));
    let extension = [element(0x06, &[0x55, 0x1d, 0x11]), octets].concat();
    let extensions = element(0xa3, &element(SEQUENCE, &element(SEQUENCE, &extension)));
    element(SEQUENCE, &element(SEQUENCE, &extensions))
}

fn known(identity: &Identity) {
    assert!(identity.clusters().iter().all(|cluster| identity.is_of(cluster)));
    for name in identity.names() {
        // A host in brackets is an address without them.
        assert!(identity.is_for(name) || name.starts_with('['), "{name}");
    }
}

pub fn certificate(data: &[u8]) {
    let read = certificate_identity(data);
    // The longest text of an address is that of 18 bytes, and three stand for one that is no text.
    let texts = read.names().iter().chain(read.clusters());
    assert!(texts.map(String::len).sum::<usize>() <= 3 * data.len());
    known(&read);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let names: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let read = certificate_identity(&certificate_of(DNS_NAME, &names));
    assert_eq!(read.names(), names);
    known(&read);
    let escaped = |name: &String| name.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    // More would be longer than what is made here can be.
    let few = &names[..names.len().min(256)];
    let uris: Vec<String> = few
        .iter()
        .map(|name| format!("volary://cluster/{}", escaped(name)))
        .collect();
    assert_eq!(certificate_identity(&certificate_of(URI, &uris)).clusters(), few);
}
