//! `#[actor]`: from an impl block to messages and their handlers.
//!
//! ```text
//!   impl block ─▶ Block          the actor and its generics
//!      method  ─▶ Marks          #[actor(skip)] #[message(…)] #[handles], taken off
//!              ─▶ Hook           started, stopping, stopped      ─▶ impl Actor
//!              ─▶ Method         parameters, return type
//!                   ├▶ MessageStruct   struct, impl Message, impl Wire
//!                   └▶ Handling        impl SyncHandler, Handler or Respond
//!      remote(…) ─▶ RemoteList                   ─▶ impl RemoteActor
//! ```
//!
//! Reading comes first and writes nothing; writing comes second and complains about nothing. The
//! block itself is always emitted, and so is every method that is in order, so that one mistake
//! does not make the compiler complain about everything that used the rest.

mod block;
mod generics;
mod handler;
mod hook;
mod marks;
mod message_struct;
mod method;
mod naming;
mod options;
mod owned;
mod parameter;
mod remote;
mod returned;
mod signature;
mod types;

#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ImplItem, Item, ItemImpl, LitStr};

use self::block::Block;
use self::handler::Handling;
use self::hook::Hook;
use self::marks::Marks;
use self::method::{Message, Method};
use self::options::{Options, Scope};
use self::remote::RemoteList;
use crate::complaints::Complaints;
use crate::facade::site;

/// Expands `#[actor(arguments)] item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut complaints = Complaints::default();
    let options = complaints.keep(Options::parse(arguments)).unwrap_or_default();
    let Some(mut block) = complaints.keep(impl_block(item.clone())) else {
        let errors = complaints.into_tokens();
        return quote!(#errors #item);
    };
    let generated = read(&mut block, options, &mut complaints).map(|actor| actor.write());
    let errors = complaints.into_tokens();
    quote! {
        #block
        #generated
        #errors
    }
}

/// What a block says about its actor.
struct ActorBlock {
    block: Block,
    hooks: Vec<Hook>,
    methods: Vec<Method>,
    remote: RemoteList,
    kind: Option<LitStr>,
}

impl ActorBlock {
    fn write(&self) -> TokenStream {
        let handlings: Vec<Handling> = self
            .methods
            .iter()
            .map(|method| Handling::of(method, &self.block))
            .collect();
        let items = handlings.iter().map(|handling| &handling.items);
        let actor = match self.block.scope {
            Scope::Whole => Some(self.actor_impl(&handlings)),
            Scope::Handlers => None,
        };
        let remote = self
            .remote
            .write(self.kind.as_ref(), &self.block, &self.methods, &handlings);
        quote! {
            #(#items)*
            #remote
            #actor
        }
    }

    fn actor_impl(&self, handlings: &[Handling]) -> TokenStream {
        let span = site(Span::call_site());
        let volary = self.block.facade.at(span);
        let hooks = self.hooks.iter().map(|hook| hook.write(&self.block));
        let gates = handlings.iter().map(|handling| &handling.gate);
        let listed = handlings.iter().map(|handling| &handling.message);
        let messages = (!handlings.is_empty()).then(|| {
            quote_spanned! {span=>
                fn messages(list: &mut #volary::MessageList<Self>) {
                    #(#gates list.add::<#listed>();)*
                }
            }
        });
        let body = quote!(#(#hooks)* #messages);
        self.block
            .implement(TokenStream::new(), quote_spanned!(span=> #volary::Actor), body)
    }
}

fn impl_block(item: TokenStream) -> syn::Result<ItemImpl> {
    match syn::parse2(item)? {
        Item::Impl(block) => Ok(block),
        other => Err(syn::Error::new_spanned(
            other,
            "`#[actor]` goes on the impl block with the actor's methods: write `#[actor] impl Account { … }`",
        )),
    }
}

/// Reads the block, and takes the marks off its methods.
fn read(item: &mut ItemImpl, options: Options, complaints: &mut Complaints) -> Option<ActorBlock> {
    let Options {
        facade,
        scope,
        remote,
        kind,
    } = options;
    let block = Block::of(item, facade, scope, complaints);
    let mut hooks = Vec::new();
    let mut methods = Vec::new();
    for item in &mut item.items {
        let ImplItem::Fn(item) = item else { continue };
        let marks = Marks::take(&mut item.attrs, complaints);
        let Some(block) = block.as_ref().filter(|_| marks.skip.is_none()) else {
            continue;
        };
        if item.sig.receiver().is_none() {
            if let Some(mark) = marks.of_message() {
                complaints.at(
                    mark,
                    "a message is handled by a method of the actor: give it `&mut self`, or remove this mark",
                );
            }
        } else if Hook::is_named(&item.sig.ident) {
            hooks.extend(Hook::of(item, &marks, block, complaints));
        } else {
            methods.extend(Method::of(item, marks, block, complaints));
        }
    }
    let methods = without_duplicates(methods, complaints);
    if complaints.is_empty() {
        remote.check(&methods, complaints);
    }
    // A list that names what is not there would only make the compiler say it once more.
    let (remote, kind) = if complaints.is_empty() {
        (remote, kind)
    } else {
        Default::default()
    };
    Some(ActorBlock {
        block: block?,
        hooks,
        methods,
        remote,
        kind,
    })
}

/// Drops, with a complaint, every second method for the same message. Where both are conditional
/// they may exclude each other, which only the compiler can tell.
fn without_duplicates(methods: Vec<Method>, complaints: &mut Complaints) -> Vec<Method> {
    let mut kept: Vec<Method> = Vec::with_capacity(methods.len());
    for method in methods {
        let earlier = kept.iter().find(|earlier| {
            earlier.message.same_as(&method.message) && (earlier.conditions.is_empty() || method.conditions.is_empty())
        });
        let Some(earlier) = earlier else {
            kept.push(method);
            continue;
        };
        let cure = match method.message {
            Message::Made(_) => "name this one with `#[message(name = …)]`",
            Message::Existing(_) => "a message has one handler, so remove one of them",
        };
        let (name, earlier) = (method.message.name(), &earlier.name);
        complaints.at(
            &method.name,
            format_args!("the method `{earlier}` already has the message `{name}`: {cure}"),
        );
    }
    kept
}
