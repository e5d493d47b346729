//! Which parameters of the impl block a message needs.
//!
//! `impl<K: Key, V: Send + 'static> Cache<K, V>` has messages about keys, about values, about both
//! and about neither. Each gets just the parameters that occur in its fields or its answer, with
//! the bounds that speak of nothing else.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{GenericParam, Generics, Ident, Macro, Path, Token, Type, TypeParamBound, WherePredicate};

/// The generics of one message.
pub(super) struct MessageGenerics {
    pub(super) generics: Generics,
    /// Type parameters that only the answer mentions: the struct needs a marker for them.
    pub(super) unused: Vec<Ident>,
}

impl MessageGenerics {
    pub(super) fn of(block: &Generics, fields: &[&Type], answer: &[&Type]) -> Self {
        let declared = Declared::of(block);
        let in_fields = declared.mentioned_in(fields);
        let needed: BTreeSet<String> = in_fields.union(&declared.mentioned_in(answer)).cloned().collect();

        let mut generics = Generics::default();
        let mut unused = Vec::new();
        for param in &block.params {
            match param {
                GenericParam::Type(param) if needed.contains(&param.ident.to_string()) => {
                    if !in_fields.contains(&param.ident.to_string()) {
                        unused.push(param.ident.clone());
                    }
                    let mut param = param.clone();
                    param.bounds = declared.within(&param.bounds, &needed);
                    generics.params.push(param.into());
                }
                GenericParam::Const(param) if needed.contains(&param.ident.to_string()) => {
                    generics.params.push(param.clone().into());
                }
                _ => {}
            }
        }
        for predicate in block.where_clause.iter().flat_map(|clause| &clause.predicates) {
            if let WherePredicate::Type(predicate) = predicate
                && declared.speaks_only_of(&predicate.bounded_ty, &needed)
            {
                let mut predicate = predicate.clone();
                predicate.bounds = declared.within(&predicate.bounds, &needed);
                generics.make_where_clause().predicates.push(predicate.into());
            }
        }
        MessageGenerics { generics, unused }
    }
}

/// The names that a block declares, `Self` among them.
struct Declared(BTreeSet<String>);

impl Declared {
    fn of(block: &Generics) -> Self {
        let params = block.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(param.ident.to_string()),
            GenericParam::Const(param) => Some(param.ident.to_string()),
            GenericParam::Lifetime(_) => None,
        });
        Declared(params.chain(["Self".to_owned()]).collect())
    }

    fn mentioned_in(&self, types: &[&Type]) -> BTreeSet<String> {
        self.search(|search| types.iter().for_each(|ty| search.visit_type(ty)))
    }

    /// The bounds that speak of nothing but the `needed` parameters.
    fn within(
        &self,
        bounds: &Punctuated<TypeParamBound, Token![+]>,
        needed: &BTreeSet<String>,
    ) -> Punctuated<TypeParamBound, Token![+]> {
        let fits = |bound: &&TypeParamBound| {
            self.search(|search| search.visit_type_param_bound(bound))
                .is_subset(needed)
        };
        bounds.iter().filter(fits).cloned().collect()
    }

    fn speaks_only_of(&self, ty: &Type, needed: &BTreeSet<String>) -> bool {
        let mentioned = self.mentioned_in(&[ty]);
        !mentioned.is_empty() && mentioned.is_subset(needed)
    }

    fn search(&self, look: impl FnOnce(&mut Search<'_>)) -> BTreeSet<String> {
        let mut search = Search {
            declared: &self.0,
            found: BTreeSet::new(),
        };
        look(&mut search);
        search.found
    }
}

struct Search<'a> {
    declared: &'a BTreeSet<String>,
    found: BTreeSet<String>,
}

impl Search<'_> {
    fn note(&mut self, ident: &Ident) {
        let name = ident.to_string();
        if self.declared.contains(&name) {
            self.found.insert(name);
        }
    }

    fn note_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => self.note(&ident),
                TokenTree::Group(group) => self.note_all(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl Visit<'_> for Search<'_> {
    fn visit_path(&mut self, path: &Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            self.note(&first.ident);
        }
        visit::visit_path(self, path);
    }

    // What a macro makes of its tokens is unknown; a name in them counts.
    fn visit_macro(&mut self, call: &Macro) {
        self.note_all(call.tokens.to_token_stream());
    }
}
