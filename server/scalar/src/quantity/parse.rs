//! Parses quantities (upstream: `ParseQuantity`), with upstream's rounding, limits and quirks.

use super::super::decimal::Decimal;
use super::super::error::ScalarError;
use super::{Amount, Format, Large, Quantity, Repr, Scaled, scale};
use num_bigint::BigInt;
use std::cmp::Ordering;

/// The number of decimal digits that always fit an `i64`.
const FAST_DIGITS: i32 = 18;

/// Limit on the number of digits, because arithmetic on long numbers is expensive. Upstream has no
/// limit.
const MAX_DIGITS: usize = 4096;

/// The parts of the text of a quantity.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros; `0` if there are none.
    integer: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether the text has any digits.
    has_digits: bool,
    suffix: &'a str,
}

impl Quantity {
    /// Parses the text form (upstream `ParseQuantity`).
    ///
    /// # Errors
    /// [`ScalarError::QuantityFormat`], [`QuantityNumeric`](ScalarError::QuantityNumeric) or
    /// [`QuantitySuffix`](ScalarError::QuantitySuffix) when the text is not a quantity.
    pub fn parse(text: &str) -> Result<Self, ScalarError> {
        parse(text)
    }
}

fn parse(text: &str) -> Result<Quantity, ScalarError> {
    if text.is_empty() {
        return Err(ScalarError::QuantityFormat);
    }
    let parts = split(text)?;
    let (exponent, format) = interpret_suffix(parts.suffix).ok_or(ScalarError::QuantitySuffix)?;
    match parse_scaled(text, &parts, exponent, format) {
        Some(quantity) => Ok(quantity),
        None => parse_decimal(&parts, exponent, format),
    }
}

/// Splits the text like upstream's scanner.
fn split(text: &str) -> Result<Parts<'_>, ScalarError> {
    let bytes = text.as_bytes();
    let negative = bytes[0] == b'-';
    let unsigned = usize::from(negative || bytes[0] == b'+');
    let start = skip(bytes, unsigned, |byte| byte == b'0');
    let mut parts = Parts {
        negative,
        integer: "0",
        fraction: "",
        has_digits: start > unsigned || start == bytes.len(),
        suffix: "",
    };
    if start == bytes.len() {
        return Ok(parts); // Only a sign and zeros; a lone sign counts as zero.
    }
    let mut at = skip(bytes, start, |byte| byte.is_ascii_digit());
    if at > start {
        parts.integer = &text[start..at];
        parts.has_digits = true;
    }
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = skip(bytes, fraction, |byte| byte.is_ascii_digit());
        parts.fraction = &text[fraction..at];
        parts.has_digits |= at > fraction;
    }
    parts.suffix = split_suffix(text, at)?;
    Ok(parts)
}

fn split_suffix(text: &str, start: usize) -> Result<&str, ScalarError> {
    let bytes = text.as_bytes();
    let mut at = skip(bytes, start, |byte| b"eEinumkKMGTP".contains(&byte));
    if matches!(bytes.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    at = skip(bytes, at, |byte| byte.is_ascii_digit());
    if at == bytes.len() { Ok(&text[start..]) } else { Err(ScalarError::QuantityFormat) }
}

fn skip(bytes: &[u8], from: usize, accept: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take_while(|byte| accept(**byte)).count()
}

/// The exponent (of two for [`Format::BinarySI`], of ten otherwise) and the format of a suffix.
fn interpret_suffix(suffix: &str) -> Option<(i32, Format)> {
    let si = match suffix {
        "" => (0, Format::DecimalSI),
        "n" => (-9, Format::DecimalSI),
        "u" => (-6, Format::DecimalSI),
        "m" => (-3, Format::DecimalSI),
        "k" => (3, Format::DecimalSI),
        "M" => (6, Format::DecimalSI),
        "G" => (9, Format::DecimalSI),
        "T" => (12, Format::DecimalSI),
        "P" => (15, Format::DecimalSI),
        "E" => (18, Format::DecimalSI),
        "Ki" => (10, Format::BinarySI),
        "Mi" => (20, Format::BinarySI),
        "Gi" => (30, Format::BinarySI),
        "Ti" => (40, Format::BinarySI),
        "Pi" => (50, Format::BinarySI),
        "Ei" => (60, Format::BinarySI),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (exponent as i32, Format::DecimalExponent) // Upstream also truncates.
        }
    };
    Some(si)
}

/// The fast path: numbers that certainly fit an `i64` with a scale of at least nano.
fn parse_scaled(text: &str, parts: &Parts<'_>, exponent: i32, format: Format) -> Option<Quantity> {
    let digits = (parts.integer.len() + parts.fraction.len()) as i32;
    let (multiplier, exponent, precision) = match format {
        Format::DecimalExponent | Format::DecimalSI => (1, exponent, FAST_DIGITS - digits),
        Format::BinarySI if !parts.fraction.is_empty() => return None,
        Format::BinarySI => (1i64 << exponent, 0, 14 - digits - exponent * 3 / 10),
    };
    let scale = exponent.wrapping_sub(parts.fraction.len() as i32);
    if precision < 0 || scale < scale::NANO {
        return None;
    }
    let mantissa = parts.integer.bytes().chain(parts.fraction.bytes());
    let mantissa = mantissa.fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    let value = mantissa.checked_mul(multiplier)?;
    let value = if parts.negative { -value } else { value };
    let quantity = Quantity::with_scale(value, scale, format);
    Some(if keeps_text(parts, mantissa, scale, format) { keep_text(quantity, text, parts) } else { quantity })
}

/// Whether upstream treats the text as canonical and returns it unchanged.
fn keeps_text(parts: &Parts<'_>, mantissa: i64, scale: i32, format: Format) -> bool {
    if format == Format::BinarySI {
        return mantissa & 7 != 0;
    }
    scale % 3 == 0 && mantissa % 1000 != 0 && !parts.integer.starts_with('0')
}

/// Attaches the text if it differs from the canonical form. In the plain cases it cannot differ.
fn keep_text(quantity: Quantity, text: &str, parts: &Parts<'_>) -> Quantity {
    let plain_length = usize::from(parts.negative) + parts.integer.len() + parts.suffix.len();
    if plain_length == text.len() && quantity.format() != Format::DecimalExponent {
        return quantity;
    }
    let mut canonical = Vec::with_capacity(24);
    quantity.append_canonical(&mut canonical);
    match quantity.0 {
        Repr::Small { value, scale, format } if canonical != text.as_bytes() => {
            let amount = Amount::Scaled(Scaled { value, scale });
            Quantity(Repr::Large(Box::new(Large { amount, format, text: Some(text.into()) })))
        }
        _ => quantity,
    }
}

/// The slow path: any number of digits, rounded up to nano and, in binary notation, limited.
fn parse_decimal(parts: &Parts<'_>, exponent: i32, mut format: Format) -> Result<Quantity, ScalarError> {
    let digits = [parts.integer, parts.fraction].concat();
    if !parts.has_digits || digits.len() > MAX_DIGITS {
        return Err(ScalarError::QuantityNumeric);
    }
    let mut unscaled: BigInt = digits.parse().map_err(|_| ScalarError::QuantityNumeric)?;
    let fraction = parts.fraction.len() as i32;
    let exponent = if format == Format::BinarySI {
        unscaled <<= exponent;
        -fraction
    } else {
        exponent.wrapping_sub(fraction)
    };
    let mut amount = Decimal::new(unscaled, exponent);
    if amount.sign().is_gt() {
        amount = amount.round_up(scale::NANO).0;
    }
    if format == Format::BinarySI {
        (amount, format) = limit_binary(amount);
    }
    if parts.negative {
        amount = amount.neg();
    }
    Ok(Quantity::from_decimal(amount, format))
}

/// Limits a binary quantity to the largest `i64`, and uses decimal notation for fractions below
/// one.
fn limit_binary(amount: Decimal) -> (Decimal, Format) {
    let max = Decimal::new(i64::MAX, 0);
    if amount.compare(&max).is_gt() {
        return (max, Format::BinarySI);
    }
    let below_one = amount.sign().is_gt() && amount.compare(&Decimal::new(1, 0)) == Ordering::Less;
    (amount, if below_one { Format::DecimalSI } else { Format::BinarySI })
}
