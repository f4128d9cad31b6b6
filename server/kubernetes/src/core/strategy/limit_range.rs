//! Limit ranges.

use machinery::hooks::Context;

use generated::core::v1::LimitRange;

/// A limit range without a name gets a UUID as its name (`limitrangeStrategy.PrepareForCreate`).
pub fn create_limit_range(_: &Context, range: &mut LimitRange, _: Option<&LimitRange>) {
    if range.metadata.name.is_empty() {
        range.metadata.name = Context::new_uid();
    }
}
