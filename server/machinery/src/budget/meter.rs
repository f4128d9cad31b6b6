//! Meters the memory that decoding and defaulting of one document allocate.

use super::{Exceeded, charge};

/// Counts the bytes that are allocated for one document.
///
/// A document has its own limit, with or without a current budget. The current budget is charged in
/// steps of `STEP`, so that small documents do not access it.
#[derive(Debug)]
pub struct Meter {
    /// Bytes that remain of the limit.
    left: u64,
    limit: u64,
    /// Counted bytes that the current budget is not charged for yet.
    pending: u64,
}

/// Bytes that are charged to the current budget at once.
const STEP: u64 = 64 << 10;

/// The limit of a document: base bytes, and bytes for each byte of its text.
///
/// The values are estimates that no measurement has confirmed yet (`docs/status.md`).
const BASE_LIMIT: u64 = 32 << 20;
const LIMIT_PER_BYTE: u64 = 24;

impl Meter {
    /// Creates the meter of a document of this many bytes.
    pub fn of_document(length: usize) -> Meter {
        let limit = (length as u64).saturating_mul(LIMIT_PER_BYTE).saturating_add(BASE_LIMIT);
        Meter::of_bytes(limit)
    }

    /// Creates a meter with a limit of this many bytes.
    pub fn of_bytes(limit: u64) -> Meter {
        Meter { left: limit, limit, pending: 0 }
    }

    /// Creates the meter of a stored document, which was within the limits when it was written; the
    /// current budget is not charged.
    pub fn unlimited() -> Meter {
        Meter { left: u64::MAX, limit: u64::MAX, pending: 0 }
    }

    /// Counts bytes before they are allocated.
    ///
    /// # Errors
    /// When the document exceeds its limit, or the current budget.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.pending += bytes as u64;
        if self.pending < STEP { Ok(()) } else { self.settle() }
    }

    #[cold]
    fn settle(&mut self) -> Result<(), Exceeded> {
        let bytes = std::mem::take(&mut self.pending);
        self.left = self.left.checked_sub(bytes).ok_or(Exceeded::Request { limit: self.limit })?;
        if self.limit == u64::MAX { Ok(()) } else { charge(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Budget;
    use super::*;

    #[test]
    fn a_meter_has_a_limit_without_a_budget() {
        let mut meter = Meter::of_document(1000);
        let limit = BASE_LIMIT + 1000 * LIMIT_PER_BYTE;
        meter.charge(BASE_LIMIT as usize).unwrap();
        assert_eq!(meter.charge(1 << 20), Err(Exceeded::Request { limit }));
        let budget = Budget::new(1 << 20);
        let exceeded = budget.scope(|| Meter::of_document(0).charge(2 << 20));
        assert_eq!(exceeded, Err(Exceeded::Request { limit: 1 << 20 }));
    }
}
