//! Durations (upstream: `metav1.Duration`): nanoseconds in Go's notation, `1h2m3.5s`.

use super::digits::append_u64;
use super::error::ScalarError;
use super::go_text::quote_time;
use super::json_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

const SECOND: u64 = 1_000_000_000;

/// The magnitude of the smallest duration, one more than that of the largest.
const LIMIT: u64 = 1 << 63;

/// A signed duration (upstream `metav1.Duration`).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(i64);

impl Duration {
    /// A duration in nanoseconds, as in protobuf.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// A duration in seconds.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(SECOND as i64))
    }

    /// The duration in nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Parses Go's notation (`time.ParseDuration`).
    ///
    /// # Errors
    /// [`ScalarError::Duration`] when the text is not a duration, or exceeds 64 bits of
    /// nanoseconds.
    pub fn parse(text: &str) -> Result<Self, ScalarError> {
        let invalid = || refuse("invalid duration", text);
        let negative = text.starts_with('-');
        let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        if rest == "0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total = 0u64;
        while !rest.is_empty() {
            let (nanos, after) = parse_term(rest, text)?;
            total = total.checked_add(nanos).filter(|total| *total <= LIMIT).ok_or_else(invalid)?;
            rest = after;
        }
        match i64::try_from(total) {
            Ok(nanos) => Ok(Self(if negative { -nanos } else { nanos })),
            Err(_) if negative => Ok(Self(i64::MIN)),
            Err(_) => Err(invalid()),
        }
    }

    /// Decodes a JSON string. As in upstream's `Duration.UnmarshalJSON`, `null` is rejected like an
    /// empty string.
    ///
    /// # Errors
    /// [`ScalarError`] when the value is not a string, or the string is not a duration.
    pub fn from_json(value: &str) -> Result<Self, ScalarError> {
        Self::parse(&json_text::decode_string(value)?)
    }

    /// Appends Go's notation (`time.Duration.String`).
    pub fn append_to(self, out: &mut Vec<u8>) {
        if self.0 < 0 {
            out.push(b'-');
        }
        let nanos = self.0.unsigned_abs();
        match nanos {
            0 => out.extend_from_slice(b"0s"),
            1..1_000 => append_unit(out, nanos, 1, "ns"),
            1_000..1_000_000 => append_unit(out, nanos, 1_000, "µs"),
            1_000_000..SECOND => append_unit(out, nanos, 1_000_000, "ms"),
            _ => append_clock(out, nanos),
        }
    }
}

/// Parses one number with its unit; `text` is the whole text, for the error.
fn parse_term<'a>(term: &'a str, text: &str) -> Result<(u64, &'a str), ScalarError> {
    let invalid = || refuse("invalid duration", text);
    let (integer, after) = split_digits(term);
    let (fraction, after) = after.strip_prefix('.').map_or(("", after), split_digits);
    if integer.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let whole = leading_integer(integer).ok_or_else(invalid)?;
    let end = after.find(|character: char| character == '.' || character.is_ascii_digit()).unwrap_or(after.len());
    let (unit_name, after) = after.split_at(end);
    if unit_name.is_empty() {
        return Err(refuse("missing unit in duration", text));
    }
    let unit = unit_nanos(unit_name)
        .ok_or_else(|| refuse(&format!("unknown unit {} in duration", quote_time(unit_name)), text))?;
    let nanos = whole.checked_mul(unit).filter(|nanos| *nanos <= LIMIT).ok_or_else(invalid)?;
    let nanos = nanos + fraction_nanos(fraction, unit);
    if nanos > LIMIT {
        return Err(invalid());
    }
    Ok((nanos, after))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn leading_integer(digits: &str) -> Option<u64> {
    digits.bytes().try_fold(0u64, |value, digit| {
        let value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        (value <= LIMIT).then_some(value)
    })
}

/// The fraction of a unit in nanoseconds.
///
/// As in Go, digits that do not fit are dropped, and the product is computed in floating point,
/// which determines the last nanosecond.
fn fraction_nanos(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for digit in digits.bytes() {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    })
}

fn refuse(message: &str, text: &str) -> ScalarError {
    ScalarError::duration(format_args!("time: {message} {}", quote_time(text)))
}

fn append_clock(out: &mut Vec<u8>, nanos: u64) {
    let seconds = nanos / SECOND;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        append_u64(out, hours);
        out.push(b'h');
    }
    if seconds >= 60 {
        append_u64(out, minutes);
        out.push(b'm');
    }
    append_unit(out, nanos % (60 * SECOND), SECOND, "s");
}

/// Appends `nanos / unit` with its fraction, trailing zeros dropped, and the name of the unit.
fn append_unit(out: &mut Vec<u8>, nanos: u64, unit: u64, name: &str) {
    append_u64(out, nanos / unit);
    let mut fraction = nanos % unit;
    let mut place = unit / 10;
    if fraction > 0 {
        out.push(b'.');
    }
    while fraction > 0 {
        out.push(b'0' + (fraction / place) as u8);
        fraction %= place;
        place /= 10;
    }
    out.extend_from_slice(name.as_bytes());
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(24);
        self.append_to(&mut out);
        f.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Duration({self})")
    }
}

impl FromStr for Duration {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_as_go_does() {
        let cases = [
            ("0", "0s"),
            ("0s", "0s"),
            ("1h2m3s", "1h2m3s"),
            ("1.5s", "1.5s"),
            ("100ms", "100ms"),
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("-1.5h", "-1h30m0s"),
            ("+5s", "5s"),
            ("1us", "1µs"),
            ("1.5µs", "1.5µs"),
            ("3μs", "3µs"),
            ("1500ns", "1.5µs"),
            ("999ns", "999ns"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("1h0.000000001s", "1h0m0.000000001s"),
            ("2562047h47m16.854775807s", "2562047h47m16.854775807s"),
            ("-2562047h47m16.854775808s", "-2562047h47m16.854775808s"),
            ("0.3333333333333333333h", "20m0s"),
            ("0.100000000000000000000h", "6m0s"),
            ("3600s", "1h0m0s"),
        ];
        for (text, expect) in cases {
            assert_eq!(Duration::parse(text).map(|duration| duration.to_string()), Ok(expect.to_string()), "{text}");
        }
    }

    #[test]
    fn errors_match_go() {
        let cases = [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            ("3", "time: missing unit in duration \"3\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            (".s", "time: invalid duration \".s\""),
            ("s", "time: invalid duration \"s\""),
            ("1 s", "time: unknown unit \" s\" in duration \"1 s\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("1é", "time: unknown unit \"\\xc3\\xa9\" in duration \"1\\xc3\\xa9\""),
            ("99999999999999999999s", "time: invalid duration \"99999999999999999999s\""),
        ];
        for (text, expect) in cases {
            assert_eq!(Duration::parse(text).unwrap_err().to_string(), expect);
        }
    }

    #[test]
    fn is_a_string_in_json() {
        assert_eq!(serde_json::to_string(&Duration::from_secs(90)).unwrap(), "\"1m30s\"");
        assert_eq!(serde_json::from_str::<Duration>("\"1m30s\"").unwrap(), Duration::from_secs(90));
        assert_eq!(Duration::from_json("null").unwrap_err().to_string(), "time: invalid duration \"\"");
        let wrong = Duration::from_json("[]").unwrap_err().to_string();
        assert_eq!(wrong, "json: cannot unmarshal array into Go value of type string");
    }
}
