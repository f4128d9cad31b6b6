//! `metav1.TypeMeta`: kind and version of an object in JSON.

use crate::def::Flags;
use crate::describe;

/// Kind and version of an object. In protobuf they are in the envelope.
#[derive(Clone, Default)]
pub struct TypeMeta {
    /// Such as `Pod`.
    pub kind: String,
    /// Such as `apps/v1`.
    pub api_version: String,
}

describe! { TypeMeta, TYPE_META "TypeMeta" {} [
    kind:        "kind",       0, Flags::OMIT_EMPTY;
    api_version: "apiVersion", 0, Flags::OMIT_EMPTY;
] }
