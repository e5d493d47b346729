//! Messages and replies own what they carry: no borrows, no unnamed types.

use std::fmt;

use syn::visit::{self, Visit};
use syn::{
    Lifetime, ParenthesizedGenericArguments, TraitBound, Type, TypeBareFn, TypeImplTrait, TypePath, TypeReference,
};

use super::types;
use crate::complaints::Complaints;

/// Where a type stands, which decides what to tell its author.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Parameter,
    Reply,
}

/// Complains about everything in `ty` that borrows or has no name.
pub(super) fn check(ty: &Type, place: Place, complaints: &mut Complaints) {
    Inspection { place, complaints }.visit_type(ty);
}

struct Inspection<'a> {
    place: Place,
    complaints: &'a mut Complaints,
}

impl Inspection<'_> {
    fn borrowed(&self, instead: impl fmt::Display) -> String {
        let (carrier, verb) = match self.place {
            Place::Parameter => ("a message", "take"),
            Place::Reply => ("a reply", "return"),
        };
        format!("{carrier} owns what it carries: {verb} {instead}, or mark the method `#[actor(skip)]`")
    }
}

impl Visit<'_> for Inspection<'_> {
    fn visit_type_reference(&mut self, reference: &TypeReference) {
        if reference
            .lifetime
            .as_ref()
            .is_some_and(|lifetime| lifetime.ident == "static")
        {
            return visit::visit_type_reference(self, reference);
        }
        let instead = match types::bare(&reference.elem) {
            Type::Path(TypePath { path, .. }) if path.is_ident("str") => "`String` instead of `&str`",
            Type::Slice(_) => "a `Vec` instead of a slice",
            _ => "the value itself, or an `Arc` of it, instead of a reference",
        };
        self.complaints.at(reference, self.borrowed(instead));
    }

    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            let instead = format!("a type without the lifetime `{lifetime}` (`'static` is fine)");
            self.complaints.at(lifetime, self.borrowed(instead));
        }
    }

    fn visit_type_impl_trait(&mut self, unnamed: &TypeImplTrait) {
        let sentence = match self.place {
            Place::Parameter => {
                "the fields of a message have types with names: take a concrete type, a parameter of the impl block, \
                 or `Box<dyn …>` instead of `impl …`, or mark the method `#[actor(skip)]`"
            }
            Place::Reply => {
                "a reply has a type with a name: return a concrete type or `Box<dyn …>` instead of `impl …`, or \
                 mark the method `#[actor(skip)]`"
            }
        };
        self.complaints.at(unnamed, sentence);
    }

    // The borrows in `fn(&str)`, `Fn(&str)` and `for<'a> …` belong to whoever calls it.
    fn visit_type_bare_fn(&mut self, _: &TypeBareFn) {}
    fn visit_parenthesized_generic_arguments(&mut self, _: &ParenthesizedGenericArguments) {}
    fn visit_trait_bound(&mut self, bound: &TraitBound) {
        if bound.lifetimes.is_none() {
            visit::visit_trait_bound(self, bound);
        }
    }
}
