//! Lower and upper bounds of sizes, and costs proportional to them. Sums and products saturate at the
//! largest number.

/// Minimum and maximum number of elements, characters or bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SizeEstimate {
    pub least: u64,
    pub most: u64,
}

impl SizeEstimate {
    pub const UNKNOWN: SizeEstimate = SizeEstimate { least: 0, most: u64::MAX };
    /// The neutral element of `or`.
    pub const NONE: SizeEstimate = SizeEstimate { least: u64::MAX, most: 0 };

    pub fn exactly(size: u64) -> Self {
        SizeEstimate { least: size, most: size }
    }

    pub fn up_to(most: u64) -> Self {
        SizeEstimate { least: 0, most }
    }

    pub fn plus(self, other: SizeEstimate) -> Self {
        SizeEstimate { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    pub fn times(self, other: SizeEstimate) -> Self {
        SizeEstimate { least: self.least.saturating_mul(other.least), most: self.most.saturating_mul(other.most) }
    }

    pub fn or(self, other: SizeEstimate) -> Self {
        SizeEstimate { least: self.least.min(other.least), most: self.most.max(other.most) }
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
