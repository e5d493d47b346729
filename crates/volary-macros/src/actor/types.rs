//! Looking at types as they are written.

use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprPath, GenericArgument, Path, PathArguments, PathSegment, QSelf, Type, TypePath};

/// The type without the invisible groups and parentheses around it.
pub(super) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// The last segment of a path type: `ReplyTo<u8>` of `volary::ReplyTo<u8>`.
pub(super) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match bare(ty) {
        Type::Path(TypePath { path, .. }) => path.segments.last(),
        _ => None,
    }
}

/// The type arguments of a segment: `T` and `E` of `Result<T, E>`.
pub(super) fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Vec::new();
    };
    arguments
        .args
        .iter()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
        .collect()
}

/// Whether this is `()`.
pub(super) fn is_unit(ty: &Type) -> bool {
    matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The type with `Self` spelled out, fit to stand outside the impl block.
pub(super) fn without_self(ty: &Type, actor: &Type) -> Type {
    let mut ty = ty.clone();
    SpellOut(actor).visit_type_mut(&mut ty);
    ty
}

struct SpellOut<'a>(&'a Type);

impl SpellOut<'_> {
    /// Turns `Self::N` into `<Actor>::N`.
    fn qualify(&self, qself: &mut Option<QSelf>, path: &mut Path) {
        if qself.is_some() || path.segments.len() < 2 || path.segments[0].ident != "Self" {
            return;
        }
        *qself = Some(QSelf {
            lt_token: Default::default(),
            ty: Box::new(self.0.clone()),
            position: 0,
            as_token: None,
            gt_token: Default::default(),
        });
        path.leading_colon = Some(Default::default());
        path.segments = std::mem::take(&mut path.segments).into_iter().skip(1).collect();
    }
}

impl VisitMut for SpellOut<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(TypePath { qself: None, path }) = ty
            && path.is_ident("Self")
        {
            *ty = self.0.clone();
            return;
        }
        if let Type::Path(TypePath { qself, path }) = ty {
            self.qualify(qself, path);
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(ExprPath { qself, path, .. }) = expr {
            self.qualify(qself, path);
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
