//! The names in a certificate: its subject's alternative names, as far as they are hosts, IP addresses or clusters. The
//! certificate was verified before; here it is only looked through.
//!
//! A cluster is a URI, `volary://cluster/NAME`; in the name, `%` and two digits stand for a byte. One that is written
//! strangely is one still, of a cluster that nobody is of: it was meant to bind.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::transport::Identity;

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const OCTETS: u8 = 0x04;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const URI: u8 = 0x86;
const IP_ADDRESS: u8 = 0x87;
/// 2.5.29.17
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// Comes before the name of a cluster.
const CLUSTER: &str = "volary://cluster";

/// What can be read of them; none from what is no certificate.
pub(crate) fn of(certificate: &[u8]) -> Identity {
    let names = || Elements(alternative_names(certificate).unwrap_or_default());
    let uris = names().filter(|(tag, _)| *tag == URI);
    Identity::new(names().filter_map(|(tag, value)| name(tag, value)))
        .of_clusters(uris.filter_map(|(_, uri)| cluster(&String::from_utf8_lossy(uri))))
}

/// The cluster that a URI names, if it is of the form for that.
fn cluster(uri: &str) -> Option<String> {
    let (start, name) = uri.split_at_checked(CLUSTER.len())?;
    if !start.eq_ignore_ascii_case(CLUSTER) {
        return None;
    }
    match name.strip_prefix('/') {
        Some(name) => Some(unescaped(name).unwrap_or_else(|| name.to_owned())),
        None => name.is_empty().then(String::new),
    }
}

/// With the bytes that `%` and two digits stand for.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| are_digits)?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

fn alternative_names(certificate: &[u8]) -> Option<&[u8]> {
    let signed = inside(inside(certificate, SEQUENCE)?, SEQUENCE)?;
    let extensions = Elements(signed).find(|(tag, _)| *tag == EXTENSIONS)?.1;
    Elements(inside(extensions, SEQUENCE)?)
        .filter(|(tag, _)| *tag == SEQUENCE)
        .find(|(_, extension)| inside(extension, OBJECT) == Some(&ALTERNATIVE_NAMES))
        .and_then(|(_, extension)| Elements(extension).find(|(tag, _)| *tag == OCTETS))
        .and_then(|(_, octets)| inside(octets, SEQUENCE))
}

fn name(tag: u8, value: &[u8]) -> Option<String> {
    match tag {
        DNS_NAME => String::from_utf8(value.to_vec()).ok(),
        IP_ADDRESS => match value.len() {
            4 => Some(Ipv4Addr::from(*value.first_chunk::<4>()?).to_string()),
            16 => Some(Ipv6Addr::from(*value.first_chunk::<16>()?).to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// What the first element holds, if it is of this kind.
fn inside(bytes: &[u8], wanted: u8) -> Option<&[u8]> {
    Elements(bytes)
        .next()
        .filter(|(tag, _)| *tag == wanted)
        .map(|(_, value)| value)
}

/// One element of DER after the other: its tag, and what it holds.
struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&tag, rest) = self.0.split_first()?;
        let (&length, rest) = rest.split_first()?;
        let (length, rest) = match length {
            0..=0x7f => (usize::from(length), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
                let length = digits.iter().fold(0, |sum, digit| sum << 8 | usize::from(*digit));
                (length, rest)
            }
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(names: &[&str]) -> Vec<u8> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        made.cert.der().to_vec()
    }

    #[test]
    fn r5_hosts_and_addresses_are_found() {
        let names = ["bank-0.internal", "*.shops.internal", "10.0.0.7", "::1"];
        assert_eq!(of(&certificate(&names)).names(), names);
        let many: Vec<String> = (0..500).map(|n| format!("host-{n}.internal")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&certificate(&many)).names(), many);
    }

    #[test]
    fn r5_clusters_are_found_and_other_uris_are_none() {
        let mut params = rcgen::CertificateParams::new(vec!["bank-0.internal".to_owned()]).unwrap();
        let uris = [
            ("volary://cluster/production", Some("production")),
            ("VOLARY://Cluster/Staging", Some("Staging")),
            ("volary://cluster/a%20b/c%C3%A4", Some("a b/c\u{e4}")),
            ("volary://cluster/a%2", Some("a%2")),
            ("volary://cluster/a%+1", Some("a%+1")),
            ("volary://cluster/%ff", Some("%ff")),
            ("volary://cluster/", Some("")),
            ("volary://cluster", Some("")),
            ("volary://clusters/production", None),
            ("volary://bank/production", None),
            ("spiffe://cluster/production", None),
            ("volary:", None),
        ];
        let uri = |text: &str| rcgen::SanType::URI(text.try_into().unwrap());
        params.subject_alt_names.extend(uris.map(|(text, _)| uri(text)));
        let key = rcgen::KeyPair::generate().unwrap();
        let found = of(params.self_signed(&key).unwrap().der());
        let clusters: Vec<&str> = uris.iter().filter_map(|(_, cluster)| *cluster).collect();
        assert_eq!(found.clusters(), clusters);
        assert_eq!(found.names(), ["bank-0.internal"]);
    }

    #[test]
    fn r5_what_is_cut_or_no_certificate_has_no_names() {
        let whole = certificate(&["bank-0.internal"]);
        for length in 0..whole.len() {
            assert_eq!(of(&whole[..length]).names(), [""; 0], "the first {length} bytes");
        }
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= 0xff;
            let _ = of(&wrong);
        }
    }
}
