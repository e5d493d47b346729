//! Writes the handler of a method: which trait, and a body that only calls the method.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use super::block::Block;
use super::message_struct::MessageStruct;
use super::method::{Argument, Message, Method, Timing};
use super::returned::{Answer, Returned};
use crate::facade::site;

/// A message and its handler, written.
pub(super) struct Handling {
    /// The message as a type.
    pub(super) message: TokenStream,
    /// `#[cfg(…)]` and the like, for whatever names the message.
    pub(super) gate: TokenStream,
    /// The struct and the impls.
    pub(super) items: TokenStream,
}

impl Handling {
    pub(super) fn of(method: &Method, block: &Block) -> Self {
        let (message, definition) = match &method.message {
            Message::Existing(ty) => (ty.to_token_stream(), None),
            Message::Made(made) => {
                let made = MessageStruct::of(made, method, block);
                (made.as_type(), Some(made.write()))
            }
        };
        let handler = handler(method, &message, block);
        Handling {
            items: quote!(#definition #handler),
            gate: method.gate(),
            message,
        }
    }
}

fn handler(method: &Method, message: &TokenStream, block: &Block) -> TokenStream {
    let span = site(method.name.span());
    let volary = block.facade.at(span);
    let names = Names::of(method);
    let Names {
        message: value,
        reply,
        context,
    } = &names;
    let call = names.call(method);

    let (trait_, body) = match &method.answer {
        Answer::Later(_, ending) => {
            let wait = (method.timing == Timing::Async).then(|| quote_spanned!(span=> .await));
            let body = ending.settle(&quote_spanned!(span=> #call #wait), span);
            let respond = quote_spanned! {span=>
                async fn respond(
                    &mut self,
                    #value: #message,
                    #reply: #volary::ReplyTo<
                        <#message as #volary::Message>::Reply,
                        <#message as #volary::Message>::Rejection,
                    >,
                    #context: &mut #volary::Context<Self>,
                ) -> ::core::result::Result<(), #volary::Fault> {
                    #body
                }
            };
            (quote_spanned!(span=> #volary::Respond<#message>), respond)
        }
        Answer::Returned(returned) => {
            let (answer, body) = settle(returned, &call, message, method, block);
            let trait_ = match method.timing {
                Timing::Immediate => quote_spanned!(span=> SyncHandler),
                Timing::Async => quote_spanned!(span=> Handler),
            };
            let handle = quote_spanned! {span=>
                fn handle(
                    &mut self,
                    #value: #message,
                    #context: &mut #volary::Context<Self>,
                ) -> #answer {
                    #body
                }
            };
            (quote_spanned!(span=> #volary::#trait_<#message>), handle)
        }
    };
    block.implement(method.gate(), trait_, body)
}

/// What `handle` returns, and the call made to end in it. All of it is reported where the author
/// wrote the answer, for that is what can be wrong with it.
fn settle(
    returned: &Returned,
    call: &TokenStream,
    message: &TokenStream,
    method: &Method,
    block: &Block,
) -> (TokenStream, TokenStream) {
    let span = site(method.answer_span);
    let volary = block.facade.at(span);
    let reply = quote_spanned!(span=> <#message as #volary::Message>::Reply);
    let answer = quote_spanned! {span=>
        ::core::result::Result<#reply, #volary::Failure<<#message as #volary::Message>::Rejection>>
    };
    let settled = |value: TokenStream| match returned {
        Returned::Nothing | Returned::Value(_) => quote_spanned! {span=>
            let reply: #reply = #value;
            ::core::result::Result::Ok(reply)
        },
        Returned::Outcome(ty) => quote_spanned!(span=> <#ty as #volary::__private::Outcome>::into_outcome(#value)),
    };
    if method.timing == Timing::Immediate {
        return (answer, settled(call.clone()));
    }
    // Not an `async fn` around the method's own: that would keep the message once more while it waits.
    let body = settled(quote_spanned!(span=> outcome));
    (
        quote_spanned!(span=> impl ::core::future::Future<Output = #answer> + ::core::marker::Send),
        quote_spanned!(span=> #volary::__private::mapped(#call, |outcome| -> #answer { #body })),
    )
}

/// What the handler calls its parameters: with an underscore when the method has no use for them.
struct Names {
    message: Ident,
    reply: Ident,
    context: Ident,
}

impl Names {
    fn of(method: &Method) -> Self {
        let span = site(method.name.span());
        let name = |word: &str, used: bool| Ident::new(&format!("{}{word}", if used { "" } else { "_" }), span);
        let any = |test: fn(&Argument) -> bool| method.arguments.iter().any(test);
        Names {
            message: name(
                "message",
                any(|argument| matches!(argument, Argument::Field(_) | Argument::Message)),
            ),
            reply: name("reply", any(|argument| matches!(argument, Argument::ReplyTo))),
            context: name("context", any(|argument| matches!(argument, Argument::Context))),
        }
    }

    fn call(&self, method: &Method) -> TokenStream {
        // Reported at the return type: what the compiler may dislike here is the answer.
        let span = site(method.answer_span);
        let Names {
            message,
            reply,
            context,
        } = self;
        let name = &method.name;
        let arguments = method.arguments.iter().map(|argument| match argument {
            Argument::Field(field) => quote_spanned!(span=> #message.#field),
            Argument::Message => quote_spanned!(span=> #message),
            Argument::ReplyTo => quote_spanned!(span=> #reply),
            Argument::Context => quote_spanned!(span=> #context),
        });
        quote_spanned!(span=> Self::#name(self, #(#arguments),*))
    }
}
