//! The result of a validation, with the semantics of upstream's `Result`: distinct messages, and a
//! count of checks.

use std::borrow::Cow;

use machinery::field_error::{BadValue, ErrorType, FieldError};
use machinery::field_path::Path;
use machinery::json;
use serde_json::Value;

/// An error, and the message by which upstream detects duplicates.
#[derive(Debug)]
pub(crate) struct ValidationError {
    text: String,
    error: FieldError,
}

/// Limit on the number of errors. Each new error is compared with all others, and a Status does not
/// show more.
const MAX_FAULTS: usize = 1000;

/// The result of validating a value.
#[derive(Debug, Default)]
pub(crate) struct ValidationResult {
    faults: Vec<ValidationError>,
    /// The number of checks made. If all alternatives fail, the errors of the one with the highest
    /// number are reported.
    pub matches: usize,
}

impl ValidationResult {
    /// A result without errors, after the given number of checks.
    pub fn counted(matches: usize) -> Self {
        ValidationResult { faults: Vec::new(), matches }
    }

    pub fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    /// Counts one check.
    pub fn count(&mut self) {
        self.matches += 1;
    }

    pub fn merge(&mut self, other: ValidationResult) {
        self.matches += other.matches;
        if self.faults.is_empty() {
            self.faults = other.faults;
            return;
        }
        // Upstream stops at the first duplicate (`Result.AddErrors`).
        for fault in other.faults {
            if self.faults.len() == MAX_FAULTS || self.faults.iter().any(|known| known.text == fault.text) {
                return;
            }
            self.faults.push(fault);
        }
    }

    pub fn add(&mut self, text: String, error: FieldError) {
        if self.faults.len() < MAX_FAULTS && !self.faults.iter().any(|known| known.text == text) {
            self.faults.push(ValidationError { text, error });
        }
    }

    /// Adds an error with the message as its detail.
    pub fn invalid(&mut self, path: &Path<'_>, value: BadValue, text: String) {
        self.add(text.clone(), FieldError::invalid(path, value, text));
    }

    /// Adds an error of the value as a whole, which upstream reports without a path.
    pub fn composite(&mut self, text: String) {
        self.add(text.clone(), FieldError::invalid(&Path::NONE, "", text));
    }

    /// The errors. `below` is the path of the validated value in its object.
    pub fn into_errors(self, below: &str) -> Vec<FieldError> {
        let errors = self.faults.into_iter().map(|fault| fault.error);
        errors.map(|error| FieldError { field: joined(below, error.field), ..error }).collect()
    }
}

fn joined(below: &str, field: String) -> String {
    let field = field.strip_prefix('.').unwrap_or(&field);
    match (below, field) {
        ("", field) => field.to_owned(),
        (below, "") => below.to_owned(),
        (below, "<nil>") => below.to_owned(),
        (below, field) => format!("{below}.{field}"),
    }
}

/// A path as messages show it: empty for the root.
pub(crate) fn name(path: &Path<'_>) -> Cow<'static, str> {
    if path.is_root() { Cow::Borrowed("") } else { path.to_text().into() }
}

/// A value in Go's JSON encoding.
pub(crate) fn json_text(value: &Value) -> String {
    let mut text = Vec::new();
    json::encode_value(value, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A value as errors show it.
pub fn shown(value: &Value) -> BadValue {
    match value {
        Value::Null => BadValue::None,
        Value::Bool(v) => BadValue::Bool(*v),
        Value::String(text) => BadValue::String(text.clone()),
        Value::Number(n) => n.as_i64().map_or_else(|| BadValue::Float(n.as_f64().unwrap_or(0.0)), BadValue::Int),
        other => BadValue::Json(json_text(other)),
    }
}

/// Whether an error prevents the evaluation of validation rules (`hasBlockingErr`).
pub(crate) fn is_blocking(error: &FieldError) -> bool {
    use ErrorType::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(error.error_type, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}
