//! Typed documents: the operations of server-side apply (structured-merge-diff's `typed`).

mod atomics;
mod compare;
mod items;
mod keys;
mod merge;
mod names;
mod remove;
mod same;
mod to_field_set;
mod validate;

pub use atomics::atomics;
pub use compare::{Comparison, compare};
pub use keys::{items_have_keys, may_miss_keys};
pub use merge::merge;
pub(crate) use names::{reconcile, with_named_fields};
pub use remove::remove_items;
pub(crate) use same::same;
pub use to_field_set::to_field_set;
pub use validate::{Duplicates, content_has_types, validate};
