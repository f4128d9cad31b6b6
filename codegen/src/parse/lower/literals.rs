//! Converts constants of declarations to literals of the types that they are for.

use super::super::words::{ExprKind, ValueExpr};
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Literal, Model, StructId, TypeRef};
use crate::paths;

/// The literal of an expression for a field of type `ty`, or a diagnostic for a mismatch.
pub fn fit(model: &Model, expr: &ValueExpr, ty: &TypeRef) -> Result<Literal, Diagnostic> {
    match (ty, &expr.kind) {
        (TypeRef::Bool, ExprKind::Bool(value)) => Ok(Literal::Bool(*value)),
        (TypeRef::I32, ExprKind::Int(number)) if i32::try_from(*number).is_err() => {
            Err(Diagnostic::error(codes::DEFAULT_TYPE, &expr.span, format!("{number} does not fit into an `i32`")))
        }
        (TypeRef::I32 | TypeRef::I64 | TypeRef::IntOrString, ExprKind::Int(number)) => Ok(Literal::Int(*number)),
        (TypeRef::F64, ExprKind::Float(number)) => Ok(Literal::Float(*number)),
        (TypeRef::F64, ExprKind::Int(number)) => Ok(Literal::Float(*number as f64)),
        (TypeRef::Enum(id), _) => variant(model, expr, *id),
        (TypeRef::List(items), ExprKind::List(values)) => {
            Ok(Literal::List(values.iter().map(|value| fit(model, value, items)).collect::<Result<_, _>>()?))
        }
        (TypeRef::Map(values), ExprKind::Object(entries)) => object(entries, |_| Ok(values), model),
        (TypeRef::Struct(id), ExprKind::Object(entries)) => object(entries, |entry| member(model, *id, entry), model),
        (TypeRef::Json | TypeRef::RawExtension, _) => any(expr),
        (ty, ExprKind::Str(text)) if takes_text(ty) => Ok(Literal::String(text.clone())),
        _ => Err(mismatch(model, expr, ty)),
    }
}

fn takes_text(ty: &TypeRef) -> bool {
    matches!(
        ty,
        TypeRef::String
            | TypeRef::Quantity
            | TypeRef::Time
            | TypeRef::MicroTime
            | TypeRef::Duration
            | TypeRef::IntOrString
    )
}

fn variant(model: &Model, expr: &ValueExpr, id: crate::model::EnumId) -> Result<Literal, Diagnostic> {
    let definition = &model.enums[id.0];
    let (word, by_value) = match &expr.kind {
        ExprKind::Path(path) => (path.text(), false),
        ExprKind::Str(text) => (text.clone(), true),
        _ => return Err(mismatch(model, expr, &TypeRef::Enum(id))),
    };
    let fits = |variant: &&(String, String, String)| if by_value { variant.1 == word } else { variant.0 == word };
    match definition.variants.iter().find(fits) {
        Some((_, value, _)) => Ok(Literal::String(value.clone())),
        None if by_value && definition.open => Ok(Literal::String(word)),
        None => {
            let message = format!("`{}` has no variant `{word}`", definition.name);
            let names = definition
                .variants
                .iter()
                .map(|variant| if by_value { variant.1.as_str() } else { variant.0.as_str() });
            Err(Diagnostic::error(codes::DEFAULT_TYPE, &expr.span, message).suggest(&word, names))
        }
    }
}

fn object<'m>(
    entries: &[(String, ValueExpr)],
    ty: impl Fn(&(String, ValueExpr)) -> Result<&'m TypeRef, Diagnostic>,
    model: &'m Model,
) -> Result<Literal, Diagnostic> {
    let values = entries.iter().map(|entry| Ok((entry.0.clone(), fit(model, &entry.1, ty(entry)?)?)));
    Ok(Literal::Object(values.collect::<Result<_, _>>()?))
}

fn member<'m>(model: &'m Model, id: StructId, entry: &(String, ValueExpr)) -> Result<&'m TypeRef, Diagnostic> {
    match paths::find(model, id, &entry.0) {
        Some((_, field)) => Ok(&field.ty),
        None => {
            let message = format!("`{}` has no field `{}`", model.structs[id.0].name, entry.0);
            let names = paths::json_names(model, id);
            Err(Diagnostic::error(codes::DEFAULT_TYPE, &entry.1.span, message).suggest(&entry.0, names))
        }
    }
}

/// The literal of an expression for a field of any JSON type.
fn any(expr: &ValueExpr) -> Result<Literal, Diagnostic> {
    Ok(match &expr.kind {
        ExprKind::Bool(value) => Literal::Bool(*value),
        ExprKind::Int(number) => Literal::Int(*number),
        ExprKind::Float(number) => Literal::Float(*number),
        ExprKind::Str(text) => Literal::String(text.clone()),
        ExprKind::List(values) => Literal::List(values.iter().map(any).collect::<Result<_, _>>()?),
        ExprKind::Object(entries) => {
            let values = entries.iter().map(|(name, value)| Ok((name.clone(), any(value)?)));
            Literal::Object(values.collect::<Result<_, _>>()?)
        }
        ExprKind::Path(_) | ExprKind::Call(..) | ExprKind::Tuple(_) => {
            return Err(Diagnostic::error(codes::DEFAULT_TYPE, &expr.span, "expected a constant"));
        }
    })
}

fn mismatch(model: &Model, expr: &ValueExpr, ty: &TypeRef) -> Diagnostic {
    let message = format!("this does not fit a field of type `{}`", type_text(model, ty));
    let diagnostic = Diagnostic::error(codes::DEFAULT_TYPE, &expr.span, message);
    match (ty, &expr.kind) {
        (ty, ExprKind::Path(path)) if takes_text(ty) => {
            diagnostic.help(format!("write it as a string: `\"{}\"`", path.text()))
        }
        (TypeRef::I32 | TypeRef::I64, _) => diagnostic.help("write a whole number"),
        (TypeRef::Bool, _) => diagnostic.help("write `true` or `false`"),
        (TypeRef::List(_), _) => diagnostic.help("write a list: `[..]`"),
        (TypeRef::Struct(_) | TypeRef::Map(_), _) => diagnostic.help("write an object: `{ name: value }`"),
        (ty, _) if takes_text(ty) => diagnostic.help("write a string"),
        _ => diagnostic,
    }
}

/// The spelling of a type in definitions.
pub fn type_text(model: &Model, ty: &TypeRef) -> String {
    match ty {
        TypeRef::String => "String".to_string(),
        TypeRef::Bool => "bool".to_string(),
        TypeRef::I32 => "i32".to_string(),
        TypeRef::I64 => "i64".to_string(),
        TypeRef::F64 => "f64".to_string(),
        TypeRef::Enum(id) => model.enums[id.0].name.clone(),
        TypeRef::Struct(id) => model.structs[id.0].name.clone(),
        TypeRef::List(inner) => format!("Vec<{}>", type_text(model, inner)),
        TypeRef::Map(inner) => format!("Map<String, {}>", type_text(model, inner)),
        other => format!("{other:?}"),
    }
}
