//! What `remote`, `codec` and `reply_codec` say, and the impls made of it: how messages and rejections travel between
//! nodes. Needs the feature `wire` of the facade, where the traits are.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::{Generics, LitStr, Token, Type, TypePath, parse_quote};

use crate::facade::{Facade, relocate};

/// The options of a message that can travel.
#[derive(Default)]
pub(crate) struct WireMark {
    remote: Option<Remote>,
    codec: Option<Type>,
    reply_codec: Option<Type>,
}

struct Remote {
    span: Span,
    /// None for the name of the protobuf message.
    name: Option<LitStr>,
}

impl WireMark {
    /// Takes an option if it is one of these; false if not.
    pub(crate) fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
        if meta.path.is_ident("remote") {
            needs_feature(meta, "remote")?;
            let name = match meta.input.peek(Token![=]) {
                true => Some(name(meta)?),
                false => None,
            };
            let span = meta.path.segments[0].ident.span();
            self.remote = Some(Remote { span, name });
        } else if meta.path.is_ident("codec") {
            self.codec = Some(codec(meta)?);
        } else if meta.path.is_ident("reply_codec") {
            self.reply_codec = Some(codec(meta)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// That the options fit together.
    pub(crate) fn check(&self, generics: &Generics) -> syn::Result<()> {
        match (&self.remote, self.codec.as_ref().or(self.reply_codec.as_ref())) {
            (None, Some(codec)) => Err(syn::Error::new_spanned(
                codec,
                "a codec is for messages that travel: name this one with `remote = \"bank.v1.Deposit\"`",
            )),
            (Some(Remote { span, name: None }), _) if !generics.params.is_empty() => Err(syn::Error::new(
                *span,
                "a generic type has no protobuf name: write `remote = \"bank.v1.Deposit\"`",
            )),
            _ => Ok(()),
        }
    }

    /// `impl Wire for …`, if the message travels.
    pub(crate) fn write(
        &self,
        message: &TokenStream,
        generics: &Generics,
        facade: &Facade,
        span: Span,
        gate: &TokenStream,
    ) -> Option<TokenStream> {
        let remote = self.remote.as_ref()?;
        let volary = facade.at(span);
        let proto: Type = parse_quote!(proto);
        let own = self.codec.as_ref().unwrap_or(&proto);
        let codec = codec_path(own, facade, span);
        let reply_codec = codec_path(self.reply_codec.as_ref().unwrap_or(own), facade, span);
        let name = match &remote.name {
            Some(name) => name.to_token_stream(),
            None => protobuf_name(message, &volary, span),
        };
        let generics = self.conditions(message, generics, &volary, &codec, &reply_codec);
        let (params, _, clause) = generics.split_for_impl();
        Some(quote_spanned! {span=>
            #gate
            #[automatically_derived]
            impl #params #volary::wire::Wire for #message #clause {
                const NAME: &'static str = #name;
                type Codec = #codec;
                type ReplyCodec = #reply_codec;
            }
        })
    }

    /// Whether a generic message can travel depends on what it carries; of a plain one the compiler should say why not.
    fn conditions(
        &self,
        message: &TokenStream,
        generics: &Generics,
        volary: &TokenStream,
        codec: &TokenStream,
        reply_codec: &TokenStream,
    ) -> Generics {
        let mut generics = generics.clone();
        if generics.type_params().next().is_some() {
            let predicates = &mut generics.make_where_clause().predicates;
            predicates.push(parse_quote!(#codec: #volary::wire::Codec<#message>));
            predicates.push(parse_quote!(#reply_codec: #volary::wire::Codec<<#message as #volary::Message>::Reply>));
            predicates.push(parse_quote!(<#message as #volary::Message>::Rejection: #volary::wire::WireRejection));
        }
        generics
    }
}

/// A string that names something on the wire.
pub(crate) fn name(meta: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let name: LitStr = meta.value()?.parse()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte);
    let text = name.value();
    if (1..=255).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(name);
    }
    Err(syn::Error::new_spanned(
        name,
        "a name on the wire has 1 to 255 letters, digits or `._-/:`, such as \"bank.v1.Deposit\"",
    ))
}

/// `json`, `cbor`, `postcard`, `proto`, or the path of a codec.
pub(crate) fn codec(meta: &ParseNestedMeta<'_>) -> syn::Result<Type> {
    needs_feature(meta, "codec")?;
    meta.value()?.parse()
}

/// The codec as a type, with the short names spelled out.
pub(crate) fn codec_path(codec: &Type, facade: &Facade, span: Span) -> TokenStream {
    let Type::Path(TypePath { qself: None, path }) = codec else {
        return codec.to_token_stream();
    };
    let known = [
        ("proto", quote!(Proto)),
        ("json", quote!(Json)),
        ("cbor", quote!(Cbor)),
        ("postcard", quote!(Postcard)),
    ];
    match known.iter().find(|(short, _)| path.is_ident(short)) {
        None => codec.to_token_stream(),
        Some((_, codec)) => {
            // At the word itself: what can be missing is the feature of that name.
            let span = path.get_ident().map_or(span, |word| span.located_at(word.span()));
            let (volary, codec) = (facade.at(span), relocate(codec.clone(), span));
            quote_spanned!(span=> #volary::wire::#codec)
        }
    }
}

pub(crate) fn needs_feature(meta: &ParseNestedMeta<'_>, option: &str) -> syn::Result<()> {
    if cfg!(any(feature = "wire", test)) {
        return Ok(());
    }
    Err(meta.error(format_args!(
        "`{option}` is for messages that travel between nodes: turn on the feature `wire` of `volary`"
    )))
}

fn protobuf_name(message: &TokenStream, volary: &TokenStream, span: Span) -> TokenStream {
    quote_spanned! {span=>
        {
            const PACKAGE: &str = <#message as #volary::wire::__private::Name>::PACKAGE;
            const NAME: &str = <#message as #volary::wire::__private::Name>::NAME;
            const FULL: [u8; #volary::wire::__private::full_length(PACKAGE, NAME)] =
                #volary::wire::__private::full_name(PACKAGE, NAME);
            #volary::wire::__private::text(&FULL)
        }
    }
}
