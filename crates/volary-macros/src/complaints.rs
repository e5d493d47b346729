//! Errors found on the way, reported together.
//!
//! Whoever writes an actor wants to see everything that is wrong with it at once, so checks add to
//! this list and carry on instead of returning at the first.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors so far; empty when all is well.
#[derive(Default)]
pub(crate) struct Complaints(Option<syn::Error>);

impl Complaints {
    /// Adds an error.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Adds a sentence that points at `place`.
    pub(crate) fn at(&mut self, place: impl ToTokens, sentence: impl Display) {
        self.add(syn::Error::new_spanned(place, sentence));
    }

    /// The value, if there is one; else its error is added.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// Takes over the errors of a part.
    pub(crate) fn absorb(&mut self, part: Complaints) {
        if let Some(error) = part.0 {
            self.add(error);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Nothing, or all of the errors as one.
    pub(crate) fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }

    /// Compile errors to emit beside the expansion; nothing when there were none.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(|errors| errors.into_compile_error()).unwrap_or_default()
    }
}
