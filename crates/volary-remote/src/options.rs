//! What can be set, and what it is otherwise.

use std::time::Duration;

use crate::error::RemoteStartError;

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $default:expr;)+) => {
        /// Limits and times of remoting.
        ///
        /// ```
        /// # use std::time::Duration;
        /// use volary_remote::RemoteOptions;
        /// let options = RemoteOptions::new().silence(Duration::from_secs(3)).outbound_bytes(1 << 20);
        /// # let _ = options;
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
            /// let _ = volary_remote::RemoteOptions::new();
            /// ```
            pub fn new() -> Self {
                RemoteOptions::default()
            }

            $($(#[$doc])*
            ///
            /// ```
            /// # use volary_remote::RemoteOptions;
            /// # fn f(options: RemoteOptions) {
            #[doc = concat!("let options = options.", stringify!($name), "(Default::default());")]
            /// # }
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
    outbound_bytes: usize = 64 << 20;
    /// How many messages may be unconfirmed by one peer, and how many of its asks unanswered here.
    window: u64 = 65_536;
    /// How many messages of one peer may wait in the mailbox of one actor; what is beyond is answered as busy.
    receiver_share: u64 = 16_384;
    /// How many bytes of messages of all peers together may wait in mailboxes here; each counts for at least 256. A peer
    /// may have as much of it as is free, so that one alone has half; what is beyond is answered as busy, and a message
    /// that is larger than half is never taken.
    inbound_bytes: usize = 256 << 20;
    /// Larger frames are cut in pieces, so that small ones pass between them. With its head a piece of the usual size fits into
    /// the 64 KiB that are read at a time: one that does not is copied once more.
    chunk_bytes: usize = 63 << 10;
    /// How many bytes of such pieces may be on their way while small messages go beside them, which arrive behind them. More
    /// makes small messages wait; less makes large ones slow where the way is long: it is what goes there and back at a
    /// time. Without small messages it is sixteen times as much.
    large_window: usize = 126 << 10;
    /// How long a connection and its handshake may take.
    connect_timeout: Duration = Duration::from_secs(5);
    /// The pause before the first new attempt to connect; it doubles up to `backoff_most`.
    backoff_first: Duration = Duration::from_secs(1);
    /// The longest pause between attempts to connect.
    backoff_most: Duration = Duration::from_secs(30);
    /// How often something is said on a connection that has nothing to say.
    heartbeat: Duration = Duration::from_secs(1);
    /// After which silence a connection is given up.
    silence: Duration = Duration::from_secs(5);
    /// For how long a peer may be unreachable before those who watch its actors hear that they are lost.
    lost_after: Duration = Duration::from_secs(15);
    /// How long an operation on another node may take, the making of a connection included.
    operation_timeout: Duration = Duration::from_secs(10);
    /// How many other nodes may be known at a time. Those that nobody here speaks with any more are forgotten when there
    /// would be more; if all are spoken with, callers are refused and addresses of others lead nowhere.
    peers: usize = 4_096;
    /// How many connections may be in their handshake at a time.
    handshakes: usize = 256;
    /// How many bytes the compressed bytes of one read, which are 16 KiB, may become; more ends the connection. Not less
    /// than the `outbound_bytes` of others.
    stretch_bytes: usize = 128 << 20;
}

impl RemoteOptions {
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
        if !(1024..=8 << 20).contains(&self.chunk_bytes) {
            return wrong(
                "chunk_bytes",
                self.chunk_bytes.to_string(),
                "between 1,024 and 8,388,608",
            );
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
