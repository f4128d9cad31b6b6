//! An `i64` with a decimal scale, the fast path of a quantity (upstream: `int64Amount`).

use super::super::decimal::Decimal;
use std::cmp::Ordering;

/// `value * 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaled {
    pub value: i64,
    pub scale: i32,
}

impl Scaled {
    pub fn to_decimal(self) -> Decimal {
        Decimal::new(self.value, self.scale)
    }

    /// `self / 10^scale` rounded away from zero; `None` if it does not fit.
    pub fn scaled_i64(self, scale: i32) -> Option<i64> {
        let shift = i64::from(self.scale) - i64::from(scale);
        if shift < 0 { Some(divide_up(self.value, -shift).0) } else { multiply(self.value, shift) }
    }

    /// As [`Self::scaled_i64`]. An out-of-range result is that of upstream: the wrapped product for
    /// the shifts that upstream unrolls, otherwise 0.
    pub fn wrapped_scaled_i64(self, scale: i32) -> i64 {
        self.scaled_i64(scale).unwrap_or_else(|| match i64::from(self.scale) - i64::from(scale) {
            shift @ (1..=3 | 6 | 9) if self.value != i64::MIN => self.value.wrapping_mul(10i64.pow(shift as u32)),
            _ => 0,
        })
    }

    /// Rounds away from zero to a multiple of `10^scale`; true if the result is exact.
    pub fn round_up(self, scale: i32) -> (Self, bool) {
        if self.scale >= scale {
            return (self, true);
        }
        let (value, exact) = divide_up(self.value, i64::from(scale) - i64::from(self.scale));
        (Self { value, scale }, exact)
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let a = multiply(self.value, i64::from(self.scale) - i64::from(scale))?;
        let b = multiply(other.value, i64::from(other.scale) - i64::from(scale))?;
        Some(Self { value: a.checked_add(b)?, scale })
    }

    /// The product, unless it or its unscaled value is out of range.
    pub fn checked_mul(self, factor: i64) -> Option<Self> {
        if self.value == 0 {
            return Some(self);
        }
        if factor == 0 {
            return Some(Self { value: 0, scale: 0 });
        }
        let value = self.value.checked_mul(factor)?;
        if self.scale > 0 {
            multiply(value, i64::from(self.scale))?;
        } else if !divide_up(value, -i64::from(self.scale)).1 {
            return None;
        }
        Some(Self { value, scale: self.scale })
    }

    pub fn compare(self, other: Self) -> Ordering {
        if self.scale == other.scale || self.value == 0 || other.value == 0 {
            return self.value.cmp(&other.value);
        }
        if self.scale < other.scale {
            return other.compare(self).reverse();
        }
        let shift = i64::from(self.scale) - i64::from(other.scale);
        if shift > 18 {
            return self.value.cmp(&0); // 10^19 exceeds any value of the other operand.
        }
        (i128::from(self.value) * 10i128.pow(shift as u32)).cmp(&i128::from(other.value))
    }
}

/// `value * 10^shift`, unless it overflows.
fn multiply(value: i64, shift: i64) -> Option<i64> {
    match shift {
        0 => Some(value),
        _ if value == 0 => Some(0),
        1..=18 => value.checked_mul(10i64.pow(shift as u32)),
        _ => None,
    }
}

/// `value / 10^shift` rounded away from zero, and whether the result is exact.
fn divide_up(value: i64, shift: i64) -> (i64, bool) {
    if shift > 18 {
        return (value.signum(), value == 0);
    }
    let divisor = 10i64.pow(shift as u32);
    let exact = value % divisor == 0;
    let rounding = if exact { 0 } else { value.signum() };
    (value / divisor + rounding, exact)
}

/// Go's `math.Pow10`, which multiplies two table entries, so it may differ from the nearest float
/// by one unit.
pub(super) fn go_pow10(exponent: i32) -> f64 {
    if exponent > 308 {
        return f64::INFINITY;
    }
    if exponent < -323 {
        return 0.0;
    }
    let steps = exponent.unsigned_abs() as usize;
    let (wide, narrow) = (POW10_BY_32[steps / 32], POW10[steps % 32]);
    if exponent >= 0 { wide * narrow } else { POW10_NEGATIVE_BY_32[steps / 32] / narrow }
}

const POW10: [f64; 32] = [
    1e00, 1e01, 1e02, 1e03, 1e04, 1e05, 1e06, 1e07, 1e08, 1e09, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
];
const POW10_BY_32: [f64; 10] = [1e00, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288];
const POW10_NEGATIVE_BY_32: [f64; 11] =
    [1e-00, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320];
