//! What a peer may make this node hold.

/// The limits on what is read. Together they are the budget of a connection: a peer that keeps within them costs no
/// more than they say, and one that does not is disconnected before it costs anything.
///
/// ```
/// use volary_wire::native::Limits;
/// let mut limits = Limits::default();
/// assert_eq!(limits.max_frame, 16 * 1024 * 1024);
/// limits.max_frame = 64 * 1024; // for a peer that has not said who it is yet
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest frame, without its length.
    pub max_frame: usize,
    /// The longest message that comes in pieces.
    pub max_message: usize,
    /// The longest name or address.
    pub max_name: usize,
    /// The longest text for humans, as in a refusal.
    pub max_text: usize,
    /// The most bytes of metadata on one message.
    pub max_metadata: usize,
    /// The most headers on one message.
    pub max_headers: usize,
    /// The most names that a peer may intern, of addresses and of types each.
    pub max_interned: usize,
    /// The most bytes of interned names, of addresses and of types each.
    pub max_interned_bytes: usize,
    /// The most messages that may arrive in pieces at the same time.
    pub max_assemblies: usize,
    /// The most bytes of messages that are being put together.
    pub max_assembly_bytes: usize,
    /// How many bytes of room the decoder makes at a time, whatever a frame claims to be.
    pub read_step: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_frame: 16 * 1024 * 1024,
            max_message: 64 * 1024 * 1024,
            max_name: volary_core::Address::MAX_BYTES,
            max_text: 4 * 1024,
            // As many headers as the core lets travel, with what is written around each.
            max_metadata: 18 * 1024,
            max_headers: 64,
            max_interned: 8 * 1024,
            max_interned_bytes: 1024 * 1024,
            max_assemblies: 16,
            max_assembly_bytes: 128 * 1024 * 1024,
            read_step: 16 * 1024,
        }
    }
}

/// The most that a node takes of what the other side sends, as it says when they connect. What is longer is refused where it
/// is sent, instead of ending the connection where it arrives. What is not said is not known: nodes of an earlier version say
/// nothing of it.
///
/// ```
/// use volary_wire::native::{Bounds, Limits};
///
/// let bounds = Bounds::of(&Limits::default());
/// assert_eq!(bounds.message, Some(64 * 1024 * 1024));
/// assert_eq!(Bounds::default().message, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The longest frame, without its length.
    pub frame: Option<u64>,
    /// The longest message that comes in pieces.
    pub message: Option<u64>,
    /// The most headers on one message.
    pub headers: Option<u64>,
    /// How many of its messages may be on their way, or wait over there, at a time. This one is no bound on what the other
    /// side sends: it tells that side how much of it a single actor there may keep.
    pub window: Option<u64>,
}

impl Bounds {
    /// Those of whoever reads within these limits.
    ///
    /// ```
    /// # use volary_wire::native::{Bounds, Limits};
    /// let mut limits = Limits::default();
    /// limits.max_headers = 3;
    /// assert_eq!(Bounds::of(&limits).headers, Some(3));
    /// ```
    #[must_use]
    pub const fn of(limits: &Limits) -> Self {
        Bounds {
            frame: Some(limits.max_frame as u64),
            message: Some(limits.max_message as u64),
            headers: Some(limits.max_headers as u64),
            window: None,
        }
    }

    /// The same of whoever sends so many messages at a time.
    ///
    /// ```
    /// # use volary_wire::native::{Bounds, Limits};
    /// assert_eq!(Bounds::of(&Limits::default()).with_window(64).window, Some(64));
    /// ```
    #[must_use]
    pub const fn with_window(self, window: u64) -> Self {
        Bounds {
            window: Some(window),
            ..self
        }
    }
}
