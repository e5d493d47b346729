//! The impl block itself: which type is the actor, and what its generics are.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::{GenericParam, Generics, Ident, ItemImpl, Lifetime, Type};

use super::options::Scope;
use super::types;
use crate::complaints::Complaints;
use crate::facade::Facade;

/// An inherent impl block of an actor, found to be in order.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) facade: Facade,
    pub(super) scope: Scope,
    /// The actor, as the block writes it: `Cache<T>`.
    pub(super) actor: Type,
    /// The actor's name: `Cache`.
    pub(super) name: Ident,
    pub(super) generics: Generics,
}

impl Block {
    /// Checks the head of the block.
    pub(super) fn of(item: &ItemImpl, facade: Facade, scope: Scope, complaints: &mut Complaints) -> Option<Self> {
        let mut found = Complaints::default();
        if let Some((_, path, _)) = &item.trait_ {
            found.at(
                path,
                "`#[actor]` goes on the impl block with the actor's own methods, not on the impl of a trait: write \
                 `#[actor] impl Account { … }`",
            );
        }
        for param in &item.generics.params {
            if let GenericParam::Lifetime(param) = param {
                found.at(param, no_lifetimes(&param.lifetime));
            }
        }
        if found.is_empty() {
            ActorLifetimes(&mut found).visit_type(&item.self_ty);
        }
        let name = types::last_segment(&item.self_ty).map(|segment| segment.ident.clone());
        if name.is_none() {
            found.at(
                &item.self_ty,
                "an actor is a struct or an enum of yours: write `#[actor] impl Account { … }`",
            );
        }
        let sound = found.is_empty();
        complaints.absorb(found);
        let name = name.filter(|_| sound)?;
        Some(Block {
            facade,
            scope,
            actor: (*item.self_ty).clone(),
            name,
            generics: item.generics.clone(),
        })
    }

    /// `impl<…> trait_ for Actor where … { body }`.
    pub(super) fn implement(&self, attributes: TokenStream, trait_: TokenStream, body: TokenStream) -> TokenStream {
        let (params, _, conditions) = self.generics.split_for_impl();
        let actor = &self.actor;
        quote! {
            #attributes
            #[automatically_derived]
            impl #params #trait_ for #actor #conditions {
                #body
            }
        }
    }

    /// Whether `ty` is written `Self` or just like the actor.
    pub(super) fn is_actor(&self, ty: &Type) -> bool {
        let written = ty.to_token_stream().to_string();
        written == "Self" || written == self.actor.to_token_stream().to_string()
    }
}

struct ActorLifetimes<'a>(&'a mut Complaints);

impl Visit<'_> for ActorLifetimes<'_> {
    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            self.0.at(lifetime, no_lifetimes(lifetime));
        }
    }
}

fn no_lifetimes(lifetime: &Lifetime) -> String {
    format!(
        "an actor outlives every borrow and cannot have the lifetime `{lifetime}`: let it own its data, or \
         share it in an `Arc`"
    )
}
