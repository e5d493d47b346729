//! What a factory is given for an actor that another node asked for.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use volary_core::{Dependency, Props};

/// What came along with the wish for an actor: bytes of the caller's choice, and dependencies.
///
/// ```
/// use volary_core::Fault;
/// use volary_remote::Argument;
///
/// struct Account { cents: i64 }
///
/// fn account(argument: &Argument) -> Result<Account, Fault> {
///     let cents = argument.bytes().try_into().map_err(|_| Fault::msg("eight bytes say the opening balance"))?;
///     Ok(Account { cents: i64::from_be_bytes(cents) })
/// }
/// # let _ = account;
/// ```
#[derive(Clone)]
pub struct Argument {
    bytes: Bytes,
    props: Props,
}

impl Argument {
    pub(super) fn new(bytes: Bytes, props: Props) -> Self {
        Argument { bytes, props }
    }

    /// What [`RemoteSpawn::argument`](crate::RemoteSpawn::argument) was given; they come from another node, so do not
    /// believe them.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let builder = Remote::builder().spawnable::<Account>(|argument| {
    ///     let cents = argument.bytes().try_into().map_err(|_| Fault::msg("eight bytes say the balance"))?;
    ///     Ok(Account { cents: i64::from_be_bytes(cents) })
    /// });
    /// # let remote = builder.start(&system("bank").await?, "127.0.0.1:0").await?;
    /// # assert!(remote.spawn::<Account>(remote.node(), "bob").await.is_err());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One of the dependencies; the actor itself gets at it with
    /// [`Context::dependency`](volary_core::Context::dependency) as well.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/bank.rs"));
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Done {
    /// let builder = Remote::builder().dependency::<Branch>().spawnable::<Account>(|argument| {
    ///     let branch = argument.dependency::<Branch>().ok_or_else(|| Fault::msg("an account belongs to a branch"))?;
    ///     println!("one more at {}", branch.0);
    ///     Ok(Account::default())
    /// });
    /// # let remote = builder.start(&system("bank").await?, "127.0.0.1:0").await?;
    /// # assert!(remote.spawn::<Account>(remote.node(), "bob").await.is_err());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn dependency<D: Dependency>(&self) -> Option<Arc<D>> {
        self.props.find_dependency()
    }
}

impl fmt::Debug for Argument {
    /// Without the bytes, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Argument")
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
