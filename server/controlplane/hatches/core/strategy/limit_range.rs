//! Limit ranges.

use machinery::hooks::Context;

use crate::core::v1::LimitRange;

/// A limit range without a name is named as it is identified (`limitrangeStrategy.PrepareForCreate`).
pub fn create_limit_range(_: &Context, range: &mut LimitRange, _: Option<&LimitRange>) {
    if range.metadata.name.is_empty() {
        range.metadata.name.clone_from(&range.metadata.uid);
    }
}
