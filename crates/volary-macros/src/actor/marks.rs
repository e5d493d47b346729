//! The marks on a method: `#[actor(skip)]`, `#[message(…)]` and `#[handles]`.
//!
//! They mean something to `#[actor]` only, so they are taken off before the block is emitted.

use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, Meta, Path, Token, parenthesized};

use crate::complaints::Complaints;
use crate::wire::WireMark;

/// What the author said about one method.
#[derive(Default)]
pub(super) struct Marks {
    /// `#[actor(skip)]`: not a message.
    pub(super) skip: Option<Attribute>,
    /// `#[handles]`: the message exists already.
    pub(super) handles: Option<Attribute>,
    /// `#[message(…)]`: how the message is made.
    pub(super) message: Option<MessageMark>,
}

/// The options in `#[message(…)]` on a method.
pub(super) struct MessageMark {
    attribute: Attribute,
    pub(super) name: Option<Ident>,
    pub(super) derives: Vec<Path>,
    pub(super) wire: WireMark,
}

impl Marks {
    /// Takes the marks off and reads them.
    pub(super) fn take(attributes: &mut Vec<Attribute>, complaints: &mut Complaints) -> Self {
        let mut marks = Marks::default();
        attributes.retain(|attribute| match mark_name(attribute).as_deref() {
            Some("actor") => {
                complaints.keep(marks.read_actor(attribute));
                false
            }
            Some("message") => {
                complaints.keep(marks.read_message(attribute));
                false
            }
            Some("handles") => {
                complaints.keep(marks.read_handles(attribute));
                false
            }
            _ => true,
        });
        complaints.keep(marks.agree());
        marks
    }

    fn read_actor(&mut self, attribute: &Attribute) -> syn::Result<()> {
        const OPTIONS: &str = "on a method `#[actor(…)]` takes only `skip`: write `#[actor(skip)]`";
        if !matches!(attribute.meta, Meta::List(_)) {
            return Err(syn::Error::new_spanned(attribute, OPTIONS));
        }
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("skip") {
                self.skip = Some(attribute.clone());
                return Ok(());
            }
            Err(meta.error(format_args!(
                "unknown option `{}`: {OPTIONS}",
                meta.path.to_token_stream()
            )))
        })
    }

    fn read_message(&mut self, attribute: &Attribute) -> syn::Result<()> {
        const OPTIONS: &str = "on a method `#[message(…)]` takes `name = Name`, `derive(Trait, …)`, `remote = \"name\"`, \
                               `codec = json` and `reply_codec = json`";
        if !matches!(attribute.meta, Meta::List(_)) {
            return Err(syn::Error::new_spanned(attribute, OPTIONS));
        }
        let mut mark = self
            .message
            .take()
            .unwrap_or_else(|| MessageMark::new(attribute.clone()));
        let read = attribute.parse_nested_meta(|meta| mark.read(&meta, OPTIONS));
        self.message = Some(mark);
        read
    }

    fn read_handles(&mut self, attribute: &Attribute) -> syn::Result<()> {
        self.handles = Some(attribute.clone());
        if matches!(attribute.meta, Meta::Path(_)) {
            return Ok(());
        }
        let sentence = "`#[handles]` takes no options: the message is the type of the method's parameter";
        Err(syn::Error::new_spanned(attribute, sentence))
    }

    fn agree(&self) -> syn::Result<()> {
        let message = self.message.as_ref().map(|mark| &mark.attribute);
        match (&self.skip, message, &self.handles) {
            (Some(_), Some(other), _) | (Some(_), _, Some(other)) => {
                let sentence =
                    "this method is marked `#[actor(skip)]` and makes no message: remove one of the two marks";
                Err(syn::Error::new_spanned(other, sentence))
            }
            (_, Some(message), Some(_)) => {
                let sentence = "`#[message(…)]` describes a message to make, but `#[handles]` says that it exists \
                                already: remove one of the two marks";
                Err(syn::Error::new_spanned(message, sentence))
            }
            _ => Ok(()),
        }
    }

    /// The first mark that only a message method can bear.
    pub(super) fn of_message(&self) -> Option<&Attribute> {
        self.handles
            .as_ref()
            .or(self.message.as_ref().map(|mark| &mark.attribute))
    }
}

impl MessageMark {
    fn new(attribute: Attribute) -> Self {
        MessageMark {
            attribute,
            name: None,
            derives: Vec::new(),
            wire: WireMark::default(),
        }
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>, options: &str) -> syn::Result<()> {
        if meta.path.is_ident("name") {
            self.name = Some(meta.value()?.parse()?);
            Ok(())
        } else if meta.path.is_ident("derive") {
            let traits;
            parenthesized!(traits in meta.input);
            self.derives
                .extend(Punctuated::<Path, Token![,]>::parse_terminated(&traits)?);
            Ok(())
        } else if self.wire.read(meta)? {
            Ok(())
        } else {
            Err(meta.error(format_args!(
                "unknown option `{}`: {options}",
                meta.path.to_token_stream()
            )))
        }
    }
}

/// The name of a mark. `#[volary::actor(skip)]` is one too; the others have no path, and what bears
/// their name behind one is somebody else's.
fn mark_name(attribute: &Attribute) -> Option<String> {
    let path = attribute.path();
    let name = path.segments.last()?.ident.to_string();
    (name == "actor" || path.segments.len() == 1).then_some(name)
}
