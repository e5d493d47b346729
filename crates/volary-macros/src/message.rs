//! `#[derive(Message)]`: makes a message of any struct or enum.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, Type, parse_quote};

use crate::derive;
use crate::facade::{Facade, site};
use crate::wire::WireMark;

/// Expands `#[derive(Message)] #[message(reply = T, rejection = R, remote = "name")] input`.
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
        wire,
    } = Contract::of(&input)?;
    wire.check(&input.generics)?;
    let name = &input.ident;
    let generics = derive::bounded(input.generics.clone(), &derive::sendable());
    let (params, arguments, clause) = generics.split_for_impl();
    let span = site(name.span());
    let volary = facade.at(span);
    let travels = wire.write(&quote!(#name #arguments), &generics, &facade, span, &TokenStream::new());
    Ok(quote_spanned! {span=>
        #travels
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
    wire: WireMark,
}

impl Contract {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut contract = Contract {
            reply: parse_quote!(()),
            rejection: parse_quote!(::core::convert::Infallible),
            facade: Facade::default(),
            wire: WireMark::default(),
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
                } else if !contract.wire.read(&meta)? {
                    return Err(meta.error(format_args!(
                        "unknown option `{}`: on a type `#[message(…)]` takes `reply = Type`, `rejection = Type`, \
                         `remote = \"name\"`, `codec = json`, `reply_codec = json` and `crate = path`",
                        meta.path.to_token_stream()
                    )));
                }
                Ok(())
            })?;
        }
        Ok(contract)
    }
}
