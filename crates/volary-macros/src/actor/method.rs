//! A method of the block, read as a message and its handler.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, ImplItemFn, PatType, Path, ReturnType, Signature, Type, Visibility};

use super::block::Block;
use super::marks::Marks;
use super::naming;
use super::owned::{self, Place};
use super::parameter::{Field, Role};
use super::returned::{Answer, Contract, Ending, Returned};
use super::{signature, types};
use crate::complaints::Complaints;
use crate::wire::WireMark;

/// A method that handles a message.
pub(super) struct Method {
    pub(super) name: Ident,
    pub(super) visibility: Visibility,
    /// `#[cfg(…)]`, carried to everything generated for this method.
    pub(super) conditions: Vec<Attribute>,
    /// Doc comments, `#[deprecated]` and `#[allow(…)]`, carried to the message.
    pub(super) attributes: Vec<Attribute>,
    pub(super) timing: Timing,
    pub(super) message: Message,
    /// What the method is called with after `self`, in order.
    pub(super) arguments: Vec<Argument>,
    pub(super) answer: Answer,
    /// Where to point when the reply does not fit.
    pub(super) answer_span: Span,
}

/// Whether the method is an `async fn`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    Immediate,
    Async,
}

/// The message that the method handles.
pub(super) enum Message {
    /// Made from the parameters.
    Made(MadeMessage),
    /// `#[handles]`: made by somebody else.
    Existing(Type),
}

/// A message to be made.
pub(super) struct MadeMessage {
    pub(super) name: Ident,
    pub(super) derives: Vec<Path>,
    pub(super) fields: Vec<Field>,
    /// How it travels between nodes, if it does.
    pub(super) wire: WireMark,
}

/// One argument of the call.
pub(super) enum Argument {
    /// A field of the message.
    Field(Ident),
    /// The message as a whole.
    Message,
    Context,
    ReplyTo,
}

impl Method {
    /// Reads a method with a receiver. Complains, and gives nothing, when it cannot be a message.
    pub(super) fn of(item: &mut ImplItemFn, marks: Marks, block: &Block, complaints: &mut Complaints) -> Option<Self> {
        let mut found = Complaints::default();
        signature::check(&item.sig, &mut found);

        let source = if marks.handles.is_some() {
            Source::Parameter
        } else {
            Source::Parameters
        };
        let mut parameters = Parameters::new(source);
        for input in &mut item.sig.inputs {
            if let FnArg::Typed(parameter) = input {
                parameters.read(parameter, block, &mut found);
            }
        }
        let message = match &marks.handles {
            Some(mark) => existing_message(mark, parameters.existing, &mut found).map(Message::Existing),
            None => {
                let (chosen, derives, wire) = marks
                    .message
                    .map(|mark| (mark.name, mark.derives, mark.wire))
                    .unwrap_or_default();
                found.keep(wire.check(&block.generics));
                let name = chosen.map_or_else(|| naming::message_name(&item.sig.ident, block), Ok);
                let fields = parameters.fields;
                found.keep(name).map(|name| {
                    Message::Made(MadeMessage {
                        name,
                        derives,
                        fields,
                        wire,
                    })
                })
            }
        };
        let answer_span = answer_span(&item.sig, message.as_ref());
        let answer = read_answer(&item.sig, parameters.reply_to, block, &mut found);

        let sound = found.is_empty();
        complaints.absorb(found);
        Some(Method {
            name: item.sig.ident.clone(),
            visibility: item.vis.clone(),
            conditions: conditions(&item.attrs),
            attributes: carried(&item.attrs, &["doc", "deprecated", "allow"]),
            timing: Timing::of(&item.sig),
            message: message.filter(|_| sound)?,
            arguments: parameters.arguments,
            answer: answer?,
            answer_span,
        })
    }

    /// The attributes for everything that names the message: it comes and goes with the method,
    /// and what is generated for a deprecated method should not be reported as using it.
    pub(super) fn gate(&self) -> TokenStream {
        let conditions = &self.conditions;
        let deprecated = self
            .attributes
            .iter()
            .any(|attribute| attribute.path().is_ident("deprecated"));
        let quiet = deprecated.then(|| quote!(#[allow(deprecated)]));
        quote!(#(#conditions)* #quiet)
    }
}

impl Timing {
    pub(super) fn of(signature: &Signature) -> Self {
        if signature.asyncness.is_some() {
            Timing::Async
        } else {
            Timing::Immediate
        }
    }
}

impl Message {
    /// Whether the two are the same as far as can be seen.
    pub(super) fn same_as(&self, other: &Message) -> bool {
        let key = |message: &Message| match message {
            Message::Made(made) => made.name.to_string(),
            Message::Existing(ty) => ty.to_token_stream().to_string(),
        };
        key(self) == key(other)
    }

    /// The name by which the author speaks of it.
    pub(super) fn name(&self) -> String {
        match self {
            Message::Made(made) => made.name.to_string(),
            Message::Existing(ty) => match types::last_segment(ty) {
                Some(segment) => segment.ident.to_string(),
                None => ty.to_token_stream().to_string(),
            },
        }
    }
}

/// Where the message comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It is made of all the parameters.
    Parameters,
    /// It is one of them.
    Parameter,
}

/// The parameters read so far.
struct Parameters {
    source: Source,
    arguments: Vec<Argument>,
    fields: Vec<Field>,
    /// Under `#[handles]`: the parameters that could be the message.
    existing: Vec<Type>,
    reply_to: Option<Contract>,
}

impl Parameters {
    fn new(source: Source) -> Self {
        Parameters {
            source,
            arguments: Vec::new(),
            fields: Vec::new(),
            existing: Vec::new(),
            reply_to: None,
        }
    }

    fn read(&mut self, parameter: &mut PatType, block: &Block, complaints: &mut Complaints) {
        match complaints.keep(Role::of(parameter, block)) {
            Some(Role::Context) => {
                if self
                    .arguments
                    .iter()
                    .any(|argument| matches!(argument, Argument::Context))
                {
                    complaints.at(&parameter.ty, "a method takes its context once: remove this parameter");
                }
                self.arguments.push(Argument::Context);
            }
            Some(Role::ReplyTo(contract)) => {
                if self.reply_to.is_some() {
                    complaints.at(
                        &parameter.ty,
                        "a message is answered once: remove this second `ReplyTo`",
                    );
                }
                for ty in contract.types() {
                    owned::check(ty, Place::Reply, complaints);
                }
                self.reply_to = Some(contract);
                self.arguments.push(Argument::ReplyTo);
            }
            Some(Role::Carried(ty)) if self.source == Source::Parameter => {
                owned::check(&ty, Place::Parameter, complaints);
                self.existing.push(ty);
                self.arguments.push(Argument::Message);
            }
            Some(Role::Carried(ty)) => {
                if let Some(field) = Field::of(parameter, ty, complaints) {
                    self.arguments.push(Argument::Field(field.name.clone()));
                    self.fields.push(field);
                }
            }
            None => {}
        }
    }
}

/// The `#[cfg(…)]`s among the attributes.
pub(super) fn conditions(attributes: &[Attribute]) -> Vec<Attribute> {
    carried(attributes, &["cfg"])
}

fn existing_message(mark: &Attribute, mut candidates: Vec<Type>, complaints: &mut Complaints) -> Option<Type> {
    if candidates.len() > 1 {
        let sentence = "`#[handles]` needs exactly one message: keep this parameter and put the rest into its type, or \
                        remove `#[handles]` to have a message made of all of them";
        complaints.at(&candidates[0], sentence);
        return None;
    }
    let message = candidates.pop();
    if message.is_none() {
        let sentence = "`#[handles]` needs the message as a parameter: write `message: Type`, or remove `#[handles]` \
                        to have a message made";
        complaints.at(mark, sentence);
    }
    message
}

fn read_answer(
    signature: &Signature,
    reply_to: Option<Contract>,
    block: &Block,
    complaints: &mut Complaints,
) -> Option<Answer> {
    if let Some(contract) = reply_to {
        let ending = Ending::of(&signature.output, "this method answers through its `ReplyTo`");
        return complaints.keep(ending).map(|ending| Answer::Later(contract, ending));
    }
    let answer = Answer::Returned(Returned::of(&signature.output, block));
    for ty in answer.types() {
        owned::check(ty, Place::Reply, complaints);
    }
    Some(answer)
}

/// Where to point when the compiler dislikes the answer: the return type; or only the error in it,
/// where the rest cannot be wrong.
fn answer_span(signature: &Signature, message: Option<&Message>) -> Span {
    let ReturnType::Type(_, ty) = &signature.output else {
        return signature.ident.span();
    };
    let arguments = types::last_segment(ty).map(types::type_arguments).unwrap_or_default();
    match (message, &arguments[..]) {
        (Some(Message::Made(_)), [_, error]) => error.span(),
        _ => ty.span(),
    }
}

fn carried(attributes: &[Attribute], names: &[&str]) -> Vec<Attribute> {
    attributes
        .iter()
        .filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)))
        .cloned()
        .collect()
}
