//! Validation of conditions.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use apimachinery::meta::v1::Condition;

/// Mirrors `ValidateConditions`.
pub fn validate_conditions(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[Condition]) {
    v.checks_of_items(path, conditions);
}

/// Mirrors `ValidateCondition`.
pub fn validate_condition(v: &mut Validation<'_>, path: &Path<'_>, condition: &Condition, _: Option<&Condition>) {
    v.checks(path, Ref::of(condition), None);
}
