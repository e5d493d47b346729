//! `#[actor(remote(Deposit, Withdraw))]`: what other nodes may send this actor.
//!
//! The list is checked against the messages of the block. It becomes the impl of `RemoteActor`, which is both the
//! decode table and the allow-list of the actor's kind.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{LitStr, Path, parse_quote};

use super::block::Block;
use super::handler::Handling;
use super::method::Method;
use crate::complaints::Complaints;
use crate::facade::site;

/// The messages that the author opened to other nodes, in the order written.
#[derive(Default)]
pub(super) struct RemoteList(Vec<Path>);

impl RemoteList {
    pub(super) fn extend(&mut self, messages: impl IntoIterator<Item = Path>) {
        self.0.extend(messages);
    }

    /// `impl RemoteActor`, if other nodes have anything to do with this actor.
    pub(super) fn write(
        &self,
        kind: Option<&LitStr>,
        block: &Block,
        methods: &[Method],
        handlings: &[Handling],
    ) -> Option<TokenStream> {
        if self.0.is_empty() && kind.is_none() {
            return None;
        }
        let span = site(kind.map_or_else(Span::call_site, Spanned::span));
        let volary = block.facade.at(span);
        let kind = kind.map_or_else(|| block.name.to_string(), LitStr::value);
        let mut block = block.clone();
        let mut adds = TokenStream::new();
        for path in &self.0 {
            let listed = methods.iter().zip(handlings);
            let Some((_, handling)) = listed
                .into_iter()
                .find(|(method, _)| method.message.name() == last(path))
            else {
                continue;
            };
            let (message, gate) = (&handling.message, &handling.gate);
            let span = site(path.span());
            let volary = block.facade.at(span);
            // At the name in the list: what can be wrong is that it does not travel.
            let message = crate::facade::relocate(message.clone(), span);
            adds.extend(quote_spanned!(span=> #gate table.add::<#message>();));
            if block.generics.type_params().next().is_some() {
                let predicates = &mut block.generics.make_where_clause().predicates;
                predicates.push(parse_quote!(#message: #volary::wire::Wire));
            }
        }
        let body = quote_spanned! {span=>
            const KIND: &'static str = #kind;
            #[allow(unused_variables)]
            fn remote_messages(table: &mut #volary::wire::KindTable<'_, Self>) {
                #adds
            }
        };
        Some(block.implement(
            TokenStream::new(),
            quote_spanned!(span=> #volary::wire::RemoteActor),
            body,
        ))
    }

    /// Complains about names that are no message of the block, or stand twice.
    pub(super) fn check(&self, methods: &[Method], complaints: &mut Complaints) {
        let known: Vec<String> = methods.iter().map(|method| method.message.name()).collect();
        let mut seen = Vec::new();
        for path in &self.0 {
            let name = last(path);
            if !known.contains(&name) {
                complaints.at(path, unknown(&path.to_token_stream().to_string(), &known));
            } else if seen.contains(&name) {
                complaints.at(
                    path,
                    format_args!("`{name}` is listed twice in `remote(…)`: remove this one"),
                );
            }
            seen.push(name);
        }
    }
}

fn last(path: &Path) -> String {
    path.segments
        .last()
        .map(|last| last.ident.to_string())
        .unwrap_or_default()
}

fn unknown(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return format!("`{name}` is not a message of this block, which has none: add a method for it");
    }
    let list = known
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    format!("`{name}` is not a message of this block: it has {list}")
}
