//! The hooks `started`, `stopping` and `stopped`: methods that the runtime calls by itself.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, FnArg, Ident, ImplItemFn};

use super::block::Block;
use super::marks::Marks;
use super::method::{Argument, Timing, conditions};
use super::options::Scope;
use super::parameter::Role;
use super::returned::Ending;
use super::signature;
use crate::complaints::Complaints;
use crate::facade::site;

const NAMES: [&str; 3] = ["started", "stopping", "stopped"];

/// A hook of the actor.
pub(super) struct Hook {
    name: Ident,
    conditions: Vec<Attribute>,
    timing: Timing,
    /// What the hook is called with after `self`.
    arguments: Vec<Argument>,
    ending: Ending,
}

impl Hook {
    /// Whether a method of this name is a hook.
    pub(super) fn is_named(name: &Ident) -> bool {
        NAMES.iter().any(|hook| name == hook)
    }

    /// Reads a hook. Complains, and gives nothing, when it cannot be one.
    pub(super) fn of(item: &ImplItemFn, marks: &Marks, block: &Block, complaints: &mut Complaints) -> Option<Self> {
        let name = &item.sig.ident;
        let mut found = Complaints::default();
        if block.scope == Scope::Handlers {
            found.at(
                name,
                format_args!(
                    "a block with `#[actor(handlers)]` makes no `impl Actor` and has no hooks: move `{name}` to the \
                     `#[actor]` block, rename it, or mark it `#[actor(skip)]`"
                ),
            );
        }
        if let Some(mark) = marks.of_message() {
            found.at(
                mark,
                format_args!("`{name}` is a hook and no message: rename the method, or remove this mark"),
            );
        }
        signature::check(&item.sig, &mut found);
        let mut arguments = Vec::new();
        for input in &item.sig.inputs {
            let FnArg::Typed(parameter) = input else { continue };
            match found.keep(Role::of(parameter, block)) {
                Some(Role::Context) if arguments.is_empty() => arguments.push(Argument::Context),
                Some(_) => found.at(
                    parameter,
                    format_args!(
                        "the hook `{name}` takes `&mut self` and, if it likes, `ctx: &mut Context<Self>`: remove this \
                         parameter, or rename the method to make it a message"
                    ),
                ),
                None => {}
            }
        }
        let ending = found.keep(Ending::of(
            &item.sig.output,
            &format!("the hook `{name}` has nobody to answer"),
        ));
        let sound = found.is_empty();
        complaints.absorb(found);
        Some(Hook {
            name: name.clone(),
            conditions: conditions(&item.attrs),
            timing: Timing::of(&item.sig),
            arguments,
            ending: ending.filter(|_| sound)?,
        })
    }

    /// The method of `impl Actor` that calls the hook.
    pub(super) fn write(&self, block: &Block) -> TokenStream {
        let Hook { name, conditions, .. } = self;
        let span = site(name.span());
        let volary = block.facade.at(span);
        let context = Ident::new(
            if self.arguments.is_empty() {
                "_context"
            } else {
                "context"
            },
            span,
        );
        let arguments = self.arguments.iter().map(|_| quote_spanned!(span=> #context));
        let wait = (self.timing == Timing::Async).then(|| quote_spanned!(span=> .await));
        let body = self
            .ending
            .settle(&quote_spanned!(span=> Self::#name(self, #(#arguments),*) #wait), span);
        let conditions = quote!(#(#conditions)*);
        quote_spanned! {span=>
            #conditions
            async fn #name(
                &mut self,
                #context: &mut #volary::Context<Self>,
            ) -> ::core::result::Result<(), #volary::Fault> {
                #body
            }
        }
    }
}
