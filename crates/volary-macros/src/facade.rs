//! Where generated code finds Volary, and where the compiler says it came from.
//!
//! Everything generated is named by an absolute path from the facade crate, so that nothing a user
//! imports, shadows or renames can change what it means.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Path;
use syn::parse::{Parse, ParseStream};
use syn::parse_quote;

/// The path of the facade: `::volary`, or what `crate = path` says.
#[derive(Clone)]
pub(crate) struct Facade(Path);

impl Facade {
    /// The path, for code that should be reported at `span`.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        relocate(self.0.to_token_stream(), span)
    }
}

impl Default for Facade {
    fn default() -> Self {
        Facade(parse_quote!(::volary))
    }
}

impl Parse for Facade {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Path::parse_mod_style).map(Facade)
    }
}

/// A span for generated code: reported at `span`, yet its local names never meet the user's, and
/// lints know that nobody wrote it.
pub(crate) fn site(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The same tokens with the same meaning, reported at `span`.
pub(crate) fn relocate(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let mut moved = Group::new(group.delimiter(), relocate(group.stream(), span));
                moved.set_span(group.span().located_at(span));
                return TokenTree::Group(moved);
            }
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}
