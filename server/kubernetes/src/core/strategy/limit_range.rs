//! Strategy of limit ranges.

use machinery::hooks::WriteContext;

use generated::core::v1::LimitRange;

/// Generates a UUID as the name of a limit range without one (`limitrangeStrategy.PrepareForCreate`).
pub fn create_limit_range(_: &WriteContext, range: &mut LimitRange, _: Option<&LimitRange>) {
    if range.metadata.name.is_empty() {
        range.metadata.name = WriteContext::new_uid();
    }
}
