//! `#[derive(Rejection)]`: makes a type an answer "no", and lets methods return it as their error.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{DeriveInput, Type, parse_quote};

use crate::derive;
use crate::facade::{Facade, site};
use crate::wire;

/// Expands `#[derive(Rejection)] input`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    syn::parse2(input)
        .and_then(write)
        .unwrap_or_else(syn::Error::into_compile_error)
}

fn write(input: DeriveInput) -> syn::Result<TokenStream> {
    derive::check(&input, "a rejection")?;
    let Marks { facade, codec } = marks(&input)?;
    let name = &input.ident;
    let mut bounds = derive::sendable();
    bounds.insert(0, parse_quote!(::core::fmt::Debug));
    let generics = derive::bounded(input.generics.clone(), &bounds);
    let (params, arguments, clause) = generics.split_for_impl();
    let span = site(name.span());
    let volary = facade.at(span);
    let travels = codec.map(|codec| {
        let codec = wire::codec_path(&codec, &facade, span);
        let mut generics = generics.clone();
        if generics.type_params().next().is_some() {
            let predicates = &mut generics.make_where_clause().predicates;
            predicates.push(parse_quote!(#codec: #volary::wire::Codec<#name #arguments>));
        }
        let (params, _, clause) = generics.split_for_impl();
        quote_spanned! {span=>
            #[automatically_derived]
            impl #params #volary::wire::WireRejection for #name #arguments #clause {
                type Codec = #codec;
            }
        }
    });
    Ok(quote_spanned! {span=>
        #travels
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

/// What `#[rejection(…)]` says.
struct Marks {
    facade: Facade,
    codec: Option<Type>,
}

fn marks(input: &DeriveInput) -> syn::Result<Marks> {
    let mut marks = Marks {
        facade: Facade::default(),
        codec: None,
    };
    for attribute in input
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("rejection"))
    {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                marks.facade = meta.value()?.parse()?;
            } else if meta.path.is_ident("codec") {
                marks.codec = Some(wire::codec(&meta)?);
            } else {
                return Err(meta.error(format_args!(
                    "unknown option `{}`: `#[rejection(…)]` takes `codec = json` and `crate = path`",
                    meta.path.to_token_stream()
                )));
            }
            Ok(())
        })?;
    }
    Ok(marks)
}
