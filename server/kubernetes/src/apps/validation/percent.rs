//! Numbers of pods, or percentages of all of them.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_valid_percent;
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

/// `ValidatePositiveIntOrPercent`
pub(crate) fn validate_count_or_percent(v: &mut Validation<'_>, path: &Path<'_>, value: &IntOrString) {
    match value {
        IntOrString::Int(number) => v.not_negative(path, *number),
        IntOrString::String(text) => {
            for message in is_valid_percent(text) {
                v.invalid(path, BadValue::json_string(text), message);
            }
        }
    }
}

/// `IsNotMoreThan100Percent`
pub(crate) fn validate_not_more_than_all(v: &mut Validation<'_>, path: &Path<'_>, value: &IntOrString) {
    if let (IntOrString::String(text), Some(percent)) = (value, percent(value))
        && percent > 100
    {
        v.invalid(path, BadValue::json_string(text), "must not be greater than 100%");
    }
}

/// Whether it is none of the pods (`getIntOrPercentValue`).
pub(crate) fn is_none(value: &IntOrString) -> bool {
    percent(value).unwrap_or_else(|| value.int_value()) == 0
}

/// The value as messages show it.
pub(crate) fn shown(value: &IntOrString) -> BadValue {
    let mut text = Vec::new();
    value.append_json(&mut text);
    BadValue::Json(String::from_utf8_lossy(&text).into_owned())
}

fn percent(value: &IntOrString) -> Option<i64> {
    match value {
        IntOrString::String(text) if is_valid_percent(text).is_empty() => {
            // Go's Atoi hands back the highest number along with the error that upstream drops here.
            Some(text.strip_suffix('%')?.parse().unwrap_or(i64::MAX))
        }
        _ => None,
    }
}
