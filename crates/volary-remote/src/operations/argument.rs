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
    /// See [`Argument`] for an example.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One of the dependencies; the actor itself gets at it with
    /// [`Context::dependency`](volary_core::Context::dependency) as well.
    ///
    /// ```
    /// # use volary_core::Dependency;
    /// # fn f<Database: Dependency>(argument: &volary_remote::Argument) {
    /// let database = argument.dependency::<Database>();
    /// # }
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
