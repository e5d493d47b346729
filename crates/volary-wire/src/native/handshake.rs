//! The first words of a connection. They are fields with tags, and unknown ones are skipped, so that later versions
//! can say more.
//!
//! ```text
//!   field   ┌ tag u8 ┬ length ┬ value … ┐
//! ```

use bytes::{BufMut, BytesMut};

use super::read::Reader;
use super::write::{number_length, put_number};
use super::{Bounds, FrameError, Limits, Text};

/// The most capabilities or compressions in one handshake.
const MAX_LIST: usize = 64;

/// Who calls, and what they can do. The first frame of whoever opened the connection.
///
/// ```
/// use volary_wire::native::{Bounds, Capabilities, Hello, Lane, Limits, VERSIONS};
///
/// let hello = Hello {
///     versions: VERSIONS,
///     cluster: "production".into(),
///     system: "bank".into(),
///     node: "10.0.0.7:4242".into(),
///     incarnation: 3,
///     lane: Lane::Control,
///     capabilities: Capabilities::all().names(),
///     compressions: vec!["zstd".into()],
///     called: vec!["shop".into()],
///     bounds: Bounds::of(&Limits::default()),
/// };
/// # let _ = hello;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The oldest and the newest version of this dialect that the caller speaks.
    pub versions: (u16, u16),
    /// The cluster that it belongs to; may be empty.
    pub cluster: Text,
    /// The name of its system.
    pub system: Text,
    /// Where it can be reached.
    pub node: Text,
    /// Grows with every start of the node.
    pub incarnation: u64,
    /// What the connection is for.
    pub lane: Lane,
    /// What it can do beyond the version, by name; [`Capabilities`](super::Capabilities) are those known here.
    pub capabilities: Vec<Text>,
    /// The compressions that it offers, the best first.
    pub compressions: Vec<Text>,
    /// The name of the system that it means to speak with, if it knows one.
    pub called: Vec<Text>,
    /// What it takes of what it is sent.
    pub bounds: Bounds,
}

/// Who was called, and what was chosen.
///
/// ```
/// use volary_wire::native::{Bounds, Limits, Welcome};
///
/// let welcome = Welcome {
///     version: 1,
///     system: "bank".into(),
///     node: "10.0.0.8:4242".into(),
///     incarnation: 9,
///     capabilities: Vec::new(),
///     compression: None,
///     bounds: Bounds::of(&Limits::default()),
/// };
/// # let _ = welcome;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Welcome {
    /// The version that both will speak.
    pub version: u16,
    /// The name of the system.
    pub system: Text,
    /// Where the node can be reached.
    pub node: Text,
    /// Grows with every start of the node.
    pub incarnation: u64,
    /// Those of the caller's that this side has too.
    pub capabilities: Vec<Text>,
    /// One of those offered, or none; begins behind this frame.
    pub compression: Option<Text>,
    /// What it takes of what it is sent.
    pub bounds: Bounds,
}

/// Why the connection was not taken. It is closed behind this frame.
///
/// ```
/// use volary_wire::native::{Refuse, RefuseReason};
/// let _ = Refuse { reason: RefuseReason::Cluster, text: "this is `staging`".into() };
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuse {
    /// For the program.
    pub reason: RefuseReason,
    /// For humans.
    pub text: Text,
}

/// Why a connection was not taken.
///
/// ```
/// use volary_wire::native::RefuseReason;
/// assert_ne!(RefuseReason::Version, RefuseReason::Quarantined);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RefuseReason {
    /// No version in common. Do not try again before one of the two is updated.
    Version,
    /// Another cluster. Do not try again.
    Cluster,
    /// Another system or node than was called. Look the address up again.
    Node,
    /// This incarnation is quarantined. Come back as a new one.
    Quarantined,
    /// The caller may not connect. Do not try again with the same credentials.
    Forbidden,
    /// There is a connection for this lane already. Use that one.
    Duplicate,
    /// Too many connections. Try again later.
    Busy,
    /// The node stops. Try again later.
    Stopping,
    /// A reason of a later version.
    Other(u8),
}

impl RefuseReason {
    pub(crate) fn number(self) -> u8 {
        match self {
            RefuseReason::Version => 0,
            RefuseReason::Cluster => 1,
            RefuseReason::Node => 2,
            RefuseReason::Quarantined => 3,
            RefuseReason::Forbidden => 4,
            RefuseReason::Duplicate => 5,
            RefuseReason::Busy => 6,
            RefuseReason::Stopping => 7,
            RefuseReason::Other(number) => number,
        }
    }

    pub(crate) fn from_number(number: u8) -> Self {
        match number {
            0 => RefuseReason::Version,
            1 => RefuseReason::Cluster,
            2 => RefuseReason::Node,
            3 => RefuseReason::Quarantined,
            4 => RefuseReason::Forbidden,
            5 => RefuseReason::Duplicate,
            6 => RefuseReason::Busy,
            7 => RefuseReason::Stopping,
            other => RefuseReason::Other(other),
        }
    }
}

/// What a connection is for.
///
/// ```
/// use volary_wire::native::Lane;
/// assert_ne!(Lane::Ordinary(0), Lane::Ordinary(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Lane {
    /// Heartbeats, watches, operations.
    Control,
    /// Messages of users; the receiver says which of these.
    Ordinary(u8),
    /// Messages in pieces.
    Large,
}

impl Lane {
    fn write(self) -> (u8, u8) {
        match self {
            Lane::Control => (0, 0),
            Lane::Ordinary(number) => (1, number),
            Lane::Large => (2, 0),
        }
    }

    fn read(bytes: (u8, u8)) -> Option<Self> {
        match bytes {
            (0, 0) => Some(Lane::Control),
            (1, number) => Some(Lane::Ordinary(number)),
            (2, 0) => Some(Lane::Large),
            _ => None,
        }
    }
}

const VERSIONS: u8 = 1;
const CLUSTER: u8 = 2;
const SYSTEM: u8 = 3;
const NODE: u8 = 4;
const INCARNATION: u8 = 5;
const LANE: u8 = 6;
const CAPABILITY: u8 = 7;
const COMPRESSION: u8 = 8;
const CHOSEN_VERSION: u8 = 9;
const CALLED: u8 = 10;
const LONGEST_FRAME: u8 = 11;
const LONGEST_MESSAGE: u8 = 12;
const MOST_HEADERS: u8 = 13;
const WINDOW: u8 = 14;

pub(super) fn write_hello(out: &mut BytesMut, hello: &Hello) {
    number_pair(out, VERSIONS, hello.versions);
    field(out, CLUSTER, hello.cluster.as_bytes());
    field(out, SYSTEM, hello.system.as_bytes());
    field(out, NODE, hello.node.as_bytes());
    number(out, INCARNATION, hello.incarnation);
    let (lane, index) = hello.lane.write();
    field(out, LANE, &[lane, index]);
    list(out, CAPABILITY, &hello.capabilities);
    list(out, COMPRESSION, &hello.compressions);
    list(out, CALLED, &hello.called);
    bounds(out, hello.bounds);
}

pub(super) fn write_welcome(out: &mut BytesMut, welcome: &Welcome) {
    number(out, CHOSEN_VERSION, welcome.version.into());
    field(out, SYSTEM, welcome.system.as_bytes());
    field(out, NODE, welcome.node.as_bytes());
    number(out, INCARNATION, welcome.incarnation);
    list(out, CAPABILITY, &welcome.capabilities);
    list(out, COMPRESSION, welcome.compression.as_slice());
    bounds(out, welcome.bounds);
}

pub(super) fn read_hello(mut from: Reader, limits: &Limits) -> Result<Hello, FrameError> {
    let fields = Fields::read(&mut from, limits)?;
    let (low, high) = needed(&from, fields.versions, "versions")?;
    if low > high {
        return Err(from.unfit("versions", low.into()));
    }
    Ok(Hello {
        versions: (low, high),
        cluster: fields.cluster.unwrap_or_default(),
        system: needed(&from, fields.system, "system")?,
        node: needed(&from, fields.node, "node")?,
        incarnation: needed(&from, fields.incarnation, "incarnation")?,
        lane: needed(&from, fields.lane, "lane")?,
        capabilities: fields.capabilities,
        compressions: fields.compressions,
        called: fields.called,
        bounds: fields.bounds,
    })
}

pub(super) fn read_welcome(mut from: Reader, limits: &Limits) -> Result<Welcome, FrameError> {
    let mut fields = Fields::read(&mut from, limits)?;
    from.within(fields.compressions.len(), 1, "compression")?;
    Ok(Welcome {
        version: needed(&from, fields.version, "version")?,
        system: needed(&from, fields.system, "system")?,
        node: needed(&from, fields.node, "node")?,
        incarnation: needed(&from, fields.incarnation, "incarnation")?,
        capabilities: fields.capabilities,
        compression: fields.compressions.pop(),
        bounds: fields.bounds,
    })
}

#[derive(Default)]
struct Fields {
    versions: Option<(u16, u16)>,
    version: Option<u16>,
    cluster: Option<Text>,
    system: Option<Text>,
    node: Option<Text>,
    incarnation: Option<u64>,
    lane: Option<Lane>,
    capabilities: Vec<Text>,
    compressions: Vec<Text>,
    called: Vec<Text>,
    bounds: Bounds,
}

impl Fields {
    fn read(from: &mut Reader, limits: &Limits) -> Result<Self, FrameError> {
        let mut fields = Fields::default();
        while !from.is_empty() {
            let tag = from.u8("field")?;
            let bytes = from.counted(limits.max_name, "field")?;
            let mut value = Reader::new(from.kind(), bytes);
            match tag {
                VERSIONS => {
                    let pair = (value.number_below("versions")?, value.number_below("versions")?);
                    once(from, &mut fields.versions, pair, tag)?;
                }
                CHOSEN_VERSION => once(from, &mut fields.version, value.number_below("version")?, tag)?,
                CLUSTER => once(from, &mut fields.cluster, rest(&mut value, limits, "cluster")?, tag)?,
                SYSTEM => once(from, &mut fields.system, rest(&mut value, limits, "system")?, tag)?,
                NODE => once(from, &mut fields.node, rest(&mut value, limits, "node")?, tag)?,
                INCARNATION => once(from, &mut fields.incarnation, value.number("incarnation")?, tag)?,
                LANE => {
                    let pair = (value.u8("lane")?, value.u8("lane")?);
                    let lane = Lane::read(pair).ok_or_else(|| from.unfit("lane", pair.0.into()))?;
                    once(from, &mut fields.lane, lane, tag)?;
                }
                CAPABILITY => one_more(from, &mut fields.capabilities, rest(&mut value, limits, "capability")?)?,
                COMPRESSION => one_more(from, &mut fields.compressions, rest(&mut value, limits, "compression")?)?,
                CALLED => one_more(from, &mut fields.called, rest(&mut value, limits, "called")?)?,
                LONGEST_FRAME => once(from, &mut fields.bounds.frame, value.number("longest frame")?, tag)?,
                LONGEST_MESSAGE => once(from, &mut fields.bounds.message, value.number("longest message")?, tag)?,
                MOST_HEADERS => once(from, &mut fields.bounds.headers, value.number("headers")?, tag)?,
                WINDOW => once(from, &mut fields.bounds.window, value.number("window")?, tag)?,
                _ => continue,
            }
            value.end()?;
        }
        Ok(fields)
    }
}

fn rest(value: &mut Reader, limits: &Limits, field: &'static str) -> Result<Text, FrameError> {
    value.rest_as_text(limits.max_name, field)
}

fn once<T>(from: &Reader, place: &mut Option<T>, value: T, tag: u8) -> Result<(), FrameError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(from.unfit("field", tag.into())),
    }
}

fn one_more(from: &Reader, list: &mut Vec<Text>, value: Text) -> Result<(), FrameError> {
    list.push(value);
    from.within(list.len(), MAX_LIST, "list")
}

fn needed<T>(from: &Reader, value: Option<T>, field: &'static str) -> Result<T, FrameError> {
    value.ok_or(FrameError::Truncated {
        kind: from.kind(),
        field,
    })
}

fn field(out: &mut BytesMut, tag: u8, value: &[u8]) {
    out.put_u8(tag);
    put_number(out, value.len() as u64);
    out.put_slice(value);
}

fn number(out: &mut BytesMut, tag: u8, value: u64) {
    out.put_u8(tag);
    put_number(out, number_length(value) as u64);
    put_number(out, value);
}

fn bounds(out: &mut BytesMut, bounds: Bounds) {
    let all = [
        (LONGEST_FRAME, bounds.frame),
        (LONGEST_MESSAGE, bounds.message),
        (MOST_HEADERS, bounds.headers),
        (WINDOW, bounds.window),
    ];
    for (tag, said) in all {
        said.into_iter().for_each(|value| number(out, tag, value));
    }
}

fn number_pair(out: &mut BytesMut, tag: u8, (low, high): (u16, u16)) {
    out.put_u8(tag);
    put_number(out, (number_length(low.into()) + number_length(high.into())) as u64);
    put_number(out, low.into());
    put_number(out, high.into());
}

fn list(out: &mut BytesMut, tag: u8, list: &[Text]) {
    list.iter().for_each(|text| field(out, tag, text.as_bytes()));
}
