//! Scalars with bounds.

use crate::meta::{Duration, IntOrString, ObjectMeta, Quantity, RawExtension, Time};

/// Scalars with bounds.
#[kind(plural = "bounds", scope = Namespaced)]
#[versions(v1)]
#[subresource(status)]
pub struct Bound {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2, required)]
    pub spec: BoundSpec,

    /// Observed state.
    #[field(3)]
    pub status: BoundStatus,
}

/// Scalars with bounds.
#[allow(L006, L011, L014)]
pub struct BoundSpec {
    /// A number that has to be there.
    #[field(1, required, min = 1, max = 10)]
    pub count: i32,

    /// A number that may be zero.
    #[field(2, min = -5, max = 5)]
    pub offset: Option<i32>,

    /// A number that is nothing when it is zero.
    #[field(3, min = 3, max = 4294967296)]
    pub total: i64,

    /// A text that has to be there.
    #[field(4, required, min_length = 2, max_length = 5)]
    pub title: String,

    /// A text of a pattern.
    #[field(5, pattern = "^[a-z]+(-[a-z]+)*$", max_length = 8)]
    pub code: String,

    /// A label of DNS.
    #[field(6, format = dns1123_label)]
    pub label: Option<String>,

    /// A name of DNS.
    #[field(7, format = dns1123_subdomain)]
    pub host: String,

    /// An identifier.
    #[field(8, format = uuid)]
    pub identity: String,

    /// One of three, or none.
    #[field(9)]
    pub level: Level,

    /// One of three.
    #[field(10, required)]
    pub grade: Level,

    /// Well known, or another.
    #[field(11, required)]
    pub shade: Shade,

    /// A fraction.
    #[field(12, min = 0, max = 2)]
    pub ratio: Option<f64>,

    /// Whether it is on.
    #[field(13, required)]
    pub active: bool,

    /// Whether it is hidden.
    #[field(14)]
    pub hidden: Option<bool>,

    /// Bytes.
    #[field(15)]
    pub data: Bytes,

    /// A point in time.
    #[field(16)]
    pub at: Option<Time>,

    /// A quantity that has to be there.
    #[field(17, required)]
    pub limit: Quantity,

    /// A quantity.
    #[field(18)]
    pub request: Option<Quantity>,

    /// A number or a name.
    #[field(19)]
    pub port: Option<IntOrString>,

    /// A span of time.
    #[field(20)]
    pub pause: Option<Duration>,

    /// Any object.
    #[field(21)]
    pub raw: Option<RawExtension>,

    /// A text that has to be there, and may be empty.
    #[field(22, required, max_length = 3)]
    pub note: Option<String>,

    /// Parts that have to be there.
    #[field(23, required)]
    pub part: BoundPart,

    /// Parts that are required and may be empty.
    #[field(24, required)]
    pub extra: Option<BoundExtra>,

    /// Parts that have to be there, of which none has to.
    #[field(25, required)]
    pub loose: BoundExtra,
}

/// A part.
pub struct BoundPart {
    /// A name.
    #[field(1, required)]
    pub name: String,

    /// Its weight.
    #[field(2, min = 0, max = 100)]
    pub weight: Option<i32>,
}

/// More.
pub struct BoundExtra {
    /// A remark.
    #[field(1, max_length = 4)]
    pub remark: String,
}

/// A level.
pub enum Level {
    Low,
    #[value("InBetween")]
    Middle,
    High,
}

/// A shade.
#[open]
pub enum Shade {
    Light,
    Dark,
}

/// Observed state.
#[allow(L009)]
pub struct BoundStatus {
    /// How many there are.
    #[field(1, min = 0, max = 3)]
    pub observed: Option<i32>,

    /// Current phase.
    #[field(2)]
    pub phase: Level,
}
