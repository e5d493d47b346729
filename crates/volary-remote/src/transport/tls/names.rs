//! The names in a certificate: its subject's alternative names, as far as they are hosts or IP addresses. The certificate
//! was verified before; here it is only looked through.

use std::net::{Ipv4Addr, Ipv6Addr};

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const OCTETS: u8 = 0x04;
const EXTENSIONS: u8 = 0xa3;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;
/// 2.5.29.17
const ALTERNATIVE_NAMES: [u8; 3] = [0x55, 0x1d, 0x11];

/// What can be read of them; none from what is no certificate.
pub(crate) fn of(certificate: &[u8]) -> Vec<String> {
    alternative_names(certificate)
        .map(|names| Elements(names).filter_map(|(tag, value)| name(tag, value)).collect())
        .unwrap_or_default()
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
        assert_eq!(of(&certificate(&names)), names);
        let many: Vec<String> = (0..500).map(|n| format!("host-{n}.internal")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(of(&certificate(&many)), many);
    }

    #[test]
    fn r5_what_is_cut_or_no_certificate_has_no_names() {
        let whole = certificate(&["bank-0.internal"]);
        for length in 0..whole.len() {
            assert_eq!(of(&whole[..length]), [""; 0], "the first {length} bytes");
        }
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= 0xff;
            let _ = of(&wrong);
        }
    }
}
