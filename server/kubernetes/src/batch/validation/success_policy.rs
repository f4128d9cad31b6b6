//! When a job has succeeded although not all of its pods have.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::indexes::count_indexes;
use generated::batch::v1::{JobSpec, SuccessPolicy, SuccessPolicyRule};

const MAX_RULES: usize = 20;
const MAX_INDEXES: usize = 64 * 1024;

/// `validateSuccessPolicy`
pub(super) fn validate_success_policy(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec, policy: &SuccessPolicy) {
    let path = path.child("rules");
    if policy.rules.is_empty() {
        v.required(&path, "at least one rules must be specified when the successPolicy is specified");
    }
    if policy.rules.len() > MAX_RULES {
        v.too_many(&path, policy.rules.len(), MAX_RULES);
    }
    for (index, rule) in policy.rules.iter().enumerate() {
        validate_rule(v, &path.index(index), rule, spec.completions.unwrap_or(0));
    }
}

/// `validateSuccessPolicyRule`
fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &SuccessPolicyRule, completions: i32) {
    if rule.succeeded_count.is_none() && rule.succeeded_indexes.is_none() {
        v.required(path, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let mut total = 0;
    if let Some(indexes) = &rule.succeeded_indexes {
        let path = path.child("succeededIndexes");
        if indexes.len() > MAX_INDEXES {
            v.too_long(&path, MAX_INDEXES);
        }
        match count_indexes(indexes, completions) {
            Ok(count) => total = count,
            Err(why) => v.invalid(&path, indexes, format!("error parsing succeededIndexes: {why}")),
        }
    }
    let Some(count) = rule.succeeded_count else { return };
    let path = path.child("succeededCount");
    v.not_negative(&path, count);
    if count > completions {
        let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
        v.invalid(&path, count, detail);
    }
    if rule.succeeded_indexes.is_some() && count > total {
        let detail = format!(
            "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        );
        v.invalid(&path, count, detail);
    }
}
