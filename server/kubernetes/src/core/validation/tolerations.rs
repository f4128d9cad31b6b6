//! The taints of nodes that pods put up with.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

use generated::core::v1::Toleration;
use meta::validate_label_name;

const NO_EXECUTE: &str = "NoExecute";
/// What taints do to pods that do not put up with them.
pub const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", NO_EXECUTE];

/// `ValidateTolerations`; `compare`: numbers may be compared.
pub fn validate_tolerations(v: &mut Validation<'_>, path: &Path<'_>, tolerations: &[Toleration], compare: bool) {
    for (index, toleration) in tolerations.iter().enumerate() {
        validate_toleration(v, &path.index(index), toleration, compare);
    }
}

fn validate_toleration(v: &mut Validation<'_>, path: &Path<'_>, toleration: &Toleration, compare: bool) {
    let (key, operator, effect) = (toleration.key.as_str(), toleration.operator.as_str(), toleration.effect.as_str());
    if key.is_empty() {
        if operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            v.invalid(&path.child("operator"), BadValue::json_string(operator), detail);
        }
    } else {
        validate_label_name(v, &path.child("key"), key);
    }
    if toleration.toleration_seconds.is_some() && effect != NO_EXECUTE {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        v.invalid(&path.child("effect"), BadValue::json_string(effect), detail);
    }
    validate_value(v, path, operator, &toleration.value, compare);
    if !effect.is_empty() {
        v.one_of(&path.child("effect"), effect, &TAINT_EFFECTS);
    }
}

/// What the operator makes of the value.
fn validate_value(v: &mut Validation<'_>, path: &Path<'_>, operator: &str, value: &str, compare: bool) {
    let operator_path = path.child("operator");
    match operator {
        "" | "Equal" => {
            let messages = format::is_label_value(value);
            if !messages.is_empty() {
                v.invalid(&operator_path, value, messages.join(";"));
            }
        }
        "Exists" if !value.is_empty() => {
            v.invalid(&operator_path, value, "value must be empty when `operator` is 'Exists'");
        }
        "Exists" => {}
        "Lt" | "Gt" if compare => {
            let path = path.child("value");
            v.malformed(&path, value, format::content::is_decimal_integer(value));
            if let Some(why) = refusal_of_number(value) {
                v.invalid(&path, value, format!("strconv.ParseInt: parsing {}: {why}", quote(value)));
            }
        }
        // Upstream lists what it would support with the feature.
        "Lt" | "Gt" => {
            v.not_supported(&operator_path, BadValue::json_string(operator), &["Equal", "Exists", "Lt", "Gt"]);
        }
        unknown => v.one_of(&operator_path, unknown, &["Equal", "Exists"]),
    }
}

/// Why Go reads no 64-bit number in a text.
fn refusal_of_number(text: &str) -> Option<&'static str> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    match text.parse::<i64>().err()?.kind() {
        NegOverflow | PosOverflow => Some("value out of range"),
        _ => Some("invalid syntax"),
    }
}
