//! Where a node can be reached: a host and a port.
//!
//! A host is a DNS name, an IPv4 address or, in brackets, an IPv6 address. It is kept in one spelling (lowercase, the
//! shortest form of IPv6), so that equal nodes are equal texts. Nothing here resolves names.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    num::NonZeroU16,
    str::FromStr,
    sync::Arc,
};

use thiserror::Error;

const MAX_HOST_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// The host of a node.
///
/// ```
/// use volary_core::tree::Host;
///
/// assert_eq!("Node-1.Example.org".parse::<Host>()?.to_string(), "node-1.example.org");
/// assert_eq!("10.0.0.7".parse::<Host>()?.to_string(), "10.0.0.7");
/// assert_eq!("[0:0::1]".parse::<Host>()?.to_string(), "[::1]");
/// # Ok::<(), volary_core::tree::HostError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(Kind);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Dns(Arc<str>),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        if let Some(rest) = text.strip_prefix('[') {
            let inner = rest.strip_suffix(']').ok_or(HostError::Bracket)?;
            return inner.parse().map(|ip| Self(Kind::V6(ip))).map_err(|_| HostError::Ipv6);
        }
        if let Ok(ip) = text.parse() {
            return Ok(Self(Kind::V4(ip)));
        }
        validate_dns_name(text)?;
        Ok(Self(Kind::Dns(text.to_ascii_lowercase().into())))
    }
}

fn validate_dns_name(text: &str) -> Result<(), HostError> {
    if text.is_empty() {
        return Err(HostError::Empty);
    }
    if text.len() > MAX_HOST_BYTES {
        return Err(HostError::TooLong { length: text.len() });
    }
    // An underscore is no host name by the book, but container networks hand them out.
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if let Some((position, character)) = text.char_indices().find(|(_, character)| !allowed(*character)) {
        return Err(HostError::Character { character, position });
    }
    let mut position = 0;
    let mut last = "";
    for label in text.split('.') {
        if !matches!(label.len(), 1..=MAX_LABEL_BYTES) || label.starts_with('-') || label.ends_with('-') {
            return Err(HostError::Label { position });
        }
        position += label.len() + 1;
        last = label;
    }
    // `10.0.0.256` is a mistyped address, not a DNS name.
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(HostError::Ipv4);
    }
    Ok(())
}

impl From<Ipv4Addr> for Host {
    fn from(ip: Ipv4Addr) -> Self {
        Self(Kind::V4(ip))
    }
}

impl From<Ipv6Addr> for Host {
    fn from(ip: Ipv6Addr) -> Self {
        Self(Kind::V6(ip))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Dns(name) => f.write_str(name),
            Kind::V4(ip) => write!(f, "{ip}"),
            Kind::V6(ip) => write!(f, "[{ip}]"),
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({self})")
    }
}

/// Why a text is no host.
///
/// ```
/// use volary_core::tree::{Host, HostError};
///
/// assert_eq!("10.0.0.256".parse::<Host>(), Err(HostError::Ipv4));
/// assert_eq!("::1".parse::<Host>(), Err(HostError::Character { character: ':', position: 0 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HostError {
    /// Name a host.
    #[error("expected a DNS name, an IPv4 address or an IPv6 address in brackets")]
    Empty,
    /// Shorten the name.
    #[error("host name is {length} bytes long; at most {MAX_HOST_BYTES} are allowed")]
    TooLong {
        /// How long the name is, in bytes.
        length: usize,
    },
    /// Replace the character; an IPv6 address is written in brackets.
    #[error(
        "character {character:?} is not allowed in a host; use letters, digits, '-' and '.', or an IPv6 address in brackets"
    )]
    Character {
        /// The first character that is not allowed.
        character: char,
        /// Where it begins, in bytes from the start of the host.
        position: usize,
    },
    /// Mend the part between the dots.
    #[error("expected a part of 1 to {MAX_LABEL_BYTES} characters that neither begins nor ends with '-'")]
    Label {
        /// Where the part begins, in bytes from the start of the host.
        position: usize,
    },
    /// Four numbers from 0 to 255.
    #[error("a host that ends in a number must be an IPv4 address: four numbers from 0 to 255")]
    Ipv4,
    /// Mend the address between the brackets; a zone (`%eth0`) means something on one machine only and is refused.
    #[error("expected an IPv6 address without a zone between the brackets")]
    Ipv6,
    /// Close the bracket.
    #[error("expected ']' after the IPv6 address")]
    Bracket,
}

impl HostError {
    /// Where in the host the mistake is, in bytes.
    ///
    /// ```
    /// # use volary_core::tree::Host;
    /// assert_eq!("a..b".parse::<Host>().unwrap_err().position(), 2);
    /// ```
    #[must_use]
    pub fn position(&self) -> usize {
        match self {
            Self::Character { position, .. } | Self::Label { position } => *position,
            Self::TooLong { .. } => MAX_HOST_BYTES,
            Self::Ipv6 => 1,
            Self::Empty | Self::Ipv4 | Self::Bracket => 0,
        }
    }
}

/// The node part of an address, `host:port`.
///
/// ```
/// use volary_core::tree::Node;
///
/// let node: Node = "[::1]:4242".parse()?;
/// assert_eq!(node.port(), 4242);
/// assert_eq!(node.host().to_string(), "[::1]");
/// # Ok::<(), volary_core::tree::NodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    host: Host,
    port: NonZeroU16,
}

impl Node {
    /// The node that listens at this host and port.
    ///
    /// ```
    /// # use volary_core::tree::Node;
    /// assert_eq!(Node::new("db-1".parse()?, 4242)?.to_string(), "db-1:4242");
    /// assert!(Node::new("db-1".parse()?, 0).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the port is 0, which asks for any port and leads to none.
    pub fn new(host: Host, port: u16) -> Result<Self, NodeError> {
        let port = NonZeroU16::new(port).ok_or(NodeError::Port { position: 0 })?;
        Ok(Self { host, port })
    }

    /// The host.
    ///
    /// ```
    /// # use volary_core::tree::Node;
    /// assert_eq!("db-1:1".parse::<Node>()?.host(), &"db-1".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, never 0.
    ///
    /// ```
    /// # use volary_core::tree::Node;
    /// assert_eq!("db-1:1".parse::<Node>()?.port(), 1);
    /// # Ok::<(), volary_core::tree::NodeError>(())
    /// ```
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.get()
    }
}

impl FromStr for Node {
    type Err = NodeError;

    fn from_str(text: &str) -> Result<Self, NodeError> {
        // The colons of an IPv6 address end at its bracket.
        let after_bracket = text.rfind(']').map_or(0, |bracket| bracket + 1);
        let colon = text[after_bracket..]
            .rfind(':')
            .map(|colon| after_bracket + colon)
            .ok_or(NodeError::NoPort { position: text.len() })?;
        let host = text[..colon].parse().map_err(|source: HostError| NodeError::Host {
            position: source.position(),
            source,
        })?;
        let port = parse_port(&text[colon + 1..]).ok_or(NodeError::Port { position: colon + 1 })?;
        Ok(Self { host, port })
    }
}

/// One port has one spelling: no sign, no leading zero.
fn parse_port(text: &str) -> Option<NonZeroU16> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if canonical { text.parse().ok() } else { None }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({self})")
    }
}

/// Why a text is no node.
///
/// ```
/// use volary_core::tree::{Node, NodeError};
///
/// assert_eq!("db-1".parse::<Node>(), Err(NodeError::NoPort { position: 4 }));
/// assert_eq!("db-1:70000".parse::<Node>(), Err(NodeError::Port { position: 5 }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Mend the host.
    #[error("invalid node at byte {position}: {source}")]
    Host {
        /// Where the mistake is.
        position: usize,
        /// What is wrong with the host; its own positions count from the start of the host.
        source: HostError,
    },
    /// Add a port.
    #[error("invalid node at byte {position}: {}", self.reason())]
    NoPort {
        /// Where the port was expected.
        position: usize,
    },
    /// Name a port from 1 to 65535.
    #[error("invalid node at byte {position}: {}", self.reason())]
    Port {
        /// Where the port begins.
        position: usize,
    },
}

impl NodeError {
    /// Where the mistake is, in bytes.
    ///
    /// ```
    /// # use volary_core::tree::Node;
    /// assert_eq!("db-1:x".parse::<Node>().unwrap_err().position(), 5);
    /// ```
    #[must_use]
    pub fn position(&self) -> usize {
        match self {
            Self::Host { position, .. } | Self::NoPort { position } | Self::Port { position } => *position,
        }
    }

    /// The message without the position, for errors that give a position of their own.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Host { source, .. } => source.to_string(),
            Self::NoPort { .. } => "expected ':' and a port".to_owned(),
            Self::Port { .. } => "expected a port from 1 to 65535 without leading zeros".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_spelling() {
        for (given, kept) in [
            ("LOCALHOST", "localhost"),
            ("my_service", "my_service"),
            ("127.0.0.1", "127.0.0.1"),
            ("[FE80:0:0::1]", "[fe80::1]"),
            ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ] {
            let host: Host = given.parse().expect("valid host");
            assert_eq!(host.to_string(), kept);
            assert_eq!(kept.parse::<Host>().as_ref(), Ok(&host));
        }
    }

    #[test]
    fn bad_hosts_are_refused() {
        let long_label = "a".repeat(64);
        let long_name = "a.".repeat(127) + "aa";
        for text in [
            "",
            "-a",
            "a-",
            "a..b",
            "a.",
            ".a",
            "a b",
            "bücher",
            "::1",
            "[::1",
            "[]",
            "[1.2.3.4]",
            "[fe80::1%eth0]",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "a.1",
            &long_label,
            &long_name,
        ] {
            assert!(text.parse::<Host>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn bad_ports_are_refused() {
        for text in [
            "a:0", "a:", "a:+1", "a:01", "a:65536", "a: 1", "[::1]", "[::1]1", "a:1:2", "]:1", ":",
        ] {
            assert!(text.parse::<Node>().is_err(), "{text:?}");
        }
    }
}
