//! Structural schemas of custom resources: what an `openAPIV3Schema` says, compiled once into a compact tree, and what it does to documents.
//!
//! | module | part |
//! |---|---|
//! | `compile` | from the declared form of a schema to [`Schema`] |
//! | `prune`, `default` | what reading an object drops and adds |
//! | `complete` | whether it would drop or add anything |
//! | `embedded` | objects within objects: their kind, version and metadata |
//! | `validate`, `format` | the checks of values, in the words of upstream's validator (`kube-openapi/pkg/validation`) |
//! | `lists` | unique items of sets and maps |
//! | `old` | which part of a stored object a part of its successor is to be compared with (ratcheting, KEP-4008) |
//!
//! It knows no HTTP and no store.

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
pub use pattern::{Pattern, fault as pattern_fault};
pub use prune::prune;
pub use result::shown;
pub use validate::{blocked, check, check_update, is_certainly_valid};

/// What a value has to be. Descriptions and examples are not kept.
#[derive(Debug, Default)]
pub struct Schema {
    pub kind: Option<Kind>,
    pub flags: Flags,
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

/// What a schema and those in it have anywhere: walks leave out what has nothing for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Defaults, other than its own.
    pub defaults: bool,
    /// Objects within objects.
    pub embedded: bool,
    /// Sets and maps that are lists.
    pub lists: bool,
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Kind {
    /// As schemas write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
        }
    }

    /// The type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        use Kind::{Array, Boolean, Integer, Number, Object, String};
        [Object, Array, String, Integer, Number, Boolean].into_iter().find(|kind| kind.name() == name)
    }
}

/// What a schema says with yes or no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub nullable: bool,
    pub int_or_string: bool,
    pub embedded_resource: bool,
    pub preserve_unknown_fields: bool,
    pub map_is_atomic: bool,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub unique_items: bool,
}

/// Members that are no properties.
#[derive(Debug, Default)]
pub enum Additional {
    /// Nothing is said.
    #[default]
    Unset,
    Allowed,
    Refused,
    /// They have to be this.
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

/// Constraints of values, which most schemas have none of.
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
    fn say_only_what_is_required(&self) -> bool {
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
    /// The schema of whole objects, which have a kind and metadata whatever it says of that.
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

    /// The schema of a member: a property, or what additional members have to be.
    pub fn member(&self, name: &str) -> Option<&Schema> {
        self.property(name).or(match &self.additional {
            Additional::Schema(schema) => Some(schema),
            _ => None,
        })
    }

    /// The schemas of its members and items.
    fn parts(&self) -> impl Iterator<Item = &Schema> {
        let additional = match &self.additional {
            Additional::Schema(schema) => Some(&**schema),
            _ => None,
        };
        self.properties.iter().map(|(_, property)| property).chain(additional).chain(self.items.as_deref())
    }

    fn is_of(&self, kind: Kind) -> bool {
        match self.flags.int_or_string {
            true => matches!(kind, Kind::Integer | Kind::String),
            false => self.kind == Some(kind),
        }
    }

    fn kind_text(&self) -> &'static str {
        match self.flags.int_or_string {
            true => "integer,string",
            false => self.kind.map_or("", Kind::name),
        }
    }

    fn has_kind(&self) -> bool {
        self.flags.int_or_string || self.kind.is_some()
    }
}
