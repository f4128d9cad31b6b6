//! Validation of pod indexes in text form, `1,3-5,7`, in success policies and in statuses of jobs.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;
use machinery::scalar::go_text::quote;

use generated::batch::v1::{Job, JobSpec, JobStatus, SuccessPolicyRule, UncountedTerminatedPods};

/// Why a text is not a list of indexes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum IndexError {
    #[error("non-increasing order, previous: {previous}, current: {current}")]
    Order { previous: i32, current: i32 },
    #[error("cannot convert string to integer for index: {}", quote(text))]
    NotANumber { text: String },
    #[error("too large index: {}", quote(text))]
    TooLarge { text: String },
    #[error(
        "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
        quote(text)
    )]
    Parts { text: String },
}

/// Counts the indexes (`validateIndexesFormat`), which have to be ascending and below `completions`.
fn count_indexes(text: &str, completions: i32) -> Result<i32, IndexError> {
    let (mut total, mut last) = (0, None);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = parse_interval(interval, completions)?;
        if let Some(previous) = last.filter(|last| *last >= from) {
            return Err(IndexError::Order { previous, current: from });
        }
        total += to - from + 1;
        last = Some(to);
    }
    Ok(total)
}

/// `parseIndexInterval`
fn parse_interval(text: &str, completions: i32) -> Result<(i32, i32), IndexError> {
    let parts: Vec<&str> = text.split('-').collect();
    let index = |text: &str| match text.parse::<i32>() {
        Err(_) if text.parse::<i64>().is_err() => Err(IndexError::NotANumber { text: text.to_owned() }),
        Ok(index) if index < completions => Ok(index),
        _ => Err(IndexError::TooLarge { text: text.to_owned() }),
    };
    match parts[..] {
        [one] => index(one).map(|index| (index, index)),
        [from, to] => {
            let (from, to) = (index(from)?, index(to)?);
            if from < to { Ok((from, to)) } else { Err(IndexError::Order { previous: from, current: to }) }
        }
        _ => Err(IndexError::Parts { text: text.to_owned() }),
    }
}

/// The first index that is in both texts (`validateFailedIndexesNotOverlapCompleted`). Malformed parts
/// are ignored.
fn first_overlap(completed: &str, failed: &str, completions: i32) -> Option<i32> {
    let parsed = |text: &str| -> Vec<(i32, i32)> {
        text.split(',').filter_map(|interval| parse_interval(interval, completions).ok()).collect()
    };
    let (completed, failed) = (parsed(completed), parsed(failed));
    let (mut c, mut f) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((from, to)), Some((failed_from, failed_to))) = (c.peek(), f.peek()) {
        if from <= failed_to && failed_from <= to {
            return Some(*from.max(failed_from));
        }
        let behind = if from <= failed_from { &mut c } else { &mut f };
        behind.next();
    }
    None
}

/// Validates success policies. Hand-written, because indexes are parsed, and compared with the
/// completions of the spec.
pub fn validate_success_rules(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, _: Option<&JobSpec>) {
    let Some(policy) = new.success_policy.as_deref() else { return };
    let path = path.child("successPolicy.rules");
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
                v.invalid(&path.child(json_name!(SuccessPolicyRule.succeeded_indexes)), indexes, detail);
            }
        }
    }
    v.checks_of("count", path, Ref::of(rule), None);
    let (path, Some(count)) = (path.child(json_name!(SuccessPolicyRule.succeeded_count)), rule.succeeded_count) else {
        return;
    };
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

/// Validates the format of index texts. Hand-written, because indexes are parsed, and compared with the
/// completions.
pub fn validate_index_formats(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let (path, is, was) = (path.child(json_name!(Job.status)), &new.status, old.map(|old| &old.status));
    let (completed, completions) = (&is.completed_indexes, new.spec.completions.unwrap_or_default());
    if was.is_none_or(|was| was.completed_indexes != *completed)
        && let Err(why) = count_indexes(completed, completions)
    {
        v.invalid(
            &path.child(json_name!(JobStatus.completed_indexes)),
            completed,
            format!("error parsing completedIndexes: {why}"),
        );
    }
    if let Some(failed) = is.failed_indexes.as_ref()
        && was.is_none_or(|was| was.failed_indexes != is.failed_indexes)
        && new.spec.backoff_limit_per_index.is_some()
        && let Err(why) = count_indexes(failed, completions)
    {
        let detail = format!("error parsing failedIndexes: {why}");
        v.invalid(&path.child(json_name!(JobStatus.failed_indexes)), BadValue::json_string(failed), detail);
    }
}

/// Validates failed indexes. Hand-written for the same reason; messages show the text, not the pointer
/// to it.
pub fn validate_failed_indexes(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let (path, is, was) = (path.child(json_name!(Job.status)), &new.status, old.map(|old| &old.status));
    let (path, Some(failed)) = (path.child(json_name!(JobStatus.failed_indexes)), is.failed_indexes.as_ref()) else {
        return;
    };
    let has_changed = was.is_none_or(|was| was.failed_indexes != is.failed_indexes);
    if has_changed && new.spec.backoff_limit_per_index.is_none() {
        v.invalid(&path, failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
    let has_changed = has_changed || was.is_none_or(|was| was.completed_indexes != is.completed_indexes);
    if let Some(completions) = new.spec.completions.filter(|_| has_changed)
        && let Some(index) = first_overlap(&is.completed_indexes, failed, completions)
    {
        v.invalid(&path, failed, format!("failedIndexes and completedIndexes overlap at index: {index}"));
    }
}

/// Validates uncounted pods. Hand-written, because two lists must not have a common item.
pub fn validate_uncounted_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &UncountedTerminatedPods,
    _: Option<&UncountedTerminatedPods>,
) {
    let mut seen = BTreeSet::new();
    for (list, uids) in [("succeeded", &new.succeeded), ("failed", &new.failed)] {
        let path = path.child(list);
        for (index, uid) in uids.iter().enumerate() {
            let path = path.index(index);
            if uid.is_empty() {
                v.invalid(&path, BadValue::json_string(uid), "must not be empty");
            } else if !seen.insert(uid) {
                v.duplicate(&path, BadValue::json_string(uid));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results for several texts with ten completions.
    #[test]
    fn counts_indexes() {
        let check = |text: &str, expect: Result<i32, &str>| {
            let got = count_indexes(text, 10).map_err(|error| error.to_string());
            assert_eq!(got, expect.map_err(str::to_owned), "{text}");
        };
        check("", Ok(0));
        check("0", Ok(1));
        check("1,3-5,9", Ok(5));
        check("10", Err("too large index: \"10\""));
        check("3000000000", Err("too large index: \"3000000000\""));
        check("1-10", Err("too large index: \"10\""));
        check("a", Err("cannot convert string to integer for index: \"a\""));
        check("1,", Err("cannot convert string to integer for index: \"\""));
        check("3,2", Err("non-increasing order, previous: 3, current: 2"));
        check("2-2", Err("non-increasing order, previous: 2, current: 2"));
        check(
            "1-2-3",
            Err(
                "the fragment \"1-2-3\" violates the requirement that an index interval can have at most two parts separated by '-'",
            ),
        );
    }

    #[test]
    fn finds_overlaps() {
        for (completed, failed, expect) in
            [("", "1", None), ("1-3,7", "4-6", None), ("1-3,7", "5,7", Some(7)), ("x,2-4", "3", Some(3))]
        {
            assert_eq!(first_overlap(completed, failed, 10), expect, "{completed} {failed}");
        }
    }
}
