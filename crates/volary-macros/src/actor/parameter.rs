//! The parameters of a method: what the message carries, and what the runtime adds.

use quote::ToTokens;
use syn::{Attribute, Ident, Pat, PatType, Type, TypeReference};

use super::block::Block;
use super::owned::{self, Place};
use super::returned::Contract;
use super::types;
use crate::complaints::Complaints;

/// What a parameter is for.
pub(super) enum Role {
    /// `&mut Context<Self>`.
    Context,
    /// `ReplyTo<T>` or `ReplyTo<T, R>`.
    ReplyTo(Contract),
    /// Anything else: part of the message, or, under `#[handles]`, the message.
    Carried(Type),
}

/// A parameter that became a field of the message.
pub(super) struct Field {
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
}

impl Role {
    pub(super) fn of(parameter: &PatType, block: &Block) -> syn::Result<Self> {
        let ty = types::bare(&parameter.ty);
        let target = match ty {
            Type::Reference(reference) => types::bare(&reference.elem),
            owned => owned,
        };
        match types::last_segment(target) {
            Some(segment) if segment.ident == "Context" => {
                if is_own_context(ty, block) {
                    return Ok(Role::Context);
                }
                let sentence = "the context is passed as `&mut Context<Self>`: write `ctx: &mut Context<Self>` (a \
                                type of yours that is also called `Context` needs another name here)";
                Err(syn::Error::new_spanned(&parameter.ty, sentence))
            }
            Some(segment) if segment.ident == "ReplyTo" => {
                let spell_out = |ty: &&Type| types::without_self(ty, &block.actor);
                match (ty, &types::type_arguments(segment)[..]) {
                    (Type::Path(_), [reply, rejection @ ..]) if rejection.len() < 2 => Ok(Role::ReplyTo(Contract {
                        reply: spell_out(reply),
                        rejection: rejection.first().map(spell_out),
                    })),
                    _ => {
                        let sentence = "a `ReplyTo` is taken by value and names its reply: write `reply: \
                                        ReplyTo<Reply>` or `reply: ReplyTo<Reply, Rejection>`";
                        Err(syn::Error::new_spanned(&parameter.ty, sentence))
                    }
                }
            }
            _ => Ok(Role::Carried(types::without_self(&parameter.ty, &block.actor))),
        }
    }
}

impl Field {
    /// Makes a field of a parameter, and takes over its doc comments (which a parameter of a plain
    /// `fn` could not bear).
    pub(super) fn of(parameter: &mut PatType, ty: Type, complaints: &mut Complaints) -> Option<Self> {
        owned::check(&ty, Place::Parameter, complaints);
        let docs = take_docs(&mut parameter.attrs);
        if let Some(attribute) = parameter
            .attrs
            .iter()
            .find(|attribute| attribute.path().is_ident("cfg"))
        {
            complaints.at(
                attribute,
                "a message has the same fields everywhere: put `#[cfg(…)]` on the method and write it twice",
            );
        }
        let name = match &*parameter.pat {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => ident.ident.clone(),
            pattern => {
                complaints.at(
                    pattern,
                    format_args!(
                        "this parameter becomes a field of the message and needs a plain name: write `value: {}` and \
                         take it apart inside the method",
                        parameter.ty.to_token_stream()
                    ),
                );
                return None;
            }
        };
        Some(Field { name, ty, docs })
    }
}

/// Takes the doc comments off.
fn take_docs(attributes: &mut Vec<Attribute>) -> Vec<Attribute> {
    attributes
        .extract_if(.., |attribute| attribute.path().is_ident("doc"))
        .collect()
}

fn is_own_context(ty: &Type, block: &Block) -> bool {
    let Type::Reference(TypeReference {
        mutability: Some(_),
        elem,
        ..
    }) = ty
    else {
        return false;
    };
    let arguments = types::last_segment(elem).map(types::type_arguments).unwrap_or_default();
    matches!(arguments[..], [actor] if block.is_actor(actor))
}
