//! Rules and immutable fields.

use crate::meta::{IntOrString, ObjectMeta, Quantity};

/// Rules and immutable fields.
#[kind(plural = "ruleds", scope = Namespaced)]
#[versions(v1)]
#[subresource(status)]
#[rule("self.metadata.name.size() < 60", message = "the name is too long")]
pub struct Ruled {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2, required)]
    pub spec: RuledSpec,

    /// Observed state.
    #[field(3)]
    pub status: RuledStatus,
}

/// Rules.
#[allow(L010, L014)]
#[rule("self.low <= self.high", field = low, message_expression = "'%d is above %d'.format([self.low, self.high])")]
#[rule("self.high >= oldSelf.high", field = high, reason = Forbidden, message = "may not shrink")]
#[rule(
    "oldSelf.hasValue() || self.low != 4",
    field = low,
    reason = Required,
    message = "may become 4 later",
    optional_old_self
)]
#[rule("!has(self.mode) || self.mode != 'odd' || self.low % 2 == 1", reason = Duplicate)]
#[rule("self.steps.all(step, step.weight <= self.high)", field = steps)]
#[rule("!has(self.share) || quantity(string(self.share)).isLessThan(quantity('2'))", field = share)]
#[rule("!has(self.port) || type(self.port) == string || self.port > 0", field = port)]
pub struct RuledSpec {
    /// At least so many.
    #[field(1, required, min = 0, max = 20)]
    pub low: i32,

    /// At most so many.
    #[field(2, required, min = 0, max = 20)]
    pub high: i32,

    /// How.
    #[field(3, max_length = 5)]
    pub mode: String,

    /// Steps by name.
    #[field(4, required, list = map(name), max_items = 6)]
    pub steps: Vec<RuledStep>,

    /// Fixed once it is there.
    #[field(5, immutable, max_length = 8)]
    pub owner: String,

    /// Fixed once it is there.
    #[field(6, required, immutable)]
    pub class: Option<i32>,

    /// Fixed once it is there.
    #[field(7, immutable, list = atomic, max_items = 4)]
    pub zones: Vec<String>,

    /// Fixed once it is there.
    #[field(8, immutable)]
    pub box_size: Option<RuledBox>,

    /// Part of something.
    #[field(9)]
    pub share: Option<Quantity>,

    /// A port.
    #[field(10)]
    pub port: Option<IntOrString>,

    /// Something that may come and go.
    #[field(11)]
    pub cover: Option<RuledBox>,

    /// Steps in order.
    #[field(12, list = atomic, max_items = 4)]
    pub plain: Vec<RuledPlain>,

    /// Covers by name.
    #[field(13, max_items = 4)]
    pub covers: Map<String, RuledBox>,
}

/// A step.
#[rule("self.weight >= oldSelf.weight", field = weight)]
#[rule("self.name != 'bad'", message = "a bad name")]
pub struct RuledStep {
    /// Name of the entry.
    #[field(1, required, max_length = 5)]
    pub name: String,

    /// How heavy it is.
    #[field(2, required, min = 0, max = 30)]
    pub weight: i32,

    /// Fixed once it is there.
    #[field(3, immutable, max_length = 5)]
    pub colour: String,
}

/// A step in order.
#[rule("self.from < self.to", field = from)]
pub struct RuledPlain {
    /// Where it begins.
    #[field(1, required)]
    pub from: i32,

    /// Where it ends.
    #[field(2, required)]
    pub to: i32,
}

/// A box.
#[rule("self.width * 2 >= self.height", field = height, message = "too high")]
pub struct RuledBox {
    /// Its width.
    #[field(1, required, min = 1, max = 9)]
    pub width: i32,

    /// Its height.
    #[field(2, required, min = 1, max = 9)]
    pub height: i32,

    /// Fixed once it is there.
    #[field(3, immutable, max_length = 3)]
    pub stamp: Option<String>,
}

/// Observed state.
#[allow(L003)]
#[rule("self.done >= oldSelf.done", field = done, message = "may not be undone")]
pub struct RuledStatus {
    /// How many are done.
    #[field(1, always, min = 0, max = 9)]
    pub done: i32,
}
