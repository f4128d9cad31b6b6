//! Field errors: type, path and value of an error, in upstream's words.
//!
//! The text of a [`FieldError`] is part of a Status twice: in its message and in its causes.

use crate::field_path::Path;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use scalar::go_text::{append_json_string, json_string, quote};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// The type of an error (upstream `field.ErrorType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorType {
    /// A value that refers to a missing object.
    NotFound,
    /// A value that is missing.
    Required,
    /// A value that must be unique but is not.
    Duplicate,
    /// A malformed value.
    Invalid,
    /// A value that is not one of the supported values.
    NotSupported,
    /// A well-formed value that is not allowed here.
    Forbidden,
    /// A value with too many bytes.
    TooLong,
    /// A value with too few characters.
    TooShort,
    /// A list with too many items.
    TooMany,
    /// A list with too few items.
    TooFew,
    /// A value of another JSON type than that of the field.
    TypeInvalid,
    /// A failure of the server.
    Internal,
}

impl ErrorType {
    /// The reason in a Status cause (upstream `metav1.CauseType`).
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooShort => "FieldValueTooShort",
            Self::TooMany => "FieldValueTooMany",
            Self::TooFew => "FieldValueTooFew",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooShort => "Too short",
            Self::TooMany => "Too many",
            Self::TooFew => "Too few",
            Self::Internal => "Internal error",
        }
    }

    /// Whether the text shows the invalid value.
    const fn shows_value(self) -> bool {
        !matches!(self, Self::Required | Self::Forbidden | Self::TooLong | Self::TooShort | Self::Internal)
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// The invalid value in the form that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum BadValue {
    /// A Go `string`, shown quoted as by `%q`. Values of named string types are [`BadValue::Json`] upstream.
    String(String),
    /// A number.
    Int(i64),
    /// A fractional number.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// Any other value, by its JSON text.
    Json(String),
    /// As `Json`, but without restoring empty lists and maps of the request
    /// (`machinery::request_document::RequestDocument::complete`).
    Exact(String),
    /// Go's nil, shown as `null`.
    None,
    /// As `None`, for the list or map in this field of the field that the error refers to.
    NoneIn(&'static str),
    /// Not shown.
    Omitted,
}

impl BadValue {
    /// A value whose Go type is a named string type or a pointer to a string, which upstream shows as JSON.
    pub fn json_string(text: &str) -> Self {
        Self::Json(json_string(text))
    }

    /// Bytes, as JSON shows them.
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Json(format!("\"{}\"", STANDARD.encode(bytes)))
    }

    /// A value that is expensive to format.
    ///
    /// Returns `Omitted` once the errors of the validation have used up their bytes
    /// ([`with_bounded_texts`]). So many errors that show the whole object cost no more than a few.
    pub fn large(make: impl FnOnce() -> Self) -> Self {
        if collected::is_full() { Self::Omitted } else { make() }
    }

    /// A list of strings as JSON; as upstream, nil if empty.
    pub fn strings<S: AsRef<str>>(texts: &[S]) -> Self {
        if texts.is_empty() {
            return Self::None;
        }
        Self::large(|| {
            let mut out = Vec::new();
            for text in texts {
                out.push(if out.is_empty() { b'[' } else { b',' });
                append_json_string(&mut out, text.as_ref());
            }
            out.push(b']');
            Self::Json(String::from_utf8_lossy(&out).into_owned())
        })
    }

    /// A map of strings as JSON; as upstream, nil if empty.
    pub fn string_map(map: &BTreeMap<String, String>) -> Self {
        if map.is_empty() {
            return Self::None;
        }
        Self::large(|| {
            let pair = |(key, value): (&String, &String)| format!("{}:{}", json_string(key), json_string(value));
            let pairs: Vec<String> = map.iter().map(pair).collect();
            Self::Json(format!("{{{}}}", pairs.join(",")))
        })
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(&quote(text)),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => f.write_str(&format_float(*number)),
            Self::Bool(value) => value.fmt(f),
            Self::Json(json) | Self::Exact(json) => f.write_str(json),
            Self::None | Self::NoneIn(_) => f.write_str("null"),
            Self::Omitted => Ok(()),
        }
    }
}

/// Formats a float as Go's `%v` does: shortest digits, with an exponent if it is below -4 or above 5.
fn format_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..=5).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => number.to_string(),
    }
}

macro_rules! bad_value_from {
    ($($from:ty => |$value:ident| $make:expr;)*) => {$(
        impl From<$from> for BadValue {
            fn from($value: $from) -> Self {
                $make
            }
        }
    )*};
}

bad_value_from! {
    &str => |text| Self::String(text.to_owned());
    &String => |text| Self::String(text.clone());
    String => |text| Self::String(text);
    i64 => |number| Self::Int(number);
    i32 => |number| Self::Int(i64::from(number));
    usize => |number| Self::Int(number as i64);
    f64 => |number| Self::Float(number);
    bool => |value| Self::Bool(value);
}

/// An error about one field (upstream `field.Error`).
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The type of the error.
    pub error_type: ErrorType,
    /// The path of the field.
    pub field: String,
    /// The invalid value.
    pub bad_value: BadValue,
    /// The explanation; may be empty.
    pub detail: Cow<'static, str>,
}

impl FieldError {
    fn new(
        error_type: ErrorType,
        path: &Path<'_>,
        value: impl Into<BadValue>,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        if collected::is_full() {
            let detail = Cow::Borrowed("");
            return Self { error_type, field: String::new(), bad_value: BadValue::Omitted, detail };
        }
        let error = Self { error_type, field: path.to_text(), bad_value: value.into(), detail: detail.into() };
        collected::count(error.text_len());
        error
    }

    /// A malformed value.
    pub fn invalid(path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorType::Invalid, path, value, detail)
    }

    /// A value of another type than that of the field.
    pub fn type_invalid(path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorType::TypeInvalid, path, value, detail)
    }

    /// A missing value.
    pub fn required(path: &Path<'_>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorType::Required, path, "", detail)
    }

    /// A value that must be unique but is not.
    pub fn duplicate(path: &Path<'_>, value: impl Into<BadValue>) -> Self {
        Self::new(ErrorType::Duplicate, path, value, "")
    }

    /// A value that refers to a missing object.
    pub fn not_found(path: &Path<'_>, value: impl Into<BadValue>) -> Self {
        Self::new(ErrorType::NotFound, path, value, "")
    }

    /// A value that is not one of `supported`, which are shown in the given order.
    pub fn not_supported<S: AsRef<str>>(path: &Path<'_>, value: impl Into<BadValue>, supported: &[S]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|value| quote(value.as_ref())).collect();
        let detail = match quoted.as_slice() {
            [] => Cow::Borrowed(""),
            quoted => format!("supported values: {}", quoted.join(", ")).into(),
        };
        Self::new(ErrorType::NotSupported, path, value, detail)
    }

    /// A well-formed value that is not allowed here.
    pub fn forbidden(path: &Path<'_>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorType::Forbidden, path, "", detail)
    }

    /// A value of more than `max` bytes.
    pub fn too_long(path: &Path<'_>, max: usize) -> Self {
        Self::too_long_in(path, max, "byte")
    }

    /// A value of more than `max` characters.
    pub fn too_long_characters(path: &Path<'_>, max: usize) -> Self {
        Self::too_long_in(path, max, "character")
    }

    fn too_long_in(path: &Path<'_>, max: usize, unit: &str) -> Self {
        let detail = format!("may not be more than {max} {unit}{}", plural(max));
        Self::new(ErrorType::TooLong, path, BadValue::Omitted, detail)
    }

    /// A value of fewer than `min` characters.
    pub fn too_short(path: &Path<'_>, value: impl Into<BadValue>, min: usize) -> Self {
        Self::new(ErrorType::TooShort, path, value, format!("must be at least {min} character{}", plural(min)))
    }

    /// A list of `actual` items where `max` are allowed. Without `actual`, the number is not shown.
    pub fn too_many(path: &Path<'_>, actual: Option<usize>, max: usize) -> Self {
        let value = actual.map_or(BadValue::Omitted, BadValue::from);
        Self::new(ErrorType::TooMany, path, value, format!("must have at most {max} item{}", plural(max)))
    }

    /// A list of `actual` items where at least `min` are required.
    pub fn too_few(path: &Path<'_>, actual: usize, min: usize) -> Self {
        Self::new(ErrorType::TooFew, path, actual, format!("must have at least {min} item{}", plural(min)))
    }

    /// A failure of the server.
    pub fn internal(path: &Path<'_>, error: impl fmt::Display) -> Self {
        Self::new(ErrorType::Internal, path, BadValue::Omitted, error.to_string())
    }

    /// The number of bytes that the error adds to a Status.
    pub(crate) fn text_len(&self) -> usize {
        let value = match &self.bad_value {
            BadValue::String(text) | BadValue::Json(text) | BadValue::Exact(text) => text.len(),
            _ => 8,
        };
        self.field.len() + value + self.detail.len()
    }

    /// The text without the path, as a Status cause carries it.
    pub fn body(&self) -> String {
        Body(self).to_string()
    }

    /// Prepends a prefix to the explanation.
    pub fn prefix_detail(mut self, prefix: &str) -> Self {
        self.detail = format!("{prefix}{}", self.detail).into();
        self
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

struct Body<'a>(&'a FieldError);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldError { error_type, bad_value, detail, .. } = self.0;
        error_type.fmt(f)?;
        if error_type.shows_value() && *bad_value != BadValue::Omitted {
            write!(f, ": {bad_value}")?;
        }
        if !detail.is_empty() {
            write!(f, ": {detail}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, Body(self))
    }
}

impl std::error::Error for FieldError {}

/// Joins errors to one text without duplicates, in brackets if there are several (upstream
/// `utilerrors.Aggregate`).
pub fn aggregate(errors: &[FieldError]) -> String {
    let mut seen = HashSet::new();
    let mut texts: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    texts.retain(|text| seen.insert(text.clone()));
    match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

mod collected;
#[cfg(test)]
mod tests;

pub use collected::{is_full, with_bounded_texts};
