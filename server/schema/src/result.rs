//! What a validation found, as upstream's validator gathers it: each text once, and how many checks went well.

use std::borrow::Cow;

use machinery::field_error::{BadValue, ErrorType, FieldError};
use machinery::field_path::Path;
use machinery::json;
use serde_json::Value;

/// A fault, and the words by which upstream tells whether it is known already.
#[derive(Debug)]
pub(crate) struct Fault {
    text: String,
    error: FieldError,
}

/// Most faults that are kept: each new one is compared with all of them, and a Status tells no more.
const MAX_FAULTS: usize = 1000;

/// What came of validating a value.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    faults: Vec<Fault>,
    /// How many checks were made; of several alternatives that all fail, the one with most tells why.
    pub matches: usize,
}

impl Outcome {
    /// No faults in so many checks.
    pub fn counted(matches: usize) -> Self {
        Outcome { faults: Vec::new(), matches }
    }

    pub fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    /// A check was made.
    pub fn count(&mut self) {
        self.matches += 1;
    }

    pub fn merge(&mut self, other: Outcome) {
        self.matches += other.matches;
        if self.faults.is_empty() {
            self.faults = other.faults;
            return;
        }
        // Upstream stops at the first that it knows already (`Result.AddErrors`).
        for fault in other.faults {
            if self.faults.len() == MAX_FAULTS || self.faults.iter().any(|known| known.text == fault.text) {
                return;
            }
            self.faults.push(fault);
        }
    }

    pub fn add(&mut self, text: String, error: FieldError) {
        if self.faults.len() < MAX_FAULTS && !self.faults.iter().any(|known| known.text == text) {
            self.faults.push(Fault { text, error });
        }
    }

    /// A fault that shows its words.
    pub fn invalid(&mut self, path: &Path<'_>, value: BadValue, text: String) {
        self.add(text.clone(), FieldError::invalid(path, value, text));
    }

    /// A fault of the value as a whole, which upstream reports without a path.
    pub fn composite(&mut self, text: String) {
        self.add(text.clone(), FieldError::invalid(&Path::NONE, "", text));
    }

    /// The errors, below a path where the validated value is not the object itself.
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

/// A name as messages show it: that of the whole is empty.
pub(crate) fn name(path: &Path<'_>) -> Cow<'static, str> {
    if path.is_root() { Cow::Borrowed("") } else { path.to_text().into() }
}

/// A value as Go writes it in JSON.
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

/// Whether an error means that rules are not to be evaluated (`hasBlockingErr`).
pub(crate) fn is_blocking(error: &FieldError) -> bool {
    use ErrorType::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(error.error_type, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}
