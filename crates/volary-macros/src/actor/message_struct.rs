//! Writes the message of a method: the struct, its contract, and `new` where a literal will not do.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Type};

use super::block::Block;
use super::generics::MessageGenerics;
use super::method::{MadeMessage, Method};
use super::parameter::Field;
use crate::facade::site;

/// A message about to be written.
pub(super) struct MessageStruct<'a> {
    block: &'a Block,
    method: &'a Method,
    made: &'a MadeMessage,
    generics: MessageGenerics,
}

impl<'a> MessageStruct<'a> {
    pub(super) fn of(made: &'a MadeMessage, method: &'a Method, block: &'a Block) -> Self {
        let fields: Vec<&Type> = made.fields.iter().map(|field| &field.ty).collect();
        let generics = MessageGenerics::of(&block.generics, &fields, &method.answer.types());
        MessageStruct {
            block,
            method,
            made,
            generics,
        }
    }

    /// The message as a type: `Put<K, V>`.
    pub(super) fn as_type(&self) -> TokenStream {
        let name = &self.made.name;
        let (_, arguments, _) = self.generics.generics.split_for_impl();
        quote!(#name #arguments)
    }

    /// The struct and its impls.
    pub(super) fn write(&self) -> TokenStream {
        let declaration = self.declaration();
        let constructor = self.constructor();
        let contract = self.contract();
        let travels = self.made.wire.write(
            &self.as_type(),
            &self.generics.generics,
            &self.block.facade,
            site(self.method.name.span()),
            &self.method.gate(),
        );
        quote! {
            #declaration
            #constructor
            #contract
            #travels
        }
    }

    fn declaration(&self) -> TokenStream {
        let MadeMessage { name, derives, .. } = self.made;
        let Method {
            conditions,
            attributes,
            visibility,
            ..
        } = self.method;
        let doc = (!attributes.iter().any(|attribute| attribute.path().is_ident("doc"))).then(|| {
            doc(format_args!(
                "The message of `{}::{}`.",
                self.block.name, self.method.name
            ))
        });
        let derive = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
        let params = &self.generics.generics;
        let clause = &params.where_clause;
        let body = if self.made.fields.is_empty() && self.generics.unused.is_empty() {
            quote!(#clause;)
        } else {
            let fields = self.made.fields.iter().map(|field| self.field(field));
            let marker = self.marker();
            quote!(#clause { #(#fields,)* #marker })
        };
        quote! {
            #(#conditions)*
            #doc
            #(#attributes)*
            #derive
            #visibility struct #name #params #body
        }
    }

    fn field(&self, field: &Field) -> TokenStream {
        let Field { name, ty, docs } = field;
        let visibility = &self.method.visibility;
        let doc = docs.is_empty().then(|| {
            doc(format_args!(
                "The parameter `{name}` of `{}::{}`.",
                self.block.name, self.method.name
            ))
        });
        quote!(#doc #(#docs)* #visibility #name: #ty)
    }

    /// A field that stands for the parameters which only the answer mentions.
    fn marker(&self) -> Option<TokenStream> {
        let unused = &self.generics.unused;
        let span = site(self.method.name.span());
        (!unused.is_empty()).then(|| {
            quote_spanned! {span=>
                #[doc(hidden)]
                __answer: ::core::marker::PhantomData<fn() -> (#(::core::marker::PhantomData<#unused>,)*)>,
            }
        })
    }

    fn constructor(&self) -> Option<TokenStream> {
        if self.generics.unused.is_empty() {
            return None;
        }
        let gate = self.method.gate();
        let visibility = &self.method.visibility;
        let message = self.as_type();
        let (params, _, clause) = self.generics.generics.split_for_impl();
        let names: Vec<&Ident> = self.made.fields.iter().map(|field| &field.name).collect();
        let types = self.made.fields.iter().map(|field| &field.ty);
        let doc = doc(format_args!(
            "The message `{}`, with its fields in order.",
            self.made.name
        ));
        let new = format_ident!("new", span = site(self.method.name.span()));
        Some(quote! {
            #gate
            impl #params #message #clause {
                #doc
                #[must_use]
                #[allow(dead_code)]
                #visibility fn #new(#(#names: #types),*) -> Self {
                    Self { #(#names,)* __answer: ::core::marker::PhantomData }
                }
            }
        })
    }

    fn contract(&self) -> TokenStream {
        let span = site(self.method.name.span());
        let volary = self.block.facade.at(span);
        let gate = self.method.gate();
        let message = self.as_type();
        let (params, _, clause) = self.generics.generics.split_for_impl();
        let contract = self
            .method
            .answer
            .contract(&self.block.facade, site(self.method.answer_span));
        let plain = self.block.generics.params.is_empty();
        let check = plain
            .then(|| {
                self.method
                    .answer
                    .check(&self.block.facade, site(self.method.answer_span))
            })
            .flatten()
            .map(|check| quote_spanned!(span=> #gate #check));
        quote_spanned! {span=>
            #check
            #gate
            #[automatically_derived]
            impl #params #volary::Message for #message #clause {
                #contract
            }
        }
    }
}

fn doc(text: std::fmt::Arguments<'_>) -> TokenStream {
    let text = text.to_string();
    quote!(#[doc = #text])
}
