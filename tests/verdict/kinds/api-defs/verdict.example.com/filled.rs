//! Defaults.

use crate::meta::{IntOrString, ObjectMeta};

/// Defaults.
#[kind(plural = "filleds", scope = Namespaced)]
#[versions(v1)]
#[default(spec.policy.mode = "fast")]
pub struct Filled {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2)]
    pub spec: FilledSpec,
}

/// Defaults.
#[allow(L010)]
pub struct FilledSpec {
    /// A number.
    #[field(1, default = 3, min = 0, max = 9)]
    pub replicas: Option<i32>,

    /// A text.
    #[field(2, default = "round", max_length = 6)]
    pub form: String,

    /// A truth.
    #[field(3, default = true)]
    pub open: Option<bool>,

    /// A level.
    #[field(4, default = High)]
    pub level: Level,

    /// Texts.
    #[field(5, list = set, default = ["a", "b"])]
    pub names: Vec<String>,

    /// A part that is there by default.
    #[field(6, default = { size: 2 })]
    pub part: Option<FilledPart>,

    /// A part that fills itself.
    #[field(7)]
    pub inner: FilledInner,

    /// A part that fills itself once it is there.
    #[field(8)]
    pub maybe: Option<FilledInner>,

    /// Parts.
    #[field(9, list = map(name))]
    pub parts: Vec<FilledItem>,

    /// Parts by name.
    #[field(10)]
    pub shelves: Map<String, FilledInner>,

    /// Texts by name.
    #[field(11, default = { tier: "one" })]
    pub labels: Map<String, String>,

    /// A number or a name.
    #[field(12, default_hidden = "25%")]
    pub surge: Option<IntOrString>,

    /// How things are done.
    #[field(13)]
    pub policy: Option<FilledPolicy>,
}

/// A part.
pub struct FilledPart {
    /// Its size.
    #[field(1, default = 4, min = 1)]
    pub size: Option<i64>,

    /// Name of the entry.
    #[field(2, default = "part")]
    pub name: String,
}

/// A part that fills itself.
pub struct FilledInner {
    /// Seconds.
    #[field(1, default = 30)]
    pub seconds: Option<i32>,

    /// Something without a default.
    #[field(2, max_length = 3)]
    pub text: String,
}

/// A part by name.
pub struct FilledItem {
    /// Name of the entry.
    #[field(1, required)]
    pub name: String,

    /// How it is spoken to.
    #[field(2, default = "TCP", pattern = "^[A-Z]+$")]
    pub protocol: String,

    /// More.
    #[field(3)]
    pub inner: FilledInner,
}

/// How things are done.
pub struct FilledPolicy {
    /// How.
    #[field(1)]
    pub mode: String,

    /// How often.
    #[field(2, min = 1)]
    pub times: Option<i32>,
}
