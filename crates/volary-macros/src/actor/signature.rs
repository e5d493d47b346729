//! What the runtime must be able to call: a plain method that borrows its actor.

use quote::ToTokens;
use syn::{Receiver, Signature, Type};

use super::types;
use crate::complaints::Complaints;

/// Complains about everything that keeps the runtime from calling this method.
pub(super) fn check(signature: &Signature, complaints: &mut Complaints) {
    if let Some(receiver) = signature.receiver() {
        check_receiver(receiver, complaints);
    }
    check_qualifiers(signature, complaints);
    if !signature.generics.params.is_empty() {
        complaints.at(
            &signature.generics,
            "the runtime calls this method with one set of types, so it cannot be generic: move the parameters to the \
             impl block, or mark the method `#[actor(skip)]`",
        );
    }
    if let Some(clause) = &signature.generics.where_clause {
        complaints.at(
            clause,
            "the runtime calls this method for every actor of this type, so it cannot have conditions of its own: move \
             them to the impl block, or mark the method `#[actor(skip)]`",
        );
    }
}

/// Complains unless the receiver is `&mut self` or `&self`.
fn check_receiver(receiver: &Receiver, complaints: &mut Complaints) {
    let borrows_self = match types::bare(&receiver.ty) {
        Type::Reference(reference) => {
            matches!(types::bare(&reference.elem), Type::Path(ty) if ty.path.is_ident("Self"))
        }
        _ => false,
    };
    if !borrows_self {
        complaints.at(
            receiver,
            "an actor is only lent to its methods: write `&mut self` or `&self`, or mark the method `#[actor(skip)]`",
        );
    }
}

fn check_qualifiers(signature: &Signature, complaints: &mut Complaints) {
    let qualifiers: [(&str, Option<&dyn ToTokens>); 3] = [
        ("const", signature.constness.as_ref().map(|token| token as _)),
        ("unsafe", signature.unsafety.as_ref().map(|token| token as _)),
        ("extern", signature.abi.as_ref().map(|token| token as _)),
    ];
    for (word, token) in qualifiers {
        if let Some(token) = token {
            complaints.at(
                token,
                format_args!(
                    "the runtime calls a plain `fn` or `async fn`: remove `{word}`, or mark the method `#[actor(skip)]`"
                ),
            );
        }
    }
}
