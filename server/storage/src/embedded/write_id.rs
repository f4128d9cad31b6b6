//! Numbers of writes: the revision, and the position within it.

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};

use crate::Revision;

/// The number of bits of the position. The revision has 39: 550 billion writes.
const POSITION_BITS: u32 = 24;
/// Maximum number of keys that one revision can change.
pub(super) const MOST_WRITES: u64 = 1 << POSITION_BITS;

/// Identifies a write, in order of time. A transaction changes several keys at one revision; each
/// change has a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WriteId(u64);

impl WriteId {
    /// No write: the predecessor of the first write of a key.
    pub(super) const NONE: Self = Self(0);

    /// The first write of a revision.
    pub(super) fn first(revision: Revision) -> Self {
        Self(revision << POSITION_BITS)
    }

    /// The greatest number that a write of a revision can have.
    pub(super) fn last(revision: Revision) -> Self {
        Self::first(revision).at(MOST_WRITES - 1)
    }

    /// The write at a position of the same revision; positions begin with 0.
    pub(super) fn at(self, position: u64) -> Self {
        Self(Self::first(self.revision()).0 | (position & (MOST_WRITES - 1)))
    }

    pub(super) fn revision(self) -> Revision {
        self.0 >> POSITION_BITS
    }

    pub(super) fn position(self) -> u64 {
        self.0 & (MOST_WRITES - 1)
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// The number after this one.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl ToSql for WriteId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let number = i64::try_from(self.0).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(number.into())
    }
}

impl FromSql for WriteId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_writes_by_revision_then_position() {
        let second = WriteId::first(7).at(1);
        assert!(WriteId::first(7) < second && second < WriteId::last(7) && WriteId::last(7) < WriteId::first(8));
        assert_eq!((second.revision(), second.position()), (7, 1));
        assert_eq!(WriteId::last(7).next(), WriteId::first(8));
        assert!(WriteId::first(0).is_none());
    }
}
