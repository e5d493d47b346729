//! What can be set, and what it is otherwise.

use std::time::Duration;

use volary_wire::native::Limits;

use crate::error::RemoteStartError;

/// What happens to a message for which there is no room on its way: as many as [`window`](RemoteOptions::window) are
/// unconfirmed, or [`outbound_bytes`](RemoteOptions::outbound_bytes) of them.
///
/// Whatever is dropped becomes a dead letter with the reason [`Full`](volary_core::DeadReason::Full), and an ask ends with
/// [`Busy`](volary_core::RemoteError::Busy): nothing is lost in silence.
///
/// ```
/// use volary_remote::{Overflow, RemoteOptions};
///
/// // Readings of a sensor: the latest count, also after an hour without a connection.
/// let options = RemoteOptions::new().outbound_bytes(1 << 20).overflow(Overflow::DropOldest);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Overflow {
    /// It is given back to whoever sends it: [`tell`](volary_core::ActorRef::tell) says that it is full, and
    /// [`send`](volary_core::ActorRef::send) waits for room. Nobody loses what they were told is on its way.
    #[default]
    Refuse,
    /// It is dropped. Nobody waits, and nobody has it given back.
    DropNewest,
    /// What has waited longest for a connection is dropped for it. While there is a connection everything that was taken is
    /// on its way to be handled, and the newest is dropped instead.
    DropOldest,
}

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr, such as $example:literal;)+) => {
        /// Limits and times of remoting.
        ///
        /// ```
        /// # use std::time::Duration;
        /// use volary_remote::RemoteOptions;
        /// let options = RemoteOptions::new().silence(Duration::from_secs(3)).outbound_bytes(1 << 20);
        /// # assert_ne!(format!("{options:?}"), format!("{:?}", RemoteOptions::new()));
        /// ```
        #[derive(Debug, Clone)]
        #[must_use]
        pub struct RemoteOptions { $(pub(crate) $name: $type,)+ }

        impl Default for RemoteOptions {
            fn default() -> Self {
                RemoteOptions { $($name: $default,)+ }
            }
        }

        impl RemoteOptions {
            /// The defaults.
            ///
            /// ```
            /// # use volary_remote::RemoteOptions;
            /// assert_eq!(format!("{:?}", RemoteOptions::new()), format!("{:?}", RemoteOptions::default()));
            /// ```
            pub fn new() -> Self {
                RemoteOptions::default()
            }

            $($(#[$doc])*
            ///
            /// ```
            /// # use std::time::Duration;
            /// # use volary_remote::{Overflow, RemoteOptions};
            #[doc = concat!("let options = RemoteOptions::new().", stringify!($name), "(", $example, ");")]
            /// # assert_ne!(format!("{options:?}"), format!("{:?}", RemoteOptions::new()));
            /// ```
            pub fn $name(mut self, value: $type) -> Self {
                self.$name = value;
                self
            })+
        }
    };
}

options! {
    /// How many bytes may wait for one peer, on their way or for a connection. What is beyond is refused as full.
    outbound_bytes: usize = 64 << 20, such as "16 << 20";
    /// What happens to messages beyond that, and beyond the `window`.
    overflow: Overflow = Overflow::Refuse, such as "Overflow::DropOldest";
    /// How many messages may be unconfirmed by one peer, and how many of its asks unanswered here.
    window: u64 = 65_536, such as "16_384";
    /// How many messages of one peer may wait in the mailbox of one actor; what is beyond is answered as busy.
    receiver_share: u64 = 16_384, such as "1_024";
    /// How many bytes of messages of all peers together may wait in mailboxes here; each counts for at least 256. A peer
    /// may have as much of it as is free, so that one alone has half; what is beyond is answered as busy, and a message
    /// that is larger than half is never taken.
    inbound_bytes: usize = 256 << 20, such as "64 << 20";
    /// Larger frames are cut in pieces of at most this length, so that small ones pass between them. With its head a piece of the
    /// usual length fits into a buffer of 64 KiB: one that does not is copied once more.
    chunk_bytes: usize = 63 << 10, such as "16 << 10";
    /// How many bytes of such pieces may be on their way while small messages go beside them, which arrive behind them: all of it
    /// where the way there and back takes a quarter of a millisecond or more, in proportion where it takes less, but a quarter of
    /// it and a piece of 8 KiB at least. More makes small messages wait; less makes large ones slow, since no more goes there and
    /// back at a time. Without small messages it is sixteen times as much.
    large_window: usize = 126 << 10, such as "64 << 10";
    /// The longest frame that a peer may send; one that says to be longer ends its connection before anything is held of it. Larger
    /// messages come in pieces, unless the other node cannot put those together.
    max_frame: usize = 16 << 20, such as "1 << 20";
    /// The longest message, in pieces or not. Nodes say theirs when they connect, and one that is longer than either takes is
    /// refused where it is sent. Whoever sends it nevertheless loses its connection.
    max_message: usize = 64 << 20, such as "8 << 20";
    /// How many headers a message of a peer may have; peers hear of it, and refuse more where they are sent.
    max_headers: usize = 64, such as "16";
    /// How long a connection and its handshake may take.
    connect_timeout: Duration = Duration::from_secs(5), such as "Duration::from_secs(2)";
    /// The pause before the first new attempt to connect; it doubles up to `backoff_most`.
    backoff_first: Duration = Duration::from_secs(1), such as "Duration::from_millis(200)";
    /// The longest pause between attempts to connect.
    backoff_most: Duration = Duration::from_secs(30), such as "Duration::from_secs(10)";
    /// How often a heartbeat is sent on each connection, busy or idle; the other side answers it.
    heartbeat: Duration = Duration::from_secs(1), such as "Duration::from_millis(500)";
    /// After which silence a connection is given up.
    silence: Duration = Duration::from_secs(5), such as "Duration::from_secs(2)";
    /// For how long a peer may be unreachable before those who watch its actors hear that they are lost.
    lost_after: Duration = Duration::from_secs(15), such as "Duration::from_secs(60)";
    /// How long an operation on another node may take, the making of a connection included.
    operation_timeout: Duration = Duration::from_secs(10), such as "Duration::from_secs(3)";
    /// How many other nodes may be known at a time. Those that nobody here speaks with any more are forgotten when there
    /// would be more; if all are spoken with, callers are refused and addresses of others lead nowhere.
    peers: usize = 4_096, such as "100";
    /// How many connections may be in their handshake at a time.
    handshakes: usize = 256, such as "32";
    /// How many bytes the compressed bytes of one read, which are 16 KiB, may become; more ends the connection. Not less
    /// than the `outbound_bytes` of others.
    stretch_bytes: usize = 128 << 20, such as "256 << 20";
}

/// What a piece of a message needs beside its bytes, and more.
pub(crate) const PIECE_HEAD: usize = 1_024;
/// The least that `chunk_bytes` may be.
pub(crate) const SHORTEST_CHUNK: usize = 1_024;
/// Lengths are numbers of 32 bits, and sums of them are made.
const MOST_IN_A_FRAME: usize = 1 << 30;

impl RemoteOptions {
    /// What a peer may make this node hold, once it is known.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.max_frame = self.max_frame;
        limits.max_message = self.max_message;
        limits.max_headers = self.max_headers;
        limits.max_assembly_bytes = limits.max_assembly_bytes.max(2 * self.max_message);
        limits
    }

    pub(crate) fn check(&self) -> Result<(), RemoteStartError> {
        let wrong = |option, value: String, allowed| Err(RemoteStartError::Option { option, value, allowed });
        if self.outbound_bytes < 1 << 16 {
            return wrong("outbound_bytes", self.outbound_bytes.to_string(), "at least 65,536");
        }
        if self.inbound_bytes < 1 << 20 {
            return wrong("inbound_bytes", self.inbound_bytes.to_string(), "at least 1,048,576");
        }
        if self.window < 16 {
            return wrong("window", self.window.to_string(), "at least 16");
        }
        if self.receiver_share == 0 || self.receiver_share > self.window {
            return wrong(
                "receiver_share",
                self.receiver_share.to_string(),
                "between 1 and the window",
            );
        }
        if !(SHORTEST_CHUNK..=8 << 20).contains(&self.chunk_bytes) {
            return wrong(
                "chunk_bytes",
                self.chunk_bytes.to_string(),
                "between 1,024 and 8,388,608",
            );
        }
        if self.max_frame < self.chunk_bytes + PIECE_HEAD || self.max_frame > MOST_IN_A_FRAME {
            return wrong(
                "max_frame",
                self.max_frame.to_string(),
                "at least `chunk_bytes` and 1,024 more, at most 1,073,741,824",
            );
        }
        if self.max_message < self.max_frame || self.max_message > MOST_IN_A_FRAME {
            return wrong(
                "max_message",
                self.max_message.to_string(),
                "at least `max_frame`, at most 1,073,741,824",
            );
        }
        if self.max_headers > Limits::default().max_headers {
            return wrong("max_headers", self.max_headers.to_string(), "at most 64");
        }
        if self.large_window == 0 {
            return wrong("large_window", "0".to_owned(), "at least 1");
        }
        let times = [
            ("connect_timeout", self.connect_timeout),
            ("backoff_first", self.backoff_first),
            ("heartbeat", self.heartbeat),
            ("silence", self.silence),
            ("lost_after", self.lost_after),
            ("operation_timeout", self.operation_timeout),
        ];
        for (option, time) in times {
            if time.is_zero() {
                return wrong(option, format!("{time:?}"), "longer than zero");
            }
        }
        if self.silence <= self.heartbeat {
            return wrong("silence", format!("{:?}", self.silence), "longer than `heartbeat`");
        }
        if self.backoff_most < self.backoff_first {
            return wrong(
                "backoff_most",
                format!("{:?}", self.backoff_most),
                "at least `backoff_first`",
            );
        }
        if self.stretch_bytes < 1 << 16 {
            return wrong("stretch_bytes", self.stretch_bytes.to_string(), "at least 65,536");
        }
        if self.peers == 0 {
            return wrong("peers", "0".to_owned(), "at least 1");
        }
        if self.handshakes == 0 {
            return wrong("handshakes", "0".to_owned(), "at least 1");
        }
        Ok(())
    }
}
