//! `#[derive(Message)]`: makes a message of any struct or enum.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{DeriveInput, Type, parse_quote};

use crate::derive;
use crate::facade::{Facade, site};

/// Expands `#[derive(Message)] #[message(reply = T, rejection = R)] input`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    syn::parse2(input)
        .and_then(write)
        .unwrap_or_else(syn::Error::into_compile_error)
}

fn write(input: DeriveInput) -> syn::Result<TokenStream> {
    derive::check(&input, "a message")?;
    let Contract {
        reply,
        rejection,
        facade,
    } = Contract::of(&input)?;
    let name = &input.ident;
    let generics = derive::bounded(input.generics.clone(), &derive::sendable());
    let (params, arguments, clause) = generics.split_for_impl();
    let span = site(name.span());
    let volary = facade.at(span);
    Ok(quote_spanned! {span=>
        #[automatically_derived]
        impl #params #volary::Message for #name #arguments #clause {
            type Reply = #reply;
            type Rejection = #rejection;
        }
    })
}

/// What `#[message(…)]` says.
struct Contract {
    reply: Type,
    rejection: Type,
    facade: Facade,
}

impl Contract {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut contract = Contract {
            reply: parse_quote!(()),
            rejection: parse_quote!(::core::convert::Infallible),
            facade: Facade::default(),
        };
        for attribute in input
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("message"))
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("reply") {
                    contract.reply = meta.value()?.parse()?;
                } else if meta.path.is_ident("rejection") {
                    contract.rejection = meta.value()?.parse()?;
                } else if meta.path.is_ident("crate") {
                    contract.facade = meta.value()?.parse()?;
                } else {
                    return Err(meta.error(format_args!(
                        "unknown option `{}`: on a type `#[message(…)]` takes `reply = Type`, `rejection = Type` and \
                         `crate = path`",
                        meta.path.to_token_stream()
                    )));
                }
                Ok(())
            })?;
        }
        Ok(contract)
    }
}
