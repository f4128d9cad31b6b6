//! A number or a string, such as a port or `maxUnavailable` (upstream: `apimachinery/pkg/util/intstr`).

use super::error::ScalarError;
use super::go_text::{append_json_string, quote};
use super::{digits, json_text};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::num::IntErrorKind;

/// An `int32` or a string (upstream `intstr.IntOrString`).
///
/// ```
/// use scalar::IntOrString;
///
/// assert_eq!(IntOrString::parse("8080"), IntOrString::Int(8080));
/// assert_eq!(IntOrString::parse("25%").scaled_value(10, true)?, 3);
/// # Ok::<(), scalar::ScalarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntOrString {
    /// A number.
    Int(i32),
    /// A string, such as a percentage or the name of a port.
    String(String),
}

impl IntOrString {
    /// A number if the whole text is one, otherwise the text (upstream `intstr.Parse`).
    pub fn parse(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::String(text.to_owned()), Self::Int)
    }

    /// Decodes a JSON value (upstream `IntOrString.UnmarshalJSON`); `null` decodes as 0.
    ///
    /// # Errors
    /// [`ScalarError`] when the value is neither a string nor an `int32`, or is not JSON.
    pub fn from_json(value: &str) -> Result<Self, ScalarError> {
        let value = json_text::trim(value);
        if value.starts_with('"') {
            return Ok(Self::String(json_text::decode_string(value)?.into_owned()));
        }
        json_text::validate(value.as_bytes())?;
        let found = match json_text::kind(value) {
            "null" => return Ok(Self::default()),
            "number" => match value.parse() {
                Ok(number) => return Ok(Self::Int(number)),
                Err(_) => format!("number {value}"),
            },
            other => other.to_owned(),
        };
        Err(ScalarError::JsonType { found: found.into(), wanted: "int32" })
    }

    /// Appends the JSON value.
    pub fn append_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(number) => digits::append_i64(out, i64::from(*number)),
            Self::String(text) => append_json_string(out, text),
        }
    }

    /// The number, or the number in the string, or 0 (upstream `IntValue`).
    pub fn int_value(&self) -> i64 {
        match self {
            Self::Int(number) => i64::from(*number),
            Self::String(text) => match text.parse::<i64>() {
                Ok(number) => number,
                // Go's Atoi returns the nearest number with the error that upstream ignores here.
                Err(error) if *error.kind() == IntErrorKind::PosOverflow => i64::MAX,
                Err(error) if *error.kind() == IntErrorKind::NegOverflow => i64::MIN,
                Err(_) => 0,
            },
        }
    }

    /// The number itself, or the percentage of `total`, rounded up or down (upstream
    /// `GetScaledValueFromIntOrPercent`).
    ///
    /// # Errors
    /// [`ScalarError::Percent`] when the text is not an integer with a percent sign.
    pub fn scaled_value(&self, total: i64, round_up: bool) -> Result<i64, ScalarError> {
        let text = match self {
            Self::Int(number) => return Ok(i64::from(*number)),
            Self::String(text) => text,
        };
        let Some(percent) = text.strip_suffix('%') else {
            return Err(ScalarError::percent(format_args!("invalid type: string is not a percentage")));
        };
        let percent: i64 = percent.parse().map_err(|error: std::num::ParseIntError| {
            let reason = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            let (text, percent) = (quote(text), quote(percent));
            ScalarError::percent(format_args!("invalid value {text}: strconv.Atoi: parsing {percent}: {reason}"))
        })?;
        let scaled = percent as f64 * total as f64 / 100.0;
        Ok(if round_up { scaled.ceil() } else { scaled.floor() } as i64)
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::String(text) => f.pad(text),
        }
    }
}

impl From<i32> for IntOrString {
    fn from(number: i32) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => serializer.serialize_i32(*number),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntOrStringVisitor)
    }
}

struct IntOrStringVisitor;

impl serde::de::Visitor<'_> for IntOrStringVisitor {
    type Value = IntOrString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an int32 or a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<IntOrString, E> {
        Ok(IntOrString::String(text.to_owned()))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<IntOrString, E> {
        i32::try_from(number)
            .map(IntOrString::Int)
            .map_err(|_| E::custom(ScalarError::JsonType { found: format!("number {number}").into(), wanted: "int32" }))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<IntOrString, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<IntOrString, E> {
        Ok(IntOrString::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_json() {
        let cases = [("5", IntOrString::Int(5)), ("\"80%\"", "80%".into()), ("\"\"", "".into()), ("-1", (-1).into())];
        for (json, expect) in cases {
            assert_eq!(IntOrString::from_json(json).unwrap(), expect);
            assert_eq!(serde_json::from_str::<IntOrString>(json).unwrap(), expect);
            assert_eq!(serde_json::to_string(&expect).unwrap(), json);
            let mut out = Vec::new();
            expect.append_json(&mut out);
            assert_eq!(out, json.as_bytes());
        }
        assert_eq!(IntOrString::from_json("null").unwrap(), IntOrString::default());
        for (json, found) in [
            ("1.5", "number 1.5"),
            ("2147483648", "number 2147483648"),
            ("1e3", "number 1e3"),
            ("true", "bool"),
            ("{}", "object"),
            ("[1]", "array"),
        ] {
            let expect = format!("json: cannot unmarshal {found} into Go value of type int32");
            assert_eq!(IntOrString::from_json(json).unwrap_err().to_string(), expect);
        }
    }

    #[test]
    fn parses_text() {
        for (text, expect, value) in [
            ("8080", IntOrString::Int(8080), 8080),
            ("http", "http".into(), 0),
            ("2147483648", "2147483648".into(), 1 << 31),
        ] {
            let parsed = IntOrString::parse(text);
            assert_eq!((parsed.int_value(), parsed.to_string().as_str()), (value, text));
            assert_eq!(parsed, expect);
        }
    }

    #[test]
    fn scales_percentages() {
        let cases = [("25%", 10, 3, 2), ("100%", 7, 7, 7), ("0%", 7, 0, 0), ("-10%", 15, -1, -2), ("33%", 3, 1, 0)];
        for (text, total, up, down) in cases {
            let value = IntOrString::from(text);
            assert_eq!(value.scaled_value(total, true), Ok(up), "{text}");
            assert_eq!(value.scaled_value(total, false), Ok(down), "{text}");
        }
        assert_eq!(IntOrString::Int(4).scaled_value(10, true), Ok(4));
        let errors = [
            ("5", "invalid value for IntOrString: invalid type: string is not a percentage"),
            ("x%", "invalid value for IntOrString: invalid value \"x%\": strconv.Atoi: parsing \"x\": invalid syntax"),
            (
                "99999999999999999999%",
                "invalid value for IntOrString: invalid value \"99999999999999999999%\": strconv.Atoi: \
                 parsing \"99999999999999999999\": value out of range",
            ),
        ];
        for (text, expect) in errors {
            assert_eq!(IntOrString::from(text).scaled_value(10, true).unwrap_err().to_string(), expect);
        }
    }
}
