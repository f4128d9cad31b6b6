//! Lower and upper bounds of sizes, and costs proportional to them. Sums and products saturate at the
//! largest number.

/// Minimum and maximum number of elements, characters or bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub least: u64,
    pub most: u64,
}

impl Range {
    pub const UNKNOWN: Range = Range { least: 0, most: u64::MAX };
    /// The neutral element of `or`.
    pub const NONE: Range = Range { least: u64::MAX, most: 0 };

    pub fn exactly(size: u64) -> Self {
        Range { least: size, most: size }
    }

    pub fn up_to(most: u64) -> Self {
        Range { least: 0, most }
    }

    pub fn plus(self, other: Range) -> Self {
        Range { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    pub fn times(self, other: Range) -> Self {
        Range { least: self.least.saturating_mul(other.least), most: self.most.saturating_mul(other.most) }
    }

    pub fn or(self, other: Range) -> Self {
        Range { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// Maximum cost of visiting each element.
    pub fn cost(self, each: f64) -> u64 {
        scaled(self.most, each)
    }
}

/// The product, rounded up; saturates at the largest number.
pub(super) fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}
