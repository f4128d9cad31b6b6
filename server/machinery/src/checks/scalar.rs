//! Assertions about numbers, texts, quantities, bytes and raw JSON.

use super::of::Of;
use super::{Assertion, or};
use crate::field_error::{BadValue, FieldError};
use crate::format;
use crate::hooks::Validation;
use crate::json;
use crate::reflect::Value;
use crate::scalar::{IntOrString, Quantity};

impl Validation<'_> {
    pub(super) fn assert_scalar(&mut self, assertion: &Assertion, of: &Of<'_>) {
        match of.new {
            Value::I32(number) => self.assert_number(assertion, of, number.into()),
            Value::I64(number) => self.assert_number(assertion, of, number),
            Value::IntOrString(IntOrString::Int(number)) => self.assert_number(assertion, of, (*number).into()),
            Value::IntOrString(IntOrString::String(text)) => self.assert_text(assertion, of, text),
            Value::String(text) => self.assert_text(assertion, of, text),
            Value::Quantity(quantity) => self.assert_quantity(assertion, of, quantity),
            Value::RawExtension(raw) => self.assert_raw(assertion, of, raw.as_bytes()),
            Value::List(_) | Value::Map(_) => match *assertion {
                Assertion::MaxTotal(max) if of.total_bytes() > max => self.too_long(of.path, max),
                Assertion::OneOf(known) if of.has_other(known) => self.not_supported(of.path, of.shown(), known),
                _ => {}
            },
            Value::Bytes(bytes) => self.assert_bytes(assertion, of, bytes),
            _ => {}
        }
    }

    fn assert_number(&mut self, assertion: &Assertion, of: &Of<'_>, number: i64) {
        let mut refuse = |detail: &'static str, usual: &dyn Fn() -> String| match detail {
            "" => self.invalid(of.path, number, usual()),
            detail => self.invalid(of.path, number, detail),
        };
        match *assertion {
            Assertion::Min(min, detail) if number < min => {
                refuse(detail, &|| format!("must be greater than or equal to {min}"));
            }
            Assertion::Max(max, detail) if number > max => {
                refuse(detail, &|| format!("must be less than or equal to {max}"));
            }
            Assertion::Range(min, max, detail) if !(min..=max).contains(&number) => {
                refuse(detail, &|| format!("must be between {min} and {max}, inclusive"));
            }
            Assertion::Positive(detail) if number <= 0 => refuse(detail, &|| "must be greater than zero".into()),
            Assertion::NotNegative(detail) if number < 0 => {
                refuse(detail, &|| "must be greater than or equal to 0".into());
            }
            Assertion::Port => {
                format::is_valid_port_num(number).into_iter().for_each(|why| self.invalid(of.path, number, why));
            }
            _ => {}
        }
    }

    fn assert_text(&mut self, assertion: &Assertion, of: &Of<'_>, text: &str) {
        match *assertion {
            Assertion::MaxBytes(max, detail) if text.len() > max => match detail {
                "" => self.too_long(of.path, max),
                detail => self.invalid(of.path, of.shown(), detail),
            },
            Assertion::Format(format) => self.errors.extend(format(of.path, text)),
            Assertion::Name(rule) => {
                rule.check(text, false).into_iter().for_each(|why| self.invalid(of.path, of.shown_plain(), why));
            }
            Assertion::OneOf(known) if !known.contains(&text) => self.not_supported(of.path, of.shown(), known),
            Assertion::Port => self.malformed(of.path, text, format::is_valid_port_name(text)),
            _ => {}
        }
    }

    fn assert_quantity(&mut self, assertion: &Assertion, of: &Of<'_>, quantity: &Quantity) {
        if let Assertion::Min(..) | Assertion::Max(..) = assertion {
            return self.assert_number(assertion, of, quantity.value());
        }
        let sign = quantity.sign();
        let detail = match *assertion {
            Assertion::Positive(detail) if !sign.is_gt() => or(detail, "must be greater than zero"),
            Assertion::NotNegative(detail) if sign.is_lt() => or(detail, "must be greater than or equal to 0"),
            _ => return,
        };
        self.invalid(of.path, BadValue::json_string(&quantity.to_string()), detail);
    }

    /// Messages do not show raw JSON.
    fn assert_raw(&mut self, assertion: &Assertion, of: &Of<'_>, bytes: &[u8]) {
        const OMITTED: &str = "<value omitted>";
        match *assertion {
            Assertion::MaxBytes(max, _) if bytes.len() > max => self.errors.push(FieldError::too_long(of.path, max)),
            Assertion::JsonObject if !bytes.is_empty() => match json::parse(bytes, &mut json::Issues::ignore()) {
                Err(why) => self.invalid(of.path, OMITTED, format!("error parsing data as JSON: {why}")),
                Ok(json::Value::Null) => self.required(of.path, ""),
                Ok(json::Value::Object(_)) => {}
                Ok(_) => self.invalid(of.path, OMITTED, "must be a valid JSON object"),
            },
            _ => {}
        }
    }

    fn assert_bytes(&mut self, assertion: &Assertion, of: &Of<'_>, bytes: &[u8]) {
        if let Assertion::MaxBytes(max, _) = *assertion
            && bytes.len() > max
        {
            self.too_long(of.path, max);
        }
    }
}
