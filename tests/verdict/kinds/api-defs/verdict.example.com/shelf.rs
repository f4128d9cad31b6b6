//! Lists and maps.

use crate::meta::{ObjectMeta, Quantity};

/// Lists and maps.
#[kind(plural = "shelves", singular = "shelf", scope = Namespaced)]
#[versions(v1)]
pub struct Shelf {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2, required)]
    pub spec: ShelfSpec,
}

/// Lists and maps.
#[allow(L010)]
pub struct ShelfSpec {
    /// A set of texts.
    #[field(1, list = set, min_items = 2, max_items = 3)]
    pub names: Vec<String>,

    /// A set of numbers.
    #[field(2, list = set)]
    pub numbers: Vec<i64>,

    /// A list of texts.
    #[field(3, list = atomic, max_items = 4)]
    pub words: Vec<String>,

    /// Parts by name and side.
    #[field(5, list = map(name, side), max_items = 5)]
    pub parts: Vec<ShelfPart>,

    /// Parts in order.
    #[field(6, list = atomic)]
    pub steps: Vec<ShelfStep>,

    /// Texts by name.
    #[field(7, max_items = 3)]
    pub labels: Map<String, String>,

    /// Parts by name.
    #[field(8, min_items = 2)]
    pub corners: Map<String, ShelfStep>,

    /// Levels.
    #[field(9, list = set)]
    pub levels: Vec<Level>,

    /// A list that has to be there.
    #[field(10, required, list = atomic)]
    pub owners: Vec<String>,

    /// A map that has to be there.
    #[field(11, required)]
    pub rooms: Map<String, i32>,

    /// Amounts by name.
    #[field(12)]
    pub amounts: Map<String, Quantity>,

    /// Parts that have to be there.
    #[field(13, required, list = map(name))]
    pub feet: Vec<ShelfFoot>,

    /// One value.
    #[field(14, map = atomic)]
    pub tags: Map<String, String>,
}

/// A part, by name and side.
pub struct ShelfPart {
    /// Name of the entry.
    #[field(1, required, min_length = 1, max_length = 4)]
    pub name: String,

    /// Where it is.
    #[field(2, default = "left")]
    pub side: String,

    /// Its size.
    #[field(3, min = 1, max = 5)]
    pub size: Option<i32>,

    /// Parts of it.
    #[field(4, list = map(name))]
    pub inner: Vec<ShelfFoot>,
}

/// A step.
pub struct ShelfStep {
    /// Its height.
    #[field(1, required, min = 0, max = 5)]
    pub height: i32,

    /// Purpose of the entry.
    #[field(2)]
    pub level: Level,
}

/// A foot.
#[structure(atomic)]
pub struct ShelfFoot {
    /// Name of the entry.
    #[field(1, required)]
    pub name: String,

    /// Its height.
    #[field(2, min = 1)]
    pub height: Option<i64>,
}
