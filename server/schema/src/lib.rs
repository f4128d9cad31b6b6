//! Structural schemas of custom resources.
//!
//! An `openAPIV3Schema` is compiled once into a compact tree, which prunes, defaults and validates
//! documents.
//!
//! | module | part |
//! |---|---|
//! | `compile` | compiles `JSONSchemaProps` into [`Schema`] |
//! | `prune`, `default` | fields that decoding drops and adds |
//! | `complete` | whether decoding would drop or add any field |
//! | `embedded` | embedded objects: their kind, version and metadata |
//! | `validate`, `format` | validation, with the messages of upstream's validator (`kube-openapi/pkg/validation`) |
//! | `lists` | unique items of sets and maps |
//! | `old` | correlates an updated object with the old one (ratcheting, KEP-4008) |
//!
//! The crate does not depend on HTTP or on a store.

mod compile;
mod complete;
mod default;
mod embedded;
mod format;
mod lists;
mod numbers;
mod old;
mod pattern;
mod prune;
mod result;
mod validate;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use complete::is_complete;
pub use default::{apply_defaults, drop_nulls, drop_untyped_nulls};
pub use embedded::{check_embedded, coerce_embedded};
pub use format::is_of_type as is_format_of_type;
pub use lists::check_lists;
pub use old::Pair;
pub use pattern::{Pattern, syntax_error as pattern_error};
pub use prune::prune;
pub use result::shown;
pub use validate::{blocked, check, check_update, is_certainly_valid};

/// A compiled schema. Descriptions and examples are not kept.
#[derive(Debug, Default)]
pub struct Schema {
    pub kind: Option<JsonType>,
    pub flags: KeywordFlags,
    /// Sorted by name.
    pub properties: Box<[(Box<str>, Schema)]>,
    pub additional: Additional,
    pub items: Option<Box<Schema>>,
    pub default: Option<Box<Value>>,
    pub list: ListType,
    /// Names of `x-kubernetes-list-map-keys`.
    pub list_keys: Box<[Box<str>]>,
    pub checks: Option<Box<Checks>>,
    pub below: Below,
}

/// What occurs anywhere in a schema below its root: traversals skip schemas without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Defaults, other than the schema's own.
    pub defaults: bool,
    /// Embedded objects.
    pub embedded: bool,
    /// Lists of type set or map.
    pub lists: bool,
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl JsonType {
    /// The name of the type in schemas.
    pub fn name(self) -> &'static str {
        match self {
            JsonType::Object => "object",
            JsonType::Array => "array",
            JsonType::String => "string",
            JsonType::Integer => "integer",
            JsonType::Number => "number",
            JsonType::Boolean => "boolean",
        }
    }

    /// The type with a name.
    pub fn parse(name: &str) -> Option<Self> {
        use JsonType::{Array, Boolean, Integer, Number, Object, String};
        [Object, Array, String, Integer, Number, Boolean].into_iter().find(|kind| kind.name() == name)
    }
}

/// The boolean keywords of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeywordFlags {
    pub nullable: bool,
    pub int_or_string: bool,
    pub embedded_resource: bool,
    pub preserve_unknown_fields: bool,
    pub map_is_atomic: bool,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub unique_items: bool,
}

/// `additionalProperties`: members that are not declared as properties.
#[derive(Debug, Default)]
pub enum Additional {
    /// Not specified.
    #[default]
    Unset,
    Allowed,
    Refused,
    /// Allowed if they match this schema.
    Schema(Box<Schema>),
}

/// `x-kubernetes-list-type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    #[default]
    Atomic,
    Set,
    Map,
}

/// Constraints of values. Most schemas have none.
#[derive(Debug, Default)]
pub struct Checks {
    pub format: Box<str>,
    pub pattern: Option<Pattern>,
    pub maximum: Option<f64>,
    pub minimum: Option<f64>,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub choices: Box<[Value]>,
    pub required: Box<[Box<str>]>,
    pub all_of: Box<[Schema]>,
    pub any_of: Box<[Schema]>,
    pub one_of: Box<[Schema]>,
    pub not: Option<Box<Schema>>,
}

impl Checks {
    fn constrain_only_required(&self) -> bool {
        let Self {
            format,
            pattern,
            maximum,
            minimum,
            multiple_of,
            max_length,
            min_length,
            max_items,
            min_items,
            max_properties,
            min_properties,
            choices,
            required: _,
            all_of,
            any_of,
            one_of,
            not,
        } = self;
        let lengths = [max_length, min_length, max_items, min_items, max_properties, min_properties];
        format.is_empty()
            && pattern.is_none()
            && [maximum, minimum, multiple_of].iter().all(|bound| bound.is_none())
            && lengths.iter().all(|bound| bound.is_none())
            && choices.is_empty()
            && [all_of, any_of, one_of].iter().all(|schemas| schemas.is_empty())
            && not.is_none()
    }
}

impl Schema {
    /// Marks the schema as that of whole objects, which always have `apiVersion`, `kind` and
    /// `metadata`.
    pub fn as_resource(mut self) -> Self {
        self.flags.embedded_resource = true;
        self.below.embedded = true;
        self
    }

    /// The schema of a property.
    pub fn property(&self, name: &str) -> Option<&Schema> {
        let at = self.properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(&self.properties[at].1)
    }

    /// The schema of a member: that of a property, or that of additional properties.
    pub fn member(&self, name: &str) -> Option<&Schema> {
        self.property(name).or(match &self.additional {
            Additional::Schema(schema) => Some(schema),
            _ => None,
        })
    }

    /// The schemas of the members and the items.
    fn parts(&self) -> impl Iterator<Item = &Schema> {
        let additional = match &self.additional {
            Additional::Schema(schema) => Some(&**schema),
            _ => None,
        };
        self.properties.iter().map(|(_, property)| property).chain(additional).chain(self.items.as_deref())
    }

    fn is_of(&self, kind: JsonType) -> bool {
        match self.flags.int_or_string {
            true => matches!(kind, JsonType::Integer | JsonType::String),
            false => self.kind == Some(kind),
        }
    }

    fn kind_text(&self) -> &'static str {
        match self.flags.int_or_string {
            true => "integer,string",
            false => self.kind.map_or("", JsonType::name),
        }
    }

    fn has_kind(&self) -> bool {
        self.flags.int_or_string || self.kind.is_some()
    }
}
