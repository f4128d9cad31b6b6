//! Match conditions.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;

use crate::admissionregistration::v1::MatchCondition;

const MAX_CONDITIONS: usize = 64;

/// `validateMatchConditions`
pub(super) fn validate_match_conditions(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[MatchCondition]) {
    if conditions.len() > MAX_CONDITIONS {
        v.too_many(path, conditions.len(), MAX_CONDITIONS);
    }
    let mut names = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        v.filled(&path.child("expression"), condition.expression.trim());
        let (path, name) = (path.child("name"), &condition.name);
        if name.is_empty() {
            v.required(&path, "");
            continue;
        }
        v.malformed(&path, name, format::is_qualified_name(name));
        if !names.insert(name) {
            v.duplicate(&path, name);
        }
    }
}
