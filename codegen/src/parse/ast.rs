//! Definitions as written: no lookups, no merging. `lower` converts them to the model.

use super::words::{Argument, Path, ValueExpr};
use crate::model;
use crate::model::{Generation, Span};

/// One folder of `api-defs/`.
#[derive(Debug, Default)]
pub struct Group {
    /// Contents of `group.rs`; kinds and the versions' types are still empty.
    pub head: model::Group,
    /// Codes of `#![allow(..)]`.
    pub allows: Vec<Marked>,
    /// `#![breaks(..)]`.
    pub breaks: Vec<Break>,
    pub decls: Vec<Decl>,
    pub uses: Vec<Use>,
}

/// A word and its place; compares equal to the same word at any place.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    pub text: String,
    pub span: Span,
}

impl PartialEq for Marked {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// `use crate::core::v1::PodSpec as Spec;`
#[derive(Debug)]
pub struct Use {
    /// Index of the file in its folder.
    pub file: usize,
    /// Version of the enclosing `mod`.
    pub home: Option<String>,
    pub path: Vec<String>,
    pub alias: String,
    pub span: Span,
}

/// A struct, an enum, or a struct without fields that carries an attribute (`#[gone] struct X;`).
#[derive(Debug)]
pub struct Decl {
    pub name: String,
    pub span: Span,
    pub docs: String,
    pub file: usize,
    /// The enclosing version `mod`; `None` at the top level, which is the hub.
    pub home: Option<Marked>,
    pub attrs: Attrs,
    pub body: DeclBody,
}

#[derive(Debug)]
pub enum DeclBody {
    Unit,
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

#[derive(Debug)]
pub struct Variant {
    pub name: String,
    pub value: String,
    pub docs: String,
    /// Feature gate of the value.
    pub gate: Option<Marked>,
    pub span: Span,
    pub marks: Marks,
}

/// A field as written; `model` has every word that needs no lookup.
#[derive(Debug, Default)]
pub struct Field {
    pub model: model::Field,
    pub ty: TypeExpr,
    pub number: Option<Span>,
    pub json_only: bool,
    /// Whether an error in the field was reported, which suppresses errors about missing words.
    pub broken: bool,
    pub default: Option<ValueExpr>,
    pub renamed: Option<Marked>,
    pub gone: bool,
    pub marks: Marks,
    /// Place of each word of `#[field(..)]`.
    pub words: Vec<(String, Span)>,
}

/// `#[allow(..)]` and `#[breaks(..)]`, which every item can have.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    pub allows: Vec<Marked>,
    pub breaks: Vec<Break>,
}

/// `#[breaks(C003, since = "1.37", reason = "..")]`: an intended break. `field = PATH` or `value =
/// ".."` identifies a removed item, which has no declaration to carry the attribute.
#[derive(Clone, Debug, Default)]
pub struct Break {
    pub code: String,
    pub what: Option<String>,
    /// Release of the break.
    pub since: String,
    pub reason: String,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct TypeExpr {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub enum TypeKind {
    /// `()`: the type of a `#[gone]` field, and of a field with a rejected type.
    #[default]
    Unit,
    Named(Vec<String>),
    Option(Box<TypeExpr>),
    Vec(Box<TypeExpr>),
    Map(Box<TypeExpr>),
}

/// Attributes of a struct or an enum. Those that a `#[differs]` struct replaces as a whole are `None`
/// if absent.
#[derive(Debug, Default)]
pub struct Attrs {
    pub differs: Option<Marked>,
    pub gone: Option<Span>,
    pub converts: Vec<Convert>,
    pub kind: Option<Kind>,
    pub versions: Option<Vec<KindVersion>>,
    pub subresources: Vec<Subresource>,
    pub columns: Vec<model::Column>,
    pub selectable: Vec<model::Selectable>,
    pub atomic: Option<bool>,
    pub proto: Option<Marked>,
    pub json: Option<Marked>,
    pub defaults: Option<Defaults>,
    pub normalize: Option<Option<Marked>>,
    pub validate: Option<Marked>,
    pub conditions: Vec<model::NamedCondition>,
    pub checks: Vec<model::Check>,
    pub strategy: Vec<model::StrategyHook>,
    pub rules: Option<Vec<model::Rule>>,
    pub unions: Option<Vec<Union>>,
    pub deprecated: bool,
    pub direct: bool,
    pub open: bool,
    pub marks: Marks,
}

/// All `#[default(..)]` of one struct.
#[derive(Debug, Default, PartialEq)]
pub struct Defaults {
    pub constants: Vec<(Path, ValueExpr)>,
    pub by_hand: Option<Marked>,
}

/// `#[convert(ProductSpec, by_hand = colour, here(colour), hub(parts))]`.
#[derive(Debug)]
pub struct Convert {
    pub of: Marked,
    pub by_hand: Option<Marked>,
    pub here: Vec<Marked>,
    pub hub: Vec<Marked>,
}

/// `#[kind(..)]` with the words of the resource; values derived from the name are still empty.
#[derive(Debug, Default)]
pub struct Kind {
    pub resource: model::Resource,
    pub span: Span,
    pub plural: Option<String>,
    pub singular: Option<String>,
    pub scope: Option<String>,
    pub prefix: Option<String>,
    pub is_virtual: bool,
    pub storage: Option<Marked>,
    pub stored_as: Option<Path>,
    pub list: Option<bool>,
    /// `kind` and `apiVersion` are omitted from JSON.
    pub bare: bool,
    pub generation: Option<Generation>,
    pub gate: Option<String>,
    /// Place of each word.
    pub words: Vec<(String, Span)>,
}

/// One entry of `#[versions(..)]`.
#[derive(Debug)]
pub struct KindVersion {
    pub model: model::KindVersion,
    pub span: Span,
}

#[derive(Debug)]
pub struct Subresource {
    pub model: model::Subresource,
    pub kind: Option<Path>,
    pub paths: Vec<(String, Marked)>,
}

#[derive(Debug)]
pub struct Union {
    pub discriminator: Option<Marked>,
    /// Value and member: the value is an enum variant or a string, and absent without a discriminator.
    pub members: Vec<(Option<Argument>, Marked)>,
    /// Discriminator values that forbid every member.
    pub without: Vec<Marked>,
    pub zero_allowed: bool,
    pub span: Span,
}

impl PartialEq for Union {
    fn eq(&self, other: &Self) -> bool {
        (&self.discriminator, &self.members, &self.without, self.zero_allowed)
            == (&other.discriminator, &other.members, &other.without, other.zero_allowed)
    }
}
