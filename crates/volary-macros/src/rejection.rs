//! `#[derive(Rejection)]`: makes a type an answer "no", and lets methods return it as their error.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{DeriveInput, parse_quote};

use crate::derive;
use crate::facade::{Facade, site};

/// Expands `#[derive(Rejection)] input`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    syn::parse2(input)
        .and_then(write)
        .unwrap_or_else(syn::Error::into_compile_error)
}

fn write(input: DeriveInput) -> syn::Result<TokenStream> {
    derive::check(&input, "a rejection")?;
    let facade = facade(&input)?;
    let name = &input.ident;
    let mut bounds = derive::sendable();
    bounds.insert(0, parse_quote!(::core::fmt::Debug));
    let generics = derive::bounded(input.generics.clone(), &bounds);
    let (params, arguments, clause) = generics.split_for_impl();
    let span = site(name.span());
    let volary = facade.at(span);
    Ok(quote_spanned! {span=>
        #[automatically_derived]
        impl #params #volary::Rejection for #name #arguments #clause {}

        #[automatically_derived]
        impl #params #volary::IntoFailure for #name #arguments #clause {
            type Rejection = Self;
            fn into_failure(self) -> #volary::Failure<Self> {
                #volary::Failure::Rejected(self)
            }
        }
    })
}

fn facade(input: &DeriveInput) -> syn::Result<Facade> {
    let mut facade = Facade::default();
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("rejection"))
    {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                facade = meta.value()?.parse()?;
                return Ok(());
            }
            Err(meta.error(format_args!(
                "unknown option `{}`: `#[rejection(…)]` takes only `crate = path`",
                meta.path.to_token_stream()
            )))
        })?;
    }
    Ok(facade)
}
