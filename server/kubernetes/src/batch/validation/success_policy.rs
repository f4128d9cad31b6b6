//! When a job has succeeded although not all of its pods have.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::indexes::count_indexes;
use generated::batch::v1::{JobSpec, SuccessPolicyRule};

/// By hand: numbers of pods are read from texts, and compared with the completions of the spec.
pub fn validate_success_rules(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, _: Option<&JobSpec>) {
    let Some(policy) = new.success_policy.as_deref() else { return };
    let path = path.child("successPolicy");
    let path = path.child("rules");
    for (index, rule) in policy.rules.iter().enumerate() {
        validate_rule(v, &path.index(index), rule, new.completions.unwrap_or(0));
    }
}

/// `validateSuccessPolicyRule`
fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &SuccessPolicyRule, completions: i32) {
    v.checks(path, Ref::of(rule), None);
    let mut total = 0;
    if let Some(indexes) = &rule.succeeded_indexes {
        match count_indexes(indexes, completions) {
            Ok(count) => total = count,
            Err(why) => {
                let detail = format!("error parsing succeededIndexes: {why}");
                v.invalid(&path.child("succeededIndexes"), indexes, detail);
            }
        }
    }
    v.checks_of("count", path, Ref::of(rule), None);
    let (path, Some(count)) = (path.child("succeededCount"), rule.succeeded_count) else { return };
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
