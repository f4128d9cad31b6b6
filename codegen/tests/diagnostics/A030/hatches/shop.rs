//! Hatches.

pub fn product_spec(spec: &crate::shop::v1::ProductSpec) {}
pub fn validate_spec(spec: &crate::shop::v1::ProductSpec) {}
pub fn update_product(_: &Context, new: &mut Product) {}
pub fn warn_product(_: &Context, new: &Product, old: &Product) -> Vec<String> {}
pub fn grace_of_product(asked: Option<i64>, product: &Product) -> Option<i64> {}
