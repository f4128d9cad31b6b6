//! Upstream's declarative-validation tags, such as `k8s:ifEnabled(Gate)=+k8s:minimum=1`.
//!
//! Tags in `k8s:alpha(..)` are not enforced: upstream only compares their results with its
//! hand-written functions.

use crate::def::{Constraint, FieldDef, ListType, Literal, Shape, StructDef};
use crate::format::field::DeclaredFormat;

use super::rule::{GatedRule, TagRule, UpdateConstraint};

/// A parsed tag: `k8s:name(argument)=value`.
#[derive(Clone, Copy)]
struct Tag {
    name: &'static str,
    argument: &'static str,
    value: &'static str,
}

fn split(text: &'static str) -> Option<Tag> {
    let text = text.trim_start_matches('+').strip_prefix("k8s:")?;
    let end = text.find(['(', '=']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (argument, rest) = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?,
        None => ("", rest),
    };
    Some(Tag { name, argument: unquoted(argument), value: unquoted(rest.strip_prefix('=').unwrap_or(rest)) })
}

fn unquoted(text: &'static str) -> &'static str {
    text.strip_prefix(['"', '`']).and_then(|text| text.strip_suffix(['"', '`'])).unwrap_or(text)
}

/// The check of a tag; `None` if it has no check of its own.
pub(super) fn parse(field: &'static FieldDef, text: &'static str) -> Option<GatedRule> {
    let tag = split(text)?;
    let gate = |wanted: bool| {
        let mut inner = parse(field, tag.value)?;
        inner.gates.insert(0, (tag.argument, wanted));
        Some(GatedRule { tag: tag.name, ..inner })
    };
    let inner = || parse(field, tag.value).map(Box::new);
    let rule = match tag.name {
        "ifEnabled" => return gate(true),
        "ifDisabled" => return gate(false),
        "beta" => return parse(field, tag.value),
        "eachVal" => TagRule::EachVal(inner()?),
        "eachKey" => TagRule::EachKey(inner()?),
        "subfield" => TagRule::Subfield(tag.argument, inner()?),
        _ => simple(field, tag)?,
    };
    Some(GatedRule { tag: tag.name, gates: Vec::new(), rule })
}

fn simple(field: &'static FieldDef, tag: Tag) -> Option<TagRule> {
    let number = || tag.value.parse::<i64>().ok();
    let size = || tag.value.parse::<usize>().ok();
    Some(match tag.name {
        "required" => TagRule::Required,
        "optional" => optional(field)?,
        "forbidden" => TagRule::Forbidden,
        "immutable" => TagRule::Immutable,
        "update" => TagRule::Update(tag.value.split(',').filter_map(update).collect()),
        "minimum" => TagRule::Min(number()?),
        "maximum" => TagRule::Max(number()?),
        "minLength" => TagRule::MinLength(size()?),
        "maxLength" => TagRule::MaxLength(size()?),
        "maxBytes" => TagRule::MaxBytes(size()?),
        "minItems" => TagRule::MinItems(size()?),
        "maxItems" => TagRule::MaxItems(size()?),
        "maxProperties" => TagRule::MaxProperties(size()?),
        "format" => TagRule::Format(DeclaredFormat::from_name(tag.value)?),
        "enum" => TagRule::Enum(field.info),
        "listType" | "unique" => match tag.value {
            "map" => TagRule::Unique(keys(field)),
            "set" => TagRule::Unique(Vec::new()),
            _ => return None,
        },
        _ => return None,
    })
}

/// With a default, an optional field is never unset, unless the default is zero and a zero may mean
/// unset.
fn optional(field: &FieldDef) -> Option<TagRule> {
    let nilable = !matches!(field.shape(), Shape::One(_) | Shape::Struct(_));
    match field.info.default {
        None => Some(TagRule::Optional),
        Some(Literal::Int(0) | Literal::Bool(false) | Literal::String("")) if !nilable => None,
        Some(_) => Some(TagRule::Required),
    }
}

fn update(text: &str) -> Option<UpdateConstraint> {
    match text.trim() {
        "NoSet" => Some(UpdateConstraint::Set),
        "NoUnset" => Some(UpdateConstraint::Unset),
        "NoModify" => Some(UpdateConstraint::Modify),
        _ => None,
    }
}

/// The keys of a list: those of its tags, otherwise those of its type.
fn keys(field: &'static FieldDef) -> Vec<&'static str> {
    let tagged: Vec<&str> = tags(field).filter(|tag| tag.name == "listMapKey").map(|tag| tag.value).collect();
    if tagged.is_empty() { list_keys(field) } else { tagged }
}

fn tags(field: &'static FieldDef) -> impl Iterator<Item = Tag> {
    field.info.constraints.iter().filter_map(|constraint| match constraint {
        Constraint::Tag(text) => split(text),
        _ => None,
    })
}

/// Whether a field has a tag with this name.
pub(super) fn has(field: &'static FieldDef, name: &str) -> bool {
    tags(field).any(|tag| tag.name == name)
}

/// The unknown tags of a struct's fields, which have no effect: a test over all descriptors reports
/// them.
pub fn unknown_tags(def: &'static StructDef) -> impl Iterator<Item = &'static str> {
    const SILENT: [&str; 5] = ["alpha", "listMapKey", "unionMember", "zeroOrOneOfMember", "listType"];
    def.fields.iter().flat_map(|field| {
        field.info.constraints.iter().filter_map(move |constraint| match constraint {
            Constraint::Tag(text) if parse(field, text).is_some() => None,
            Constraint::Tag(text) if split(text).is_some_and(|tag| SILENT.contains(&tag.name)) => None,
            Constraint::Tag(text) => Some(*text),
            _ => None,
        })
    })
}

/// The keys of a list of type map; empty for other lists, whose items are compared as a whole.
pub(super) fn list_keys(field: &FieldDef) -> Vec<&'static str> {
    match field.info.list {
        ListType::Map(keys) => keys.to_vec(),
        _ => Vec::new(),
    }
}
