//! Why remoting did not start.

use volary_wire::RegisterError;

use crate::compression::Compression;

/// Why remoting did not start. Nothing is left running.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
/// # use volary_remote::RemoteStartError;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
/// # let system = system("bank").await?;
/// match Remote::builder().start(&system, "0.0.0.0:0").await {
///     Err(RemoteStartError::Beyond { at }) => {
///         println!("say `plaintext_beyond_loopback` to listen at {at} without encryption");
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteStartError {
    /// The address cannot be listened at. Choose another, or port 0 for any.
    #[error("cannot listen at {at}: {error}")]
    Listen {
        /// Where.
        at: String,
        /// What the system says.
        #[source]
        error: std::io::Error,
    },
    /// Others cannot reach a node by this.
    #[error(
        "{at} is no address that other nodes can use: {why}; it comes from where the node listens (`remote.listen`), what it \
         says of itself (`remote.advertise`), or the peers that it allows (`remote.allow-peers`)"
    )]
    Address {
        /// What was given.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// Without encryption anybody on the way can read and forge messages.
    #[error(
        "{at} is not loopback, and connections would not be encrypted: use TLS, or allow it by name, with \
         `plaintext_beyond_loopback` in code or the setting `remote.plaintext-beyond-loopback`"
    )]
    Beyond {
        /// Where.
        at: String,
    },
    /// A message or kind cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Two factories are for one kind: give one.
    #[error("{kind} was made spawnable twice")]
    SpawnableTwice {
        /// Which kind.
        kind: String,
    },
    /// A dependency cannot be registered.
    #[error(transparent)]
    Dependency(#[from] volary_core::DependencyError),
    /// The system has remoting already.
    #[error("the system has remoting already")]
    Twice,
    /// The system is stopping.
    #[error("the system is stopping")]
    Stopping,
    /// A compression that this build does not have. Switch its cargo feature on.
    #[error("{compression} needs the cargo feature `{}`", .compression.feature())]
    Compression {
        /// Which one.
        compression: Compression,
    },
    /// What files or the environment say of remoting is wrong; each mistake is a line.
    #[error(transparent)]
    Settings(#[from] volary_core::settings::SettingsError),
    /// Nobody has said where to listen: set `listen` in the table `[remote]`, or give it to
    /// [`start`](crate::RemoteBuilder::start).
    #[error("`remote.listen` is not set: say where to listen, as 127.0.0.1:4242")]
    NoListen,
    /// An option has a value that it cannot have.
    #[error("`{option}` cannot be {value}: {allowed}")]
    Option {
        /// Which one.
        option: &'static str,
        /// What was asked for.
        value: String,
        /// What it can be.
        allowed: &'static str,
    },
}
