//! Two versions.

use crate::meta::ObjectMeta;

/// Two versions.
#[kind(plural = "moveds", scope = Namespaced)]
#[versions(v1, v1beta1)]
#[subresource(status)]
pub struct Moved {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2, required)]
    pub spec: MovedSpec,

    /// Observed state.
    #[field(3)]
    pub status: MovedStatus,
}

/// Desired state.
pub struct MovedSpec {
    /// Units.
    #[field(1, default = 1, min = 0, max = 9)]
    pub stock: Option<i32>,

    /// Name of the supplier.
    #[field(2, required, immutable, max_length = 5)]
    pub supplier: String,

    /// How it looks.
    #[field(3)]
    pub paint: MovedPaint,

    /// A level.
    #[field(4)]
    pub level: Level,

    /// Texts.
    #[field(5, list = set, max_items = 3)]
    pub names: Vec<String>,
}

/// How it looks.
pub struct MovedPaint {
    /// Its colour.
    #[field(1, min_length = 2)]
    pub colour: String,

    /// Its coats.
    #[field(2, min = 1, max = 4)]
    pub coats: Option<i32>,
}

/// Observed state.
pub struct MovedStatus {
    /// Units on the shelf.
    #[field(1, min = 0)]
    pub available: Option<i32>,
}

mod v1beta1 {
    #[differs(MovedSpec)]
    struct MovedSpec {
        /// Units.
        #[field(1, default = 1, min = 0, max = 9, renamed = stock)]
        replicas: Option<i32>,

        /// Texts.
        #[field(5, list = set, max_items = 3, renamed = names)]
        tags: Vec<String>,
    }

    #[differs(MovedPaint)]
    struct MovedPaint {
        /// Its colour.
        #[field(1, min_length = 2, renamed = colour)]
        hue: String,
    }
}
