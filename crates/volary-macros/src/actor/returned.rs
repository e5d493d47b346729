//! What a method returns, and what that makes of the message's reply and rejection.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{ReturnType, Type};

use super::block::Block;
use super::types;
use crate::facade::Facade;

/// How a message is answered.
pub(super) enum Answer {
    /// By what the method returns.
    Returned(Returned),
    /// Through the `ReplyTo` that the method takes.
    Later(Contract, Ending),
}

/// The reply and rejection that a `ReplyTo` names.
pub(super) struct Contract {
    pub(super) reply: Type,
    /// None when there is nothing to reject.
    pub(super) rejection: Option<Type>,
}

/// The return type of a method whose value is the reply.
pub(super) enum Returned {
    /// None, or `()`.
    Nothing,
    /// The reply itself.
    Value(Type),
    /// A `Result`, by that or another name: its error is a rejection, a fault, or either.
    Outcome(Type),
}

/// How a method ends whose return value is no reply: a hook, or one that takes a `ReplyTo`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// `()`.
    Always,
    /// `Result<(), Fault>`.
    OrFault,
}

impl Answer {
    /// The types that the message's contract is made of.
    pub(super) fn types(&self) -> Vec<&Type> {
        match self {
            Answer::Returned(Returned::Nothing) => Vec::new(),
            Answer::Returned(Returned::Value(ty) | Returned::Outcome(ty)) => vec![ty],
            Answer::Later(contract, _) => contract.types().collect(),
        }
    }

    /// Makes sure that a reply is none, which goes by another name than `Result`: its faults would be answers, and crash nobody. Not
    /// for a block with parameters, since a constant cannot speak of them.
    pub(super) fn check(&self, facade: &Facade, span: Span) -> Option<TokenStream> {
        let Answer::Returned(Returned::Value(ty)) = self else {
            return None;
        };
        let volary = facade.at(span);
        Some(quote_spanned! {span=>
            const _: () = {
                #[allow(unused_imports)]
                use #volary::__private::NoOutcome as _;
                ::core::assert!(
                    !#volary::__private::Spelled::<#ty>::IS_OUTCOME,
                    "this is a `Result` by another name, and its faults would be answers: write `Result<_, _>`, or call the alias `Result`",
                );
            };
        })
    }

    /// `type Reply = …; type Rejection = …;`
    pub(super) fn contract(&self, facade: &Facade, span: Span) -> TokenStream {
        let never = quote_spanned!(span=> ::core::convert::Infallible);
        let (reply, rejection) = match self {
            Answer::Returned(Returned::Nothing) => (quote_spanned!(span=> ()), never),
            Answer::Returned(Returned::Value(ty)) => (quote_spanned!(span=> #ty), never),
            Answer::Returned(Returned::Outcome(ty)) => {
                let volary = facade.at(span);
                (
                    quote_spanned!(span=> <#ty as #volary::__private::Outcome>::Reply),
                    quote_spanned!(span=> <#ty as #volary::__private::Outcome>::Rejection),
                )
            }
            Answer::Later(contract, _) => {
                let Contract { reply, rejection } = contract;
                let rejection = rejection.as_ref().map_or(never, |ty| quote_spanned!(span=> #ty));
                (quote_spanned!(span=> #reply), rejection)
            }
        };
        quote_spanned! {span=>
            type Reply = #reply;
            type Rejection = #rejection;
        }
    }
}

impl Contract {
    pub(super) fn types(&self) -> impl Iterator<Item = &Type> {
        std::iter::once(&self.reply).chain(&self.rejection)
    }
}

impl Returned {
    pub(super) fn of(output: &ReturnType, block: &Block) -> Self {
        let ReturnType::Type(_, ty) = output else {
            return Returned::Nothing;
        };
        if types::is_unit(ty) {
            return Returned::Nothing;
        }
        let is_result = types::last_segment(ty).is_some_and(|segment| segment.ident == "Result");
        let ty = types::without_self(ty, &block.actor);
        if is_result {
            Returned::Outcome(ty)
        } else {
            Returned::Value(ty)
        }
    }
}

impl Ending {
    /// Reads the return type; `why` begins the sentence for one that does not fit.
    pub(super) fn of(output: &ReturnType, why: &str) -> syn::Result<Self> {
        let ReturnType::Type(_, ty) = output else {
            return Ok(Ending::Always);
        };
        if types::is_unit(ty) {
            return Ok(Ending::Always);
        }
        if is_unit_or_fault(ty) {
            return Ok(Ending::OrFault);
        }
        Err(syn::Error::new_spanned(
            ty,
            format!("{why}: return nothing, or `Result<(), Fault>`"),
        ))
    }

    /// The call, made to end in `Result<(), Fault>`.
    pub(super) fn settle(self, call: &TokenStream, span: Span) -> TokenStream {
        match self {
            Ending::Always => quote_spanned! {span=>
                #call;
                ::core::result::Result::Ok(())
            },
            Ending::OrFault => call.clone(),
        }
    }
}

/// `Result<(), Fault>`, or an alias `Result<()>` that the compiler will judge.
fn is_unit_or_fault(ty: &Type) -> bool {
    let Some(segment) = types::last_segment(ty).filter(|segment| segment.ident == "Result") else {
        return false;
    };
    match types::type_arguments(segment)[..] {
        [ok] => types::is_unit(ok),
        [ok, error] => types::is_unit(ok) && types::last_segment(error).is_some_and(|segment| segment.ident == "Fault"),
        _ => false,
    }
}
