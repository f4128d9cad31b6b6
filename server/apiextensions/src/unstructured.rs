//! Custom objects: kind, version and metadata are declared; the rest is an untyped document.

use apimachinery::meta::v1::ObjectMeta;
use machinery::def::{Flags, JsonForm};
use machinery::describe;
use machinery::scalar::Document;
use machinery::type_meta::TypeMeta;

/// An object of any custom kind, in any of its versions.
#[derive(Clone, Default)]
pub struct Unstructured {
    /// Kind and version as in the request.
    pub type_meta: TypeMeta,
    pub metadata: ObjectMeta,
    /// All other fields.
    pub content: Document,
}

describe! { Unstructured, UNSTRUCTURED "Unstructured" { .json_form(JsonForm::Open) } [
    type_meta: "",         0, Flags::INLINE;
    metadata:  "metadata", 0, Flags::OMIT_EMPTY;
    content:   "",         0, Flags::OMIT_EMPTY;
] }
