//! The error of this crate. The texts are upstream's, which clients see.

use std::fmt;

use machinery::scalar::go_text::quote;
use serde_json::{Map, Value};

use crate::go_print;

/// Why a patch, a configuration or a set of fields is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An operation of a JSON patch that does not apply; the text is that of evanphx/json-patch.
    #[error("{0}")]
    Inapplicable(String),
    /// A position in a list that is not a number.
    #[error("strconv.Atoi: parsing {}: invalid syntax", quote(.0))]
    NotAnIndex(String),
    /// A position outside of a list.
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    IndexOutOfRange(i64),
    /// The operations of a JSON patch exceed the limit of work.
    #[error("The operations of the JSON patch move too many values")]
    TooMuchWork,

    /// A malformed directive of a strategic merge patch; upstream reports it as the client's error.
    #[error("invalid patch format of {0}")]
    Directive(&'static str),
    /// The value of a `$patch` that is unknown.
    #[error("unknown patch type: {directive} in map: {object}")]
    UnknownDirective { directive: String, object: String },
    /// `$patch: merge` in an item of a list.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// A list of lists in a strategic merge patch.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Lists without an item, whose type is unknown therefore.
    #[error("no elements in any of the given slices")]
    NoItems,
    /// Items of different types.
    #[error("list element types are not identical: [{}]", .0.join(" "))]
    MixedItems(Vec<String>),
    /// A list of objects whose field has no merge key.
    #[error("cannot merge lists without merge key for {0}")]
    UndeclaredMergeKey(&'static str),
    /// An item without its merge key.
    #[error("map: {item} does not contain declared merge key: {key}")]
    NoMergeKey { item: String, key: String },
    /// A value of another type than a strategic merge patch needs at its place.
    #[error("expected a {wanted}, but received a {found}")]
    ValueType { wanted: &'static str, found: &'static str },
    /// An item of a list of objects that is not an object, with its position.
    #[error("value for key {0} is not a map")]
    ItemNotAnObject(usize),
    /// Items in another order than that of `$setElementOrder`.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{wanted}\n")]
    Order { patch: String, wanted: String },
    /// A list in the patch of a field that is not one.
    #[error("expected slice or array type, but got: {0}")]
    FieldNotAList(&'static str),
    /// A field that the struct lacks.
    #[error("unable to find api field in struct {of} for the json field {}", quote(.field))]
    UnknownField { of: &'static str, field: String },
    /// An object in the patch of a field that is none.
    #[error("merging an object in json but data type is not struct, instead is: {0}")]
    FieldNotAStruct(&'static str),

    /// A path element of a `fieldsV1` without a kind.
    #[error("key must be 2 characters long:")]
    ShortElement,
    /// A path element of a `fieldsV1` without a colon.
    #[error("missing colon: {0}")]
    MissingColon(String),
    /// A path element of a `fieldsV1` with a malformed value.
    #[error("invalid path element: {0}")]
    BadElement(String),
    /// A `fieldsV1` that is not an object.
    #[error("expected an object")]
    FieldsNotAnObject,

    /// Managed fields with an unknown operation (`DecodeManagedFields`).
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// Managed fields without a version.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// Managed fields without a `fieldsType`, with the position of the entry.
    #[error("missing fieldsType in managed fields entry {0}")]
    MissingFieldsType(usize),
    /// Managed fields with an unknown `fieldsType`, with the position of the entry.
    #[error("invalid fieldsType {0:?} in managed fields entry {1}")]
    FieldsType(String, usize),
    /// Managed fields with a malformed `fieldsV1`.
    #[error("error decoding set: {0}")]
    Set(#[source] Box<Error>),

    /// The values of a document that do not have their types.
    #[error("{}", type_errors(.0))]
    Types(Vec<TypeError>),
    /// Items of an atomic list have no path elements (`listItemToPathElement`).
    #[error("invalid indexing of non-associative list")]
    AtomicList,
    /// An object in a set.
    #[error("associative list without keys has an element that's a map type")]
    ObjectInSet,
    /// A list in a set.
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    /// Null in a set.
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
    /// Null in a list with keys.
    #[error("associative list with keys may not have a null element")]
    NullInKeyedList,
    /// A scalar or a list in a list with keys.
    #[error("associative list with keys may not have non-map elements")]
    NotAnObjectInKeyedList,
    /// A list with keys whose schema declares items that are no objects.
    #[error("associative list may not have non-map types")]
    KeyedListOfOthers,
    /// An item that has none of these keys, which have no defaults.
    #[error(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
        quoted(.0)
    )]
    NoKeys(Vec<String>),
}

/// A type error at a path.
#[derive(Debug, PartialEq, Eq)]
pub struct TypeError {
    /// The path elements as text, last one first.
    pub(crate) steps: Vec<String>,
    pub(crate) message: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return f.write_str(&self.message);
        }
        let path: String = self.steps.iter().rev().map(String::as_str).collect();
        write!(f, "{path}: {}", self.message)
    }
}

impl Error {
    pub(crate) fn no_merge_key(item: &Map<String, Value>, key: &str) -> Self {
        Error::NoMergeKey { item: go_print::plain(&Value::Object(item.clone())), key: key.to_owned() }
    }

    pub(crate) fn value_type(wanted: &'static str, found: &Value) -> Self {
        Error::ValueType { wanted, found: go_print::type_name(found) }
    }

    pub(crate) fn unknown_directive(directive: &Value, object: &Map<String, Value>) -> Self {
        let directive = match directive {
            Value::String(text) => text.clone(),
            // Go's %s of a value that is not a string.
            other => format!("%!s({}={})", go_print::type_name(other), go_print::plain(other)),
        };
        Error::UnknownDirective { directive, object: go_print::plain(&Value::Object(object.clone())) }
    }
}

fn type_errors(errors: &[TypeError]) -> String {
    match errors {
        [one] => one.to_string(),
        // There may be an error for each item of a large list: each is copied once.
        all => "errors:".to_owned() + &all.iter().map(|error| format!("\n  {error}")).collect::<String>(),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| quote(name)).collect::<Vec<String>>().join(" ")
}
