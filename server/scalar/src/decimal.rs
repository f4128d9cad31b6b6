//! Arbitrary-precision decimals, the slow path of [`super::Quantity`] (upstream:
//! `gopkg.in/inf.v0`).
//!
//! Exponents are client input and may be as large as an `i32`. So no function expands `10^exponent`
//! unless the digits of the client bound the result.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Limit on the digits that a shift expands; larger shifts are only kept as an exponent.
const MAX_SHIFT: i64 = 8192;

/// `unscaled * 10^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    pub unscaled: BigInt,
    pub exponent: i32,
}

impl Decimal {
    pub fn new(unscaled: impl Into<BigInt>, exponent: i32) -> Self {
        Self { unscaled: unscaled.into(), exponent }
    }

    pub fn sign(&self) -> Ordering {
        match self.unscaled.sign() {
            Sign::Minus => Ordering::Less,
            Sign::NoSign => Ordering::Equal,
            Sign::Plus => Ordering::Greater,
        }
    }

    /// Rounds away from zero to a multiple of `10^exponent`; true if the result is exact.
    pub fn round_up(&self, exponent: i32) -> (Self, bool) {
        let drop = i64::from(exponent) - i64::from(self.exponent);
        if drop <= 0 {
            return (self.lower_exponent(exponent), true);
        }
        let sign = BigInt::from(self.sign() as i8);
        if drop > max_digits(&self.unscaled) {
            let exact = self.sign().is_eq();
            return (Self { unscaled: sign, exponent }, exact);
        }
        let divisor = pow10(drop);
        let mut unscaled = &self.unscaled / &divisor;
        let exact = (&unscaled * &divisor) == self.unscaled;
        if !exact {
            unscaled += sign;
        }
        (Self { unscaled, exponent }, exact)
    }

    /// The same value with a lower exponent, as far as the number of digits stays bounded.
    fn lower_exponent(&self, exponent: i32) -> Self {
        let shift = i64::from(self.exponent) - i64::from(exponent);
        if shift == 0 || shift > MAX_SHIFT {
            return self.clone();
        }
        Self { unscaled: &self.unscaled * pow10(shift), exponent }
    }

    /// The sum. An operand that is too small to change the digits of the other one is ignored.
    pub fn add(&self, other: &Self) -> Self {
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        if high.sign().is_eq() {
            return low.clone();
        }
        let shift = i64::from(high.exponent) - i64::from(low.exponent);
        if shift > MAX_SHIFT && shift > max_digits(&low.unscaled) {
            return high.clone();
        }
        Self { unscaled: &high.unscaled * pow10(shift) + &low.unscaled, exponent: low.exponent }
    }

    pub fn neg(&self) -> Self {
        Self { unscaled: -&self.unscaled, exponent: self.exponent }
    }

    pub fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign.is_ne() || self.sign().is_eq() {
            return by_sign;
        }
        if self.exponent == other.exponent {
            return self.unscaled.cmp(&other.unscaled);
        }
        let magnitude = self.magnitude().cmp(&other.magnitude());
        if magnitude.is_ne() {
            return if self.sign().is_lt() { magnitude.reverse() } else { magnitude };
        }
        let shift = i64::from(self.exponent) - i64::from(other.exponent);
        if shift > 0 {
            (&self.unscaled * pow10(shift)).cmp(&other.unscaled)
        } else {
            self.unscaled.cmp(&(&other.unscaled * pow10(-shift)))
        }
    }

    /// The position of the leading digit.
    fn magnitude(&self) -> i64 {
        self.unscaled.magnitude().to_string().len() as i64 + i64::from(self.exponent)
    }

    /// `self / 10^exponent` as an `i64`, with the same rounding and wrapping as upstream's
    /// `scaledValue`.
    pub fn scaled_i64(&self, exponent: i32) -> i64 {
        let drop = i64::from(exponent) - i64::from(self.exponent);
        let low = low_i64(&self.unscaled);
        if drop == 0 {
            return low;
        }
        if drop < 0 {
            return low.wrapping_mul(go_pow10_i64(-drop));
        }
        if drop < 19 && self.unscaled < BigInt::from(i64::MAX) {
            let divisor = 10i64.pow(drop as u32);
            let quotient = low / divisor;
            return if low % divisor != 0 { quotient.wrapping_add(1) } else { quotient };
        }
        if drop > max_digits(&self.unscaled) {
            return i64::from(self.sign().is_gt());
        }
        let (floor, exact) = self.floor_div(&pow10(drop));
        if exact { low_i64(&floor) } else { low_i64(&floor).wrapping_add(1) }
    }

    fn floor_div(&self, divisor: &BigInt) -> (BigInt, bool) {
        let quotient = &self.unscaled / divisor;
        let exact = (&quotient * divisor) == self.unscaled;
        let floor = if !exact && self.sign().is_lt() { quotient - 1 } else { quotient };
        (floor, exact)
    }

    /// Appends the mantissa of the canonical base-10 form and returns its exponent, a multiple of three.
    pub fn append_canonical_10(&self, out: &mut Vec<u8>) -> i32 {
        let text = self.unscaled.to_string();
        let kept = text.trim_end_matches('0');
        out.extend_from_slice(kept.as_bytes());
        let mut exponent = self.exponent.saturating_add((text.len() - kept.len()) as i32);
        while exponent % 3 != 0 {
            out.push(b'0');
            exponent -= 1;
        }
        exponent
    }

    /// Appends the mantissa of the canonical base-1024 form, rounded up to an integer, and returns its exponent.
    pub fn append_canonical_1024(&self, out: &mut Vec<u8>) -> i32 {
        let (rounded, _) = self.round_up(0);
        let factors = rounded.unscaled.magnitude().trailing_zeros().unwrap_or(0) / 10;
        let mantissa: BigInt = rounded.unscaled >> (factors * 10);
        out.extend_from_slice(mantissa.to_string().as_bytes());
        factors as i32
    }

    /// The nearest `f64` of the unscaled part; the caller applies the exponent.
    pub fn unscaled_f64(&self) -> f64 {
        self.unscaled.to_string().parse().unwrap_or(f64::NAN)
    }
}

fn pow10(exponent: i64) -> BigInt {
    BigInt::from(10u8).pow(u32::try_from(exponent).unwrap_or(0))
}

/// An upper bound on the number of decimal digits.
fn max_digits(value: &BigInt) -> i64 {
    (value.bits() / 3) as i64 + 1
}

/// The low 64 bits as a signed number: Go's `big.Int.Int64`.
fn low_i64(value: &BigInt) -> i64 {
    let low = value.magnitude().iter_u64_digits().next().unwrap_or(0) as i64;
    if value.sign() == Sign::Minus { low.wrapping_neg() } else { low }
}

/// Go's `int64(math.Pow10(n))` on amd64, where values out of range become the minimum.
fn go_pow10_i64(exponent: i64) -> i64 {
    if exponent <= 18 { 10i64.pow(exponent as u32) } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, exponent: i32) -> Decimal {
        Decimal::new(unscaled, exponent)
    }

    #[test]
    fn compares_across_exponents() {
        let cases = [
            (decimal(1, 0), decimal(10, -1), Ordering::Equal),
            (decimal(1, i32::MAX), decimal(1, i32::MIN), Ordering::Greater),
            (decimal(-1, i32::MAX), decimal(1, i32::MIN), Ordering::Less),
            (decimal(0, i32::MAX), decimal(0, 3), Ordering::Equal),
            (decimal(-12, 1), decimal(-1199, -1), Ordering::Less),
            (decimal(999, 0), decimal(1, 3), Ordering::Less),
        ];
        for (a, b, expect) in cases {
            assert_eq!(a.compare(&b), expect, "{a:?} {b:?}");
            assert_eq!(b.compare(&a), expect.reverse(), "{b:?} {a:?}");
        }
    }

    #[test]
    fn rounds_away_from_zero() {
        let cases = [
            (decimal(11, -1), 0, 2, false),
            (decimal(-11, -1), 0, -2, false),
            (decimal(10, -1), 0, 1, true),
            (decimal(1, i32::MIN), -9, 1, false),
            (decimal(-1, i32::MIN), -9, -1, false),
            (decimal(0, i32::MIN), -9, 0, true),
            (decimal(5, 2), 0, 500, true),
        ];
        for (value, exponent, unscaled, exact) in cases {
            let (rounded, was_exact) = value.round_up(exponent);
            assert_eq!((rounded.unscaled, was_exact), (BigInt::from(unscaled), exact), "{value:?}");
        }
    }

    #[test]
    fn adding_distant_exponents_is_bounded() {
        let sum = decimal(1, i32::MAX).add(&decimal(1, i32::MIN));
        assert_eq!(sum.compare(&decimal(1, i32::MAX)), Ordering::Equal);
    }
}
