//! Points in time (upstream: `metav1.Time` and `metav1.MicroTime`) in UTC.
//!
//! Both types are one word with a niche, so an `Option` of them is one word, too. The default is
//! Go's zero time (year 1), which means "not set": JSON encodes it as `null`, protobuf as an empty
//! message.

use super::digits::append_padded;
use super::error::ScalarError;
use super::json_text;
use super::rfc3339::{self, Fraction};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::SystemTime;

/// Go's zero time, 0001-01-01T00:00:00Z, in seconds since 1970.
const GO_ZERO_SECONDS: i64 = -62_135_596_800;

const MICROS: i64 = 1_000_000;

/// The first and the last second that RFC 3339 can represent, in the years 0 and 9999, in seconds
/// since 1970.
const FIRST_SECOND: i64 = -62_167_219_200;
const LAST_SECOND: i64 = 253_402_300_799;

const fn between(value: i64, first: i64, last: i64) -> i64 {
    if value < first {
        first
    } else if value > last {
        last
    } else {
        value
    }
}

/// A signed number in an ordered, nonzero encoding; the lowest `i64` decodes as the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Ticks(NonZeroU64);

impl Ticks {
    const fn new(value: i64) -> Self {
        match NonZeroU64::new((value as u64) ^ (1 << 63)) {
            Some(encoded) => Self(encoded),
            None => Self(NonZeroU64::MIN),
        }
    }

    const fn get(self) -> i64 {
        (self.0.get() ^ (1 << 63)) as i64
    }
}

/// A point in time with a precision of a second (upstream `metav1.Time`). Parsing drops fractions
/// of a second; upstream keeps them in memory but never writes them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Ticks);

impl Time {
    /// The unset time.
    pub const ZERO: Self = Self::from_unix(GO_ZERO_SECONDS);

    /// The latest time, at the end of the year 9999.
    pub const MAX: Self = Self::from_unix(LAST_SECOND);

    /// A time in seconds since 1970, as in protobuf, clamped to the range of RFC 3339.
    pub const fn from_unix(seconds: i64) -> Self {
        Self(Ticks::new(between(seconds, FIRST_SECOND, LAST_SECOND)))
    }

    /// Adds seconds, clamped to the range of RFC 3339.
    pub const fn saturating_add(self, seconds: i64) -> Self {
        Self::from_unix(self.unix().saturating_add(seconds))
    }

    /// Seconds since 1970.
    pub const fn unix(self) -> i64 {
        self.0.get()
    }

    /// Whether the time is unset.
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Parses RFC 3339 text.
    ///
    /// # Errors
    /// [`ScalarError::Time`] when the text is not RFC 3339, or the date does not exist.
    pub fn parse(text: &str) -> Result<Self, ScalarError> {
        Ok(Self::from_unix(rfc3339::parse(text, Fraction::Optional)?.seconds))
    }

    /// Decodes a JSON value: a string or `null` (upstream `Time.UnmarshalJSON`).
    ///
    /// # Errors
    /// [`ScalarError`] when the value is neither a string nor `null`, or as [`Self::parse`].
    pub fn from_json(value: &str) -> Result<Self, ScalarError> {
        match value {
            "null" => Ok(Self::ZERO),
            _ => Self::parse(&json_text::decode_string(value)?),
        }
    }

    /// Appends RFC 3339 text, even for the zero time.
    pub fn append_to(self, out: &mut Vec<u8>) {
        rfc3339::append_date_time(out, self.unix());
        out.push(b'Z');
    }

    /// Appends the JSON value: a string, or `null` for the zero time.
    pub fn append_json(self, out: &mut Vec<u8>) {
        append_json(out, self.is_zero(), |out| self.append_to(out));
    }
}

/// A point in time with a precision of a microsecond (upstream `metav1.MicroTime`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(Ticks);

impl MicroTime {
    /// The unset time.
    pub const ZERO: Self = Self::from_unix_micros(GO_ZERO_SECONDS * MICROS);

    /// A time in microseconds since 1970, clamped to the range of RFC 3339.
    pub const fn from_unix_micros(micros: i64) -> Self {
        Self(Ticks::new(between(micros, FIRST_SECOND * MICROS, LAST_SECOND * MICROS + (MICROS - 1))))
    }

    /// A time in seconds and nanoseconds since 1970, as in protobuf, truncated to microseconds.
    pub const fn from_unix(seconds: i64, nanos: i32) -> Self {
        Self::from_unix_micros(seconds.saturating_mul(MICROS).saturating_add((nanos / 1000) as i64))
    }

    /// Microseconds since 1970.
    pub const fn unix_micros(self) -> i64 {
        self.0.get()
    }

    /// Seconds since 1970, and nanoseconds of the second, as in protobuf.
    pub const fn unix(self) -> (i64, i32) {
        let micros = self.unix_micros();
        (micros.div_euclid(MICROS), micros.rem_euclid(MICROS) as i32 * 1000)
    }

    /// Whether the time is unset.
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }

    /// Parses RFC 3339 text with exactly six digits of fraction.
    ///
    /// # Errors
    /// [`ScalarError::Time`] when the text is not RFC 3339 with six digits of fraction, or the date
    /// does not exist.
    pub fn parse(text: &str) -> Result<Self, ScalarError> {
        let instant = rfc3339::parse(text, Fraction::Micro)?;
        Ok(Self::from_unix_micros(instant.seconds * MICROS + i64::from(instant.nanos / 1000)))
    }

    /// Decodes a JSON value: a string or `null` (upstream `MicroTime.UnmarshalJSON`).
    ///
    /// # Errors
    /// [`ScalarError`] when the value is neither a string nor `null`, or as [`Self::parse`].
    pub fn from_json(value: &str) -> Result<Self, ScalarError> {
        match value {
            "null" => Ok(Self::ZERO),
            _ => Self::parse(&json_text::decode_string(value)?),
        }
    }

    /// Appends RFC 3339 text with six digits of fraction, even for the zero time.
    pub fn append_to(self, out: &mut Vec<u8>) {
        let micros = self.unix_micros();
        rfc3339::append_date_time(out, micros.div_euclid(MICROS));
        out.push(b'.');
        append_padded(out, micros.rem_euclid(MICROS) as u64, 6);
        out.push(b'Z');
    }

    /// Appends the JSON value: a string, or `null` for the zero time.
    pub fn append_json(self, out: &mut Vec<u8>) {
        append_json(out, self.is_zero(), |out| self.append_to(out));
    }
}

fn append_json(out: &mut Vec<u8>, is_zero: bool, append: impl FnOnce(&mut Vec<u8>)) {
    if is_zero {
        return out.extend_from_slice(b"null");
    }
    out.push(b'"');
    append(out);
    out.push(b'"');
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Self::from_unix(MicroTime::from(time).unix().0)
    }
}

impl From<SystemTime> for MicroTime {
    fn from(time: SystemTime) -> Self {
        let micros = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => since.as_micros() as i64,
            Err(before) => -(before.duration().as_nanos().div_ceil(1000) as i64),
        };
        Self::from_unix_micros(micros)
    }
}

impl From<MicroTime> for Time {
    fn from(time: MicroTime) -> Self {
        if time.is_zero() { Self::ZERO } else { Self::from_unix(time.unix().0) }
    }
}

impl From<Time> for MicroTime {
    fn from(time: Time) -> Self {
        Self::from_unix(time.unix(), 0)
    }
}

/// Implements the traits of both types.
macro_rules! time_traits {
    ($time:ident) => {
        impl Default for $time {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl fmt::Display for $time {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = Vec::with_capacity(32);
                self.append_to(&mut out);
                f.pad(&String::from_utf8_lossy(&out))
            }
        }

        impl fmt::Debug for $time {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($time))
            }
        }

        impl FromStr for $time {
            type Err = ScalarError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl Serialize for $time {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.is_zero() { serializer.serialize_none() } else { serializer.collect_str(self) }
            }
        }

        impl<'de> Deserialize<'de> for $time {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)? {
                    Some(text) => text.parse().map_err(serde::de::Error::custom),
                    None => Ok(Self::ZERO),
                }
            }
        }
    };
}

time_traits!(Time);
time_traits!(MicroTime);

#[cfg(test)]
mod tests;
