//! Quantity to canonical text (upstream: `Quantity.CanonicalizeBytes`).

use super::super::digits::{append_i64, append_u64};
use super::{AmountRef, Format, Quantity, Scaled};
use std::cmp::Ordering;

impl Quantity {
    /// Appends the canonical form: no fraction, no precision lost, the largest suffix that keeps it so.
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

    /// Whether binary suffixes say this number exactly and are wide enough to be of use.
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

/// Upstream silently writes no suffix for exponents that have none: `1000E` is answered as `1`.
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
