//! Resource quantities: `100m`, `1536Mi`, `1e3` (upstream: `apimachinery/pkg/api/resource`).
//!
//! Nearly every quantity is an `i64` with a decimal scale, which a [`Quantity`] holds inline, in 16
//! bytes. Other values are in a box: numbers that are too wide, and texts that upstream returns
//! unchanged although they are not canonical, such as `+1` or `1.500`.

mod amount;
mod canonical;
mod parse;

use super::decimal::Decimal;
use super::error::ScalarError;
use amount::Scaled;
pub use canonical::is_plainly_canonical;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The scales that upstream names, as powers of ten.
pub mod scale {
    /// `10^-9`
    pub const NANO: i32 = -9;
    /// `10^-6`
    pub const MICRO: i32 = -6;
    /// `10^-3`
    pub const MILLI: i32 = -3;
    /// `10^3`
    pub const KILO: i32 = 3;
    /// `10^6`
    pub const MEGA: i32 = 6;
    /// `10^9`
    pub const GIGA: i32 = 9;
}

/// The preferred notation of a quantity (upstream `resource.Format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `12e6`; also upstream's notation for a quantity without a format.
    #[default]
    DecimalExponent,
    /// `12Mi`, powers of 1024.
    BinarySI,
    /// `12M`, powers of 1000.
    DecimalSI,
}

/// A fixed-point number (upstream `resource.Quantity`). Equality and order compare the number, not
/// the text.
///
/// ```
/// use scalar::Quantity;
///
/// let memory = Quantity::parse("1.5Gi")?;
/// assert_eq!((memory.value(), memory.to_string().as_str()), (1_610_612_736, "1536Mi"));
/// assert_eq!(Quantity::parse("250m")?.milli_value(), 250);
/// assert_eq!(Quantity::parse("1500m")?, Quantity::parse("1.5")?);
/// # Ok::<(), scalar::ScalarError>(())
/// ```
#[derive(Clone)]
pub struct Quantity(Repr);

#[derive(Clone)]
enum Repr {
    Small { value: i64, scale: i32, format: Format },
    Large(Box<Large>),
}

#[derive(Clone)]
struct Large {
    amount: Amount,
    format: Format,
    /// The text of the client, if upstream keeps it although it is not canonical.
    text: Option<Box<str>>,
}

#[derive(Clone)]
enum Amount {
    Scaled(Scaled),
    Decimal(Decimal),
}

enum AmountRef<'a> {
    Scaled(Scaled),
    Decimal(&'a Decimal),
}

impl AmountRef<'_> {
    fn to_decimal(&self) -> Decimal {
        match self {
            Self::Scaled(scaled) => scaled.to_decimal(),
            Self::Decimal(decimal) => (*decimal).clone(),
        }
    }
}

impl Quantity {
    /// Zero, the value of an absent field.
    pub const ZERO: Self = Self(Repr::Small { value: 0, scale: 0, format: Format::DecimalExponent });

    /// `value` in the given format (upstream `NewQuantity`).
    pub const fn new(value: i64, format: Format) -> Self {
        Self::with_scale(value, 0, format)
    }

    /// `value / 1000` in the given format (upstream `NewMilliQuantity`).
    pub const fn from_milli(value: i64, format: Format) -> Self {
        Self::with_scale(value, scale::MILLI, format)
    }

    /// `value * 10^scale` in the given format (upstream `NewScaledQuantity`).
    pub const fn with_scale(value: i64, scale: i32, format: Format) -> Self {
        Self(Repr::Small { value, scale, format })
    }

    /// Decodes a JSON string or number literal, or `null`. Like upstream's
    /// `Quantity.UnmarshalJSON`, it neither resolves escapes nor rejects blanks around the number.
    ///
    /// # Errors
    /// As [`Self::parse`], when the literal is not a quantity.
    pub fn from_json(literal: &str) -> Result<Self, ScalarError> {
        if literal == "null" {
            return Ok(Self::ZERO);
        }
        let unquoted = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(literal);
        Self::parse(unquoted.trim())
    }

    /// The preferred notation.
    pub fn format(&self) -> Format {
        match &self.0 {
            Repr::Small { format, .. } => *format,
            Repr::Large(large) => large.format,
        }
    }

    /// Appends the text form, which JSON (with quotes) and protobuf use.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        if let Repr::Large(large) = &self.0
            && let Some(text) = &large.text
        {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        self.append_canonical(out);
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.sign().is_eq()
    }

    /// The sign of the number.
    pub fn sign(&self) -> Ordering {
        match self.amount() {
            AmountRef::Scaled(scaled) => scaled.value.cmp(&0),
            AmountRef::Decimal(decimal) => decimal.sign(),
        }
    }

    /// The number rounded up to an integer.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// A thousand times the number, rounded up to an integer.
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(scale::MILLI)
    }

    /// The number divided by `10^scale`, rounded up. As in upstream, an out-of-range result is
    /// wrapped or 0.
    pub fn scaled_value(&self, scale: i32) -> i64 {
        match self.amount() {
            AmountRef::Scaled(scaled) => scaled.wrapped_scaled_i64(scale),
            AmountRef::Decimal(decimal) => decimal.scaled_i64(scale),
        }
    }

    /// The number if it is an integer that was written as one and fits (upstream `AsInt64`).
    pub fn as_i64(&self) -> Option<i64> {
        match self.amount() {
            AmountRef::Scaled(scaled) if scaled.scale >= 0 => scaled.scaled_i64(0),
            _ => None,
        }
    }

    /// The approximate number as a float (upstream `AsApproximateFloat64`).
    pub fn as_approximate_f64(&self) -> f64 {
        let (base, exponent) = match self.amount() {
            AmountRef::Scaled(scaled) => (scaled.value as f64, scaled.scale),
            AmountRef::Decimal(decimal) => (decimal.unscaled_f64(), decimal.exponent),
        };
        if exponent == 0 { base } else { base * amount::go_pow10(exponent) }
    }

    /// The number rounded up (away from zero) to a multiple of `10^scale`; true if the result is
    /// exact.
    pub fn as_scale(&self, scale: i32) -> (Self, bool) {
        match self.amount() {
            AmountRef::Scaled(scaled) => {
                let (rounded, exact) = scaled.round_up(scale);
                (Self::from_scaled(rounded, self.format()), exact)
            }
            AmountRef::Decimal(decimal) => {
                let (rounded, exact) = decimal.round_up(scale);
                (Self::from_decimal(rounded, self.format()), exact)
            }
        }
    }

    /// Rounds in place to a multiple of `10^scale` (upstream `RoundUp`); true if the result is
    /// exact.
    pub fn round_up(&mut self, scale: i32) -> bool {
        if let AmountRef::Scaled(scaled) = self.amount()
            && scaled.scale >= scale
        {
            return true; // The text of the client is kept.
        }
        let (rounded, exact) = self.as_scale(scale);
        *self = rounded;
        exact
    }

    /// Adds in place. Zero takes the format of the operand.
    pub fn add(&mut self, other: &Self) {
        let format = if self.is_zero() { other.format() } else { self.format() };
        let sum = match (self.amount(), other.amount()) {
            (AmountRef::Scaled(a), AmountRef::Scaled(b)) => a.checked_add(b),
            _ => None,
        };
        *self = match sum {
            Some(sum) => Self::from_scaled(sum, format),
            None => Self::from_decimal(self.to_decimal().add(&other.to_decimal()), format),
        };
    }

    /// Subtracts in place. Zero takes the format of the operand.
    pub fn sub(&mut self, other: &Self) {
        let mut negated = other.clone();
        negated.neg();
        self.add(&negated);
    }

    /// Multiplies in place.
    pub fn mul(&mut self, factor: i64) {
        let format = self.format();
        let product = match self.amount() {
            AmountRef::Scaled(scaled) => scaled.checked_mul(factor),
            AmountRef::Decimal(_) => None,
        };
        *self = match product {
            Some(product) => Self::from_scaled(product, format),
            None => {
                let decimal = self.to_decimal();
                Self::from_decimal(Decimal { unscaled: decimal.unscaled * factor, ..decimal }, format)
            }
        };
    }

    /// Changes the sign in place.
    pub fn neg(&mut self) {
        let format = self.format();
        *self = match self.amount() {
            AmountRef::Scaled(scaled) => match scaled.value.checked_neg() {
                Some(value) => Self::with_scale(value, scaled.scale, format),
                None => Self::from_decimal(scaled.to_decimal().neg(), format),
            },
            AmountRef::Decimal(decimal) => Self::from_decimal(decimal.neg(), format),
        };
    }

    /// Compares with an integer.
    pub fn cmp_i64(&self, other: i64) -> Ordering {
        self.cmp(&Self::new(other, Format::DecimalSI))
    }

    fn from_scaled(scaled: Scaled, format: Format) -> Self {
        Self::with_scale(scaled.value, scaled.scale, format)
    }

    fn from_decimal(decimal: Decimal, format: Format) -> Self {
        Self(Repr::Large(Box::new(Large { amount: Amount::Decimal(decimal), format, text: None })))
    }

    fn amount(&self) -> AmountRef<'_> {
        match &self.0 {
            Repr::Small { value, scale, .. } => AmountRef::Scaled(Scaled { value: *value, scale: *scale }),
            Repr::Large(large) => match &large.amount {
                Amount::Scaled(scaled) => AmountRef::Scaled(*scaled),
                Amount::Decimal(decimal) => AmountRef::Decimal(decimal),
            },
        }
    }

    fn to_decimal(&self) -> Decimal {
        self.amount().to_decimal()
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.amount(), other.amount()) {
            (AmountRef::Scaled(a), AmountRef::Scaled(b)) => a.compare(b),
            (a, b) => a.to_decimal().compare(&b.to_decimal()),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(24);
        self.append_to(&mut out);
        f.pad(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({self})")
    }
}

impl FromStr for Quantity {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl serde::de::Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        Quantity::parse(text.trim()).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
        Ok(Quantity::ZERO)
    }
}

#[cfg(test)]
mod tests;
