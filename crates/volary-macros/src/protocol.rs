//! `protocol!`: a list of messages as a type that references can be typed by.
//!
//! The type has no values. It maps each message to its place in an array of message tables, one
//! array per actor that can stand behind such a reference: made at compile time where the actor is known,
//! and of the list of its messages where all that is known is an address.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Token, Type, Visibility, braced};

use crate::complaints::Complaints;
use crate::facade::{Facade, site};

/// Expands `protocol!(pub BankApi { Deposit, Withdraw })`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match syn::parse2::<Protocol>(input) {
        Ok(protocol) => protocol.write(),
        Err(error) => error.into_compile_error(),
    }
}

struct Protocol {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    messages: Vec<Type>,
    facade: Facade,
}

impl Parse for Protocol {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const FORM: &str = "a protocol is a name and its messages: `protocol!(pub BankApi { Deposit, Withdraw })`";
        let mut attributes = input.call(Attribute::parse_outer)?;
        let facade = take_facade(&mut attributes)?;
        let visibility = input.parse()?;
        let name: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), FORM))?;
        if !input.peek(syn::token::Brace) {
            return Err(syn::Error::new(input.span(), FORM));
        }
        let list;
        braced!(list in input);
        let messages = Punctuated::<Type, Token![,]>::parse_terminated(&list)?;
        if !input.is_empty() {
            return Err(syn::Error::new(input.span(), FORM));
        }
        Ok(Protocol {
            attributes,
            visibility,
            name,
            messages: messages.into_iter().collect(),
            facade,
        })
    }
}

impl Protocol {
    fn write(&self) -> TokenStream {
        let Protocol {
            attributes,
            visibility,
            name,
            ..
        } = self;
        let mut complaints = Complaints::default();
        self.check(&mut complaints);
        let impls = complaints.is_empty().then(|| self.impls());
        let errors = complaints.into_tokens();
        quote! {
            #(#attributes)*
            #visibility enum #name {}
            #impls
            #errors
        }
    }

    fn check(&self, complaints: &mut Complaints) {
        if self.messages.is_empty() {
            let sentence = format!(
                "a protocol has at least one message: write `{} {{ Deposit, … }}`",
                self.name
            );
            complaints.at(&self.name, sentence);
        }
        let mut seen = Vec::new();
        for message in &self.messages {
            let written = message.to_token_stream().to_string();
            if seen.contains(&written) {
                complaints.at(
                    message,
                    format_args!("`{written}` is already in this protocol: remove this one"),
                );
            }
            seen.push(written);
        }
    }

    fn impls(&self) -> TokenStream {
        let Protocol {
            name, messages, facade, ..
        } = self;
        let span = site(name.span());
        let volary = facade.at(span);
        let count = messages.len();
        let accepts = messages.iter().enumerate().map(|(place, message)| {
            let span = site(message.span());
            let volary = facade.at(span);
            quote_spanned! {span=>
                #[automatically_derived]
                impl #volary::__private::Accepts<#message> for #name {
                    fn table(
                        via: <Self as #volary::__private::Target>::Via,
                    ) -> &'static #volary::__private::MessageTable {
                        via[#place]
                    }
                }
            }
        });
        quote_spanned! {span=>
            #[automatically_derived]
            impl #volary::__private::Target for #name {
                type Via = &'static [&'static #volary::__private::MessageTable; #count];

                fn abroad() -> Self::Via {
                    const { &[#(#volary::__private::absent_table::<#messages>()),*] }
                }

                fn found(
                    actor: &#volary::__private::Found<'_>,
                ) -> ::core::option::Option<Self::Via> {
                    static TABLES: #volary::__private::FoundTables<#count> = #volary::__private::FoundTables::new();
                    TABLES.of(actor, || ::core::option::Option::Some([#(actor.table::<#messages>()?),*]))
                }
            }
            #(#accepts)*
            #[automatically_derived]
            impl<__Actor> #volary::__private::Covers<__Actor> for #name
            where
                __Actor: #(#volary::Respond<#messages>)+*,
            {
                fn table() -> <Self as #volary::__private::Target>::Via {
                    const { &[#(#volary::__private::message_table::<__Actor, #messages>()),*] }
                }
            }
        }
    }
}

/// Takes `#[protocol(crate = path)]` off.
fn take_facade(attributes: &mut Vec<Attribute>) -> syn::Result<Facade> {
    let mut facade = Facade::default();
    for attribute in attributes.extract_if(.., |attribute| attribute.path().is_ident("protocol")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                facade = meta.value()?.parse()?;
                return Ok(());
            }
            Err(meta.error("unknown option: `#[protocol(…)]` takes only `crate = path`"))
        })?;
    }
    Ok(facade)
}
