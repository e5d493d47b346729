//! What can be set, and what it is otherwise.

use std::fmt;
use std::time::Duration;

use volary_core::Address;
use volary_core::settings::{Effective, Section, Source};
use volary_wire::native::Limits;

use crate::settings::{Bytes, Count, Given, Time, Word};

/// What happens to a message for which there is no room on its way: as many as [`window`](RemoteOptions::window) are
/// unconfirmed, or [`outbound_bytes`](RemoteOptions::outbound_bytes) of them.
///
/// Whatever is dropped becomes a dead letter with the reason [`Full`](volary_core::DeadReason::Full), and an ask ends with
/// [`Busy`](volary_core::RemoteError::Busy): nothing is lost in silence.
///
/// ```
/// use std::time::Duration;
/// use volary_remote::{Overflow, RemoteOptions};
///
/// // Readings of a sensor: the latest count. After an hour without a connection as well, since what waits is given up only
/// // when the peer is lost.
/// let options = RemoteOptions::new().outbound_bytes(1 << 20).overflow(Overflow::DropOldest);
/// let options = options.lost_after(Duration::from_secs(2 * 60 * 60));
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

impl Overflow {
    const ALL: [Overflow; 3] = [Overflow::Refuse, Overflow::DropNewest, Overflow::DropOldest];

    /// As it is called in settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Overflow::Refuse => "refuse",
            Overflow::DropNewest => "drop-newest",
            Overflow::DropOldest => "drop-oldest",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Overflow::ALL.into_iter().find(|one| one.name() == name)
    }
}

macro_rules! options {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $default:expr, such as $example:literal;
        $kind:ident $setting:literal, $allowed:literal, $fits:expr;
    )+) => {
        /// Limits and times of remoting.
        ///
        /// Each can be given in a file and in the environment as well, as `heartbeat = "500ms"` in the table `[remote]` or as
        /// `VOLARY_REMOTE_HEARTBEAT=500ms`. What is said here counts before the environment, and that before files.
        ///
        /// ```
        /// # use std::time::Duration;
        /// use volary_remote::RemoteOptions;
        /// let options = RemoteOptions::new().silence(Duration::from_secs(3)).outbound_bytes(1 << 20);
        /// # assert_ne!(format!("{options:?}"), format!("{:?}", RemoteOptions::new()));
        /// ```
        #[derive(Clone)]
        #[must_use]
        pub struct RemoteOptions {
            $(pub(crate) $name: $type,)+
            chosen: Chosen,
        }

        /// Which of them were chosen in code.
        #[derive(Clone, Copy, Default)]
        struct Chosen { $($name: bool,)+ }

        impl Default for RemoteOptions {
            fn default() -> Self {
                RemoteOptions { $($name: $default,)+ chosen: Chosen::default() }
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
            #[doc = concat!("The setting `", $setting, "`; ", $allowed, ".")]
            ///
            /// ```
            /// # use std::time::Duration;
            /// # use volary_remote::{Overflow, RemoteOptions};
            #[doc = concat!("let options = RemoteOptions::new().", stringify!($name), "(", $example, ");")]
            /// # assert_ne!(format!("{options:?}"), format!("{:?}", RemoteOptions::new()));
            /// ```
            pub fn $name(mut self, value: $type) -> Self {
                self.$name = value;
                self.chosen.$name = true;
                self
            })+

            /// Takes what files and the environment say of those that were not chosen in code.
            pub(crate) fn take(&mut self, section: &mut Section) {
                $(let given = <$type as Given<$kind>>::read(section, $setting, $allowed);
                if let Some(given) = given.filter(|_| !self.chosen.$name) {
                    self.$name = given;
                })+
            }

            /// What is in force, and who said so.
            pub(crate) fn lines(&self, section: &Section) -> Vec<Effective> {
                vec![$(Effective::new(
                    $setting,
                    <$type as Given<$kind>>::show(self.$name),
                    origin(section, $setting, self.chosen.$name),
                )),+]
            }

            /// Those that cannot be, alone or beside others.
            pub(crate) fn faults(&self, section: &Section) -> Vec<Fault> {
                let mut faults = Vec::new();
                $(let fits: fn(&RemoteOptions) -> bool = $fits;
                if !fits(self) {
                    faults.push(Fault {
                        option: stringify!($name),
                        setting: $setting,
                        value: format!("{:?}", self.$name),
                        shown: <$type as Given<$kind>>::show(self.$name),
                        origin: origin(section, $setting, self.chosen.$name),
                        allowed: $allowed,
                    });
                })+
                faults
            }
        }

        impl fmt::Debug for RemoteOptions {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("RemoteOptions")$(.field(stringify!($name), &self.$name))+.finish()
            }
        }
    };
}

options! {
    /// How many bytes may wait for one peer, on their way or for a connection. What is beyond is refused as full.
    outbound_bytes: usize = 64 << 20, such as "16 << 20";
        Bytes "remote.outbound-bytes", "at least 64KiB", |o| o.outbound_bytes >= 1 << 16;
    /// What happens to messages beyond that, and beyond the `window`.
    overflow: Overflow = Overflow::Refuse, such as "Overflow::DropOldest";
        Word "remote.overflow", "`refuse`, `drop-newest` or `drop-oldest`", |_| true;
    /// How many messages may be unconfirmed by one peer, and how many of its asks unanswered here.
    window: u64 = 65_536, such as "16_384";
        Count "remote.window", "a whole number, at least 16", |o| o.window >= 16;
    /// How many messages of one peer may wait in the mailbox of one actor; what is beyond is answered as busy. Of a peer whose
    /// window is smaller it is the same part of that, and never more than is left of the peer's window: however many actors
    /// are stuck, the others hear of it. As large as the `window`, one actor may have all of it.
    receiver_share: u64 = 16_384, such as "1_024";
        Count "remote.receiver-share", "a whole number, at least 1 and at most the window",
        |o| (1..=o.window).contains(&o.receiver_share);
    /// How many bytes of messages of all peers together may wait in mailboxes here, or come in pieces and not be whole yet. Each
    /// in a mailbox counts for at least 256 and at most 64 MiB. A peer may have as much of it as is free, so that one alone has
    /// half; what is beyond is answered as busy, and a message that is larger than half is never taken. Answers that this node has asked for count, and are taken in any case.
    inbound_bytes: usize = 256 << 20, such as "64 << 20";
        Bytes "remote.inbound-bytes", "at least 1MiB", |o| o.inbound_bytes >= 1 << 20;
    /// How many actors of other nodes may be known here at a time because messages of peers refer to them. Each takes about a
    /// kilobyte for as long as anybody here refers to it, and its address in a message two dozen bytes. Those of one peer's
    /// messages may be as many as are free, so that one alone has half; a message that refers to more is refused.
    references: usize = 1 << 19, such as "1 << 16";
        Count "remote.references", "a whole number, at least 2", |o| o.references >= 2;
    /// Larger frames are cut in pieces of at most this length, so that small ones pass between them. With its head a piece of the
    /// usual length fits into a buffer of 64 KiB: one that does not is copied once more.
    chunk_bytes: usize = 63 << 10, such as "16 << 10";
        Bytes "remote.chunk-bytes", "between 1KiB and 8MiB", |o| (SHORTEST_CHUNK..=8 << 20).contains(&o.chunk_bytes);
    /// How many bytes of such pieces may be on their way while small messages go beside them, which arrive behind them: all of it
    /// where the way there and back takes a quarter of a millisecond or more, in proportion where it takes less, but a quarter of
    /// it and a piece of 8 KiB at least. More makes small messages wait; less makes large ones slow, since no more goes there and
    /// back at a time. Without small messages it is sixteen times as much.
    large_window: usize = 126 << 10, such as "64 << 10";
        Bytes "remote.large-window", "at least 1", |o| o.large_window > 0;
    /// The longest frame that a peer may send; one that says to be longer ends its connection before anything is held of it. Larger
    /// messages come in pieces, unless the other node cannot put those together.
    max_frame: usize = 16 << 20, such as "1 << 20";
        Bytes "remote.max-frame", "at least 9KiB and 1KiB more than a piece, and at most 1GiB",
        |o| (o.chunk_bytes.saturating_add(PIECE_HEAD).max(SHORTEST_FRAME)..=MOST_IN_A_FRAME).contains(&o.max_frame);
    /// The longest message, in pieces or not. Nodes say theirs when they connect, and one that is longer than either takes is
    /// refused where it is sent. Whoever sends it nevertheless loses its connection.
    max_message: usize = 64 << 20, such as "8 << 20";
        Bytes "remote.max-message", "at least the longest frame, and at most 1GiB",
        |o| (o.max_frame..=MOST_IN_A_FRAME).contains(&o.max_message);
    /// How many headers a message of a peer may have; peers hear of it, and refuse more where they are sent.
    max_headers: usize = 64, such as "16";
        Count "remote.max-headers", "a whole number, at most 64", |o| o.max_headers <= Limits::default().max_headers;
    /// How long a connection and its handshake may take.
    connect_timeout: Duration = Duration::from_secs(5), such as "Duration::from_secs(2)";
        Time "remote.connect-timeout", "a time such as 5s, longer than 0", |o| !o.connect_timeout.is_zero();
    /// The pause before the first new attempt to connect; it doubles up to `backoff_most`.
    backoff_first: Duration = Duration::from_secs(1), such as "Duration::from_millis(200)";
        Time "remote.backoff-first", "a time such as 1s, longer than 0", |o| !o.backoff_first.is_zero();
    /// The longest pause between attempts to connect.
    backoff_most: Duration = Duration::from_secs(30), such as "Duration::from_secs(10)";
        Time "remote.backoff-most", "a time such as 30s, at least the first pause", |o| o.backoff_most >= o.backoff_first;
    /// How often a heartbeat is sent on each connection, busy or idle; the other side answers it.
    heartbeat: Duration = Duration::from_secs(1), such as "Duration::from_millis(500)";
        Time "remote.heartbeat", "a time such as 1s, longer than 0", |o| !o.heartbeat.is_zero();
    /// After which silence a connection is given up.
    silence: Duration = Duration::from_secs(5), such as "Duration::from_secs(2)";
        Time "remote.silence", "a time such as 5s, longer than the one between heartbeats", |o| o.silence > o.heartbeat;
    /// For how long a peer may be unreachable before those who watch its actors hear that they are lost.
    lost_after: Duration = Duration::from_secs(15), such as "Duration::from_secs(60)";
        Time "remote.lost-after", "a time such as 15s, longer than 0", |o| !o.lost_after.is_zero();
    /// How long an operation on another node may take, the making of a connection included.
    operation_timeout: Duration = Duration::from_secs(10), such as "Duration::from_secs(3)";
        Time "remote.operation-timeout", "a time such as 10s, longer than 0", |o| !o.operation_timeout.is_zero();
    /// How many other nodes may be known at a time. Those that nobody here speaks with any more are forgotten when there
    /// would be more; if all are spoken with, callers are refused and addresses of others lead nowhere.
    peers: usize = 4_096, such as "100";
        Count "remote.peers", "a whole number, at least 1", |o| o.peers > 0;
    /// How many peers have figures of their own among those of the system, those first to which there is a connection. A name
    /// that a peer goes by is a label, and whoever may call can go by ever new ones; 0 leaves the sums.
    peer_figures: usize = 256, such as "0";
        Count "remote.peer-figures", "a whole number, at most 65536", |o| o.peer_figures <= 1 << 16;
    /// How many connections may be in their handshake at a time; a quarter of them from one address, or four if that is more.
    handshakes: usize = 256, such as "32";
        Count "remote.handshakes", "a whole number, at least 1", |o| o.handshakes > 0;
    /// How many bytes the compressed bytes of one read, which are 16 KiB, may become; more ends the connection. Not less
    /// than the `outbound_bytes` of others.
    stretch_bytes: usize = 128 << 20, such as "256 << 20";
        Bytes "remote.stretch-bytes", "at least 64KiB", |o| o.stretch_bytes >= 1 << 16;
}

/// What a piece of a message needs beside its bytes, and more.
pub(crate) const PIECE_HEAD: usize = 1_024;
/// The least that `chunk_bytes` may be.
pub(crate) const SHORTEST_CHUNK: usize = 1_024;
/// The least that `max_frame` may be: an address and what is around it, which is not cut in pieces.
const SHORTEST_FRAME: usize = Address::MAX_BYTES + 1_024;
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
}

/// An option that cannot be what it is.
pub(crate) struct Fault {
    /// As it is called in code, and its value there.
    pub(crate) option: &'static str,
    pub(crate) value: String,
    /// The same in files.
    pub(crate) setting: &'static str,
    pub(crate) shown: String,
    pub(crate) origin: Source,
    pub(crate) allowed: &'static str,
}

/// Who said what is in force.
fn origin(section: &Section, setting: &str, is_chosen: bool) -> Source {
    match section.origin(setting) {
        _ if is_chosen => Source::Code,
        Some(origin) => origin.clone(),
        None => Source::Default,
    }
}
