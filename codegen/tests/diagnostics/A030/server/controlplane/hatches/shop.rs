//! Hatches.

pub fn product_spec(spec: &crate::shop::v1::ProductSpec) {}
