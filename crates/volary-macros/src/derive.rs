//! What the derives have in common: generics that must be sendable, and no borrows.

use syn::{Data, DeriveInput, GenericParam, Generics, TypeParamBound, parse_quote};

use crate::complaints::Complaints;

/// Complains about unions and lifetimes; `what` begins the sentence, as in "a message".
pub(crate) fn check(input: &DeriveInput, what: &str) -> syn::Result<()> {
    let mut found = Complaints::default();
    if let Data::Union(union) = &input.data {
        found.at(
            union.union_token,
            format_args!("{what} is a struct or an enum, not a union"),
        );
    }
    for param in input.generics.lifetimes() {
        found.at(
            param,
            format_args!(
                "{what} owns what it carries and cannot have the lifetime `{}`: use `String`, `Vec` or `Arc` instead \
                 of references",
                param.lifetime
            ),
        );
    }
    found.into_result()
}

/// The generics with `bounds` on each type parameter.
pub(crate) fn bounded(mut generics: Generics, bounds: &[TypeParamBound]) -> Generics {
    for param in &mut generics.params {
        if let GenericParam::Type(param) = param {
            param.bounds.extend(bounds.iter().cloned());
        }
    }
    generics
}

/// `Send + 'static`, which whatever crosses a mailbox must be.
pub(crate) fn sendable() -> Vec<TypeParamBound> {
    vec![parse_quote!(::core::marker::Send), parse_quote!('static)]
}
