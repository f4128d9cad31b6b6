//! A custom object: kind, version and metadata are declared, the rest is what its schema says.

use apimachinery::meta::v1::ObjectMeta;
use machinery::def::{Flags, JsonForm};
use machinery::describe;
use machinery::scalar::Document;
use machinery::type_meta::TypeMeta;

/// An object of any custom kind, in any of its versions.
#[derive(Clone, Default)]
pub struct Unstructured {
    /// Its kind and version, as it was sent.
    pub type_meta: TypeMeta,
    pub metadata: ObjectMeta,
    /// All other members.
    pub content: Document,
}

describe! { Unstructured, UNSTRUCTURED "Unstructured" { .json_form(JsonForm::Open) } [
    type_meta: "",         0, Flags::INLINE;
    metadata:  "metadata", 0, Flags::OMIT_EMPTY;
    content:   "",         0, Flags::OMIT_EMPTY;
] }
