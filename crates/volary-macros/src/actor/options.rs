//! The options in `#[actor(…)]` on an impl block.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{LitStr, Path, Token, parenthesized};

use super::remote::RemoteList;
use crate::facade::Facade;
use crate::wire;

/// What the author asked for.
#[derive(Default)]
pub(super) struct Options {
    pub(super) facade: Facade,
    pub(super) scope: Scope,
    pub(super) remote: RemoteList,
    pub(super) kind: Option<LitStr>,
}

/// How much of the actor this block is.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The block that also makes `impl Actor`.
    #[default]
    Whole,
    /// A further block: messages and handlers only.
    Handlers,
}

impl Options {
    pub(super) fn parse(arguments: TokenStream) -> syn::Result<Self> {
        let mut options = Options::default();
        syn::meta::parser(|meta| options.read(&meta)).parse2(arguments)?;
        Ok(options)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("handlers") {
            self.scope = Scope::Handlers;
            Ok(())
        } else if meta.path.is_ident("crate") {
            self.facade = meta.value()?.parse()?;
            Ok(())
        } else if meta.path.is_ident("remote") {
            wire::needs_feature(meta, "remote")?;
            let names;
            parenthesized!(names in meta.input);
            self.remote
                .extend(Punctuated::<Path, Token![,]>::parse_terminated(&names)?);
            Ok(())
        } else if meta.path.is_ident("kind") {
            wire::needs_feature(meta, "kind")?;
            self.kind = Some(wire::name(meta)?);
            Ok(())
        } else if meta.path.is_ident("skip") {
            Err(meta.error("`#[actor(skip)]` goes on a method, inside an impl block that is marked `#[actor]`"))
        } else {
            Err(meta.error(format_args!(
                "unknown option `{}`: `#[actor(…)]` on an impl block takes `handlers`, `remote(Message, …)`, \
                 `kind = \"name\"` and `crate = path`",
                meta.path.to_token_stream()
            )))
        }
    }
}
