//! Formats quantities in canonical form (upstream: `Quantity.CanonicalizeBytes`).

use super::super::digits::{append_i64, append_u64};
use super::{AmountRef, Format, Quantity, Scaled};
use std::cmp::Ordering;

impl Quantity {
    /// Appends the canonical form: no fraction, no loss of precision, the largest possible suffix.
    pub(super) fn append_canonical(&self, out: &mut Vec<u8>) {
        if self.is_zero() {
            return out.push(b'0');
        }
        match self.format() {
            Format::BinarySI if self.is_binary_integer() => self.append_binary(out),
            Format::BinarySI => self.append_decimal(out, Format::DecimalSI),
            format => self.append_decimal(out, format),
        }
    }

    /// Whether binary suffixes represent this number exactly, and the number is large enough for
    /// one.
    fn is_binary_integer(&self) -> bool {
        let small = self.cmp_i64(-1024) == Ordering::Greater && self.cmp_i64(1024) == Ordering::Less;
        !small
            && match self.amount() {
                AmountRef::Scaled(scaled) => scaled.round_up(0).1,
                AmountRef::Decimal(decimal) => decimal.round_up(0).1,
            }
    }

    fn append_decimal(&self, out: &mut Vec<u8>, format: Format) {
        let exponent = match self.amount() {
            AmountRef::Scaled(scaled) => scaled.append_canonical_10(out),
            AmountRef::Decimal(decimal) => decimal.append_canonical_10(out),
        };
        if format == Format::DecimalSI {
            out.extend_from_slice(decimal_suffix(exponent).as_bytes());
        } else if exponent != 0 {
            out.push(b'e');
            append_i64(out, i64::from(exponent));
        }
    }

    fn append_binary(&self, out: &mut Vec<u8>) {
        let exponent = match self.amount() {
            AmountRef::Scaled(scaled) => scaled.append_canonical_1024(out),
            AmountRef::Decimal(decimal) => decimal.append_canonical_1024(out),
        };
        out.extend_from_slice(binary_suffix(exponent).as_bytes());
    }
}

impl Scaled {
    fn append_canonical_10(self, out: &mut Vec<u8>) -> i32 {
        let (amount, times) = remove_factors(self.value.unsigned_abs(), 10);
        let exponent = self.scale.wrapping_add(times);
        let padding = exponent.rem_euclid(3);
        match amount.checked_mul(10u64.pow(padding as u32)).filter(|amount| i64::try_from(*amount).is_ok()) {
            Some(amount) => {
                append_signed(out, self.value, amount);
                exponent - padding
            }
            None => self.to_decimal().append_canonical_10(out),
        }
    }

    fn append_canonical_1024(self, out: &mut Vec<u8>) -> i32 {
        match self.scaled_i64(0) {
            Some(value) => {
                let (amount, times) = remove_factors(value.unsigned_abs(), 1024);
                append_signed(out, value, amount);
                times
            }
            None => self.to_decimal().append_canonical_1024(out),
        }
    }
}

/// Whether a text is certainly the canonical form of its quantity, such as `100m`, `128Mi` or `2`,
/// so that it can be copied.
///
/// Returns false for other canonical texts, such as `-1`, `1e3` and long ones.
pub fn is_plainly_canonical(text: &[u8]) -> bool {
    const LONGEST: usize = 6;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, suffix) = text.split_at(digits);
    if number == b"0" {
        return suffix.is_empty();
    }
    if !(1..=LONGEST).contains(&digits) || number[0] == b'0' {
        return false;
    }
    let value = number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    match suffix {
        b"" | b"m" | b"k" | b"M" | b"G" | b"T" => value % 1000 != 0,
        b"Ki" | b"Mi" | b"Gi" | b"Ti" => value % 1024 != 0,
        _ => false,
    }
}

fn append_signed(out: &mut Vec<u8>, sign: i64, magnitude: u64) {
    if sign < 0 {
        out.push(b'-');
    }
    append_u64(out, magnitude);
}

fn remove_factors(mut value: u64, base: u64) -> (u64, i32) {
    let mut times = 0;
    while value >= base && value.is_multiple_of(base) {
        value /= base;
        times += 1;
    }
    (value, times)
}

/// Upstream writes no suffix for exponents without one: `1000E` is returned as `1`.
fn decimal_suffix(exponent: i32) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}

/// As [`decimal_suffix`]; sums of quantities can exceed `Ei`.
fn binary_suffix(exponent: i32) -> &'static str {
    const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    usize::try_from(exponent).ok().and_then(|exponent| SUFFIXES.get(exponent)).copied().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plainly_canonical_texts_round_trip() {
        let suffixes =
            ["", "m", "k", "M", "G", "T", "P", "E", "n", "u", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "K", " "];
        let numbers = (0..3000).chain([9_999, 10_000, 102_400, 999_999, 1_000_001, 123_456_789]);
        let mut known = 0;
        for (number, suffix) in numbers.flat_map(|number| suffixes.map(|suffix| (number, suffix))) {
            for text in [format!("{number}{suffix}"), format!("0{number}{suffix}"), format!("{number}.5{suffix}")] {
                if is_plainly_canonical(text.as_bytes()) {
                    known += 1;
                    assert_eq!(Quantity::parse(&text).unwrap().to_string(), text);
                }
            }
        }
        assert!(known > 9 * 2_900, "{known}");
        for text in ["", "m", "-1", "+1", ".5", "1_"] {
            assert!(!is_plainly_canonical(text.as_bytes()), "{text}");
        }
    }
}
