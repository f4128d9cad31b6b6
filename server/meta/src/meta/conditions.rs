//! Conditions.

use std::collections::HashSet;

use super::validate_label_name;
use apimachinery::meta::v1::Condition;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

const MAX_REASON: usize = 1024;
const MAX_MESSAGE: usize = 32 * 1024;

const REASON: &str = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";

/// `ValidateConditions`
pub fn validate_conditions(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[Condition]) {
    let mut seen = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        if !seen.insert(&condition.r#type) {
            v.duplicate(&path.child("type"), &condition.r#type);
        }
        validate_condition(v, &path, condition, None);
    }
}

/// `ValidateCondition`
pub fn validate_condition(v: &mut Validation<'_>, path: &Path<'_>, condition: &Condition, _: Option<&Condition>) {
    validate_label_name(v, &path.child("type"), &condition.r#type);
    if !matches!(condition.status.as_str(), "True" | "False" | "Unknown") {
        let status = BadValue::json_string(&condition.status);
        v.not_supported(&path.child("status"), status, &["False", "True", "Unknown"]);
    }
    if condition.observed_generation < 0 {
        let at = path.child("observedGeneration");
        v.invalid(&at, condition.observed_generation, "must be greater than or equal to zero");
    }
    if condition.last_transition_time.is_zero() {
        v.required(&path.child("lastTransitionTime"), "");
    }
    validate_reason(v, &path.child("reason"), &condition.reason);
    if condition.message.len() > MAX_MESSAGE {
        v.too_long(&path.child("message"), MAX_MESSAGE);
    }
}

fn validate_reason(v: &mut Validation<'_>, path: &Path<'_>, reason: &str) {
    if reason.is_empty() {
        return v.required(path, "");
    }
    if !is_reason(reason) {
        let detail = format!(
            "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
             characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
             'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{REASON}')"
        );
        v.invalid(path, reason, detail);
    }
    if reason.len() > MAX_REASON {
        v.too_long(path, MAX_REASON);
    }
}

/// Whether [`REASON`] matches.
fn is_reason(text: &str) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(word)
        && bytes.iter().all(|byte| word(byte) || matches!(byte, b',' | b':'))
}
