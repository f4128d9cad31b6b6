//! Numbers of pods, or percentages of all of them. What is not given is 0.

use machinery::field_error::BadValue;
use machinery::format::is_valid_percent;
use machinery::scalar::IntOrString;

/// Whether it is none of the pods (`getIntOrPercentValue`).
pub(super) fn is_none(value: Option<&IntOrString>) -> bool {
    value.is_none_or(|value| percent(value).unwrap_or_else(|| value.int_value()) == 0)
}

/// The value as messages show it.
pub(super) fn shown(value: Option<&IntOrString>) -> BadValue {
    let mut text = Vec::new();
    value.unwrap_or(&IntOrString::default()).append_json(&mut text);
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
