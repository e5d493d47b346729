//! What more there is to say of a refusal.

/// Why a message was refused, where the [`Refusal`](super::Refusal) alone does not say it. No larger than a text, since every
/// ask has room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Said(&'static str),
    /// It is for somebody elsewhere and has so many bytes, of which `most` are taken there.
    TooLarge {
        bytes: u32,
        most: u32,
    },
}

const _: () = assert!(size_of::<Reason>() == size_of::<&'static str>());

impl Reason {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Reason::Said(text) => text,
            Reason::TooLarge { .. } => "it is too large for that node",
        }
    }
}
