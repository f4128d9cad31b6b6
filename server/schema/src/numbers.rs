//! Checks of numbers (`validate.numberValidator`).

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use serde_json::{Number, Value};

use crate::result::{ValidationResult, name, shown};
use crate::{JsonType, KeywordFlags, Schema};

/// Checks a number against its format and its bounds.
pub(crate) fn check(schema: &Schema, number: &Number, path: &Path<'_>) -> ValidationResult {
    let mut out = ValidationResult::default();
    out.count();
    let range = Range::of(schema);
    if !range.holds(number) {
        out.composite(format!("Checked value must be of type {} {} in {}", range.kind, range.format(), name(path)));
    }
    let Some(checks) = &schema.checks else { return out };
    if let Some(factor) = checks.multiple_of {
        let of_type = range.check_bound("MultipleOf", factor, path, &mut out);
        multiple(number, factor, of_type, path, &mut out);
    }
    if let Some(minimum) = checks.minimum {
        let of_type = range.check_bound("Minimum boundary", minimum, path, &mut out);
        bound(&schema.flags, (number, of_type), Bound::Minimum(minimum), path, &mut out);
    }
    if let Some(maximum) = checks.maximum {
        let of_type = range.check_bound("Maximum boundary", maximum, path, &mut out);
        bound(&schema.flags, (number, of_type), Bound::Maximum(maximum), path, &mut out);
    }
    out
}

/// Whether a number written with a point or an exponent counts as an integer (go-openapi's
/// `IsFloat64AJSONInteger`).
///
/// Accepts the integers that JavaScript represents exactly, and numbers within 1e-9 of one.
pub(crate) fn is_json_integer(number: f64) -> bool {
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    const EPSILON: f64 = 1e-9;
    if number.abs() > LIMIT {
        return false;
    }
    let below = number.trunc();
    // Upstream converts negative numbers to huge unsigned ones here, so no negative fraction is
    // close enough.
    number == below || (below > 0.0 && (number - below) / (number + below) < EPSILON)
}

/// The range of numbers that a format allows.
struct Range<'s> {
    kind: &'static str,
    format: &'s str,
}

impl<'s> Range<'s> {
    fn of(schema: &'s Schema) -> Self {
        let kind = if schema.flags.int_or_string { None } else { schema.kind };
        let format = schema.checks.as_ref().map_or("", |checks| &*checks.format);
        match (kind, format) {
            (Some(JsonType::Integer), format @ ("int32" | "int64")) => Range { kind: "integer", format },
            (Some(JsonType::Integer), _) => Range { kind: "integer", format: "" },
            (Some(JsonType::Number), format @ ("float" | "double")) => Range { kind: "number", format },
            _ => Range { kind: "", format: "" },
        }
    }

    fn format(&self) -> String {
        if self.format.is_empty() { "(default format)".into() } else { format!("with format {}", self.format) }
    }

    fn holds(&self, number: &Number) -> bool {
        let float = number.as_f64().unwrap_or(0.0);
        // The shortest digits of a float are parsed as an integer; the digits of -2^63 overflow.
        let whole = number.as_i64().or_else(|| float.to_string().parse().ok());
        match (self.kind, self.format) {
            ("integer", "int32") => whole.is_some_and(|n| i32::try_from(n).is_ok()),
            ("integer", _) => whole.is_some(),
            (_, "float") => float.abs() <= f64::from(f32::MAX),
            _ => true,
        }
    }

    /// Whether the type can represent a number of the schema. Adds an error where it cannot.
    fn check_bound(&self, what: &str, bound: f64, path: &Path<'_>, out: &mut ValidationResult) -> bool {
        let holds = Number::from_f64(bound).is_none_or(|number| self.holds(&number));
        if !holds {
            let (kind, format, name) = (self.kind, self.format(), name(path));
            out.composite(format!("{what} value must be of type {kind} {format} in {name}"));
        }
        holds
    }
}

enum Bound {
    Minimum(f64),
    Maximum(f64),
}

/// Checks one bound. `of_type`: whether the type of the number can represent the bound; if not,
/// both are compared as floats.
fn bound(
    flags: &KeywordFlags,
    (number, of_type): (&Number, bool),
    bound: Bound,
    path: &Path<'_>,
    out: &mut ValidationResult,
) {
    let (limit, exclusive, is_minimum) = match bound {
        Bound::Minimum(limit) => (limit, flags.exclusive_minimum, true),
        Bound::Maximum(limit) => (limit, flags.exclusive_maximum, false),
    };
    // Integers are compared as integers: the fraction of the limit is ignored.
    let (order, limit) = match number.as_i64().filter(|_| of_type) {
        Some(n) => (n.cmp(&go_i64(limit)), go_i64(limit).to_string()),
        None => {
            let order = number.as_f64().and_then(|n| n.partial_cmp(&limit)).unwrap_or(std::cmp::Ordering::Equal);
            (order, go_float(limit))
        }
    };
    let wrong = if is_minimum { order.is_lt() } else { order.is_gt() };
    if !(wrong || (exclusive && order.is_eq())) {
        return;
    }
    let words = match (is_minimum, exclusive) {
        (true, false) => "greater than or equal to",
        (true, true) => "greater than",
        (false, false) => "less than or equal to",
        (false, true) => "less than",
    };
    let text = format!("{} in body should be {words} {limit}", name(path));
    out.invalid(path, shown_as(number, of_type), text);
}

/// The number as an error shows it: a float where it was compared as a float.
fn shown_as(number: &Number, of_type: bool) -> BadValue {
    match number.as_f64().filter(|_| !of_type) {
        Some(float) => BadValue::Float(float),
        None => shown(&Value::Number(number.clone())),
    }
}

/// Checks `multipleOf`. `of_type`: whether the type of the number can represent the factor.
fn multiple(number: &Number, factor: f64, of_type: bool, path: &Path<'_>, out: &mut ValidationResult) {
    let (is_multiple, factor) = match number.as_i64().filter(|_| of_type) {
        // Integers are divided as integers: the fraction of the factor is ignored.
        Some(n) => {
            let factor = go_i64(factor);
            (factor > 0 && n.checked_rem(factor) == Some(0), BadValue::Int(factor))
        }
        None => {
            let n = number.as_f64().unwrap_or(0.0);
            let times = if factor < 1.0 { 1.0 / factor * n } else { n / factor };
            (factor > 0.0 && is_json_integer(times), BadValue::Float(factor))
        }
    };
    let is_positive = match factor {
        BadValue::Int(factor) => factor > 0,
        _ => true,
    };
    if !is_positive {
        let text = format!("factor MultipleOf declared for {} must be positive: {factor}", name(path));
        out.invalid(path, factor, text);
    } else if !is_multiple {
        let text = format!("{} in body should be a multiple of {factor}", name(path));
        out.invalid(path, shown_as(number, of_type), text);
    }
}

/// Truncates a float to an integer as Go does on amd64: an out-of-range value becomes `i64::MIN`.
fn go_i64(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

/// A float in the format of Go's `%v`.
fn go_float(number: f64) -> String {
    BadValue::Float(number).to_string()
}
