//! etcd's model of keys beyond [`Store`](crate::Store): transactions of several keys, ranges with
//! filters and order, leases. Only [`EmbeddedStore`](crate::EmbeddedStore) has it.
//!
//! Names and semantics are those of etcd's messages (`etcdserverpb`), without the checks of a request
//! that etcd makes before it looks at a key.

use std::{cmp::Ordering, time::Duration};

use bytes::Bytes;

use crate::{KeyRange, KeyValue, LeaseId, Revision};

/// A read of a range (`RangeRequest`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeQuery {
    /// The keys.
    pub range: KeyRange,
    /// Maximum number of keys to return; 0 for no limit.
    pub limit: u64,
    /// The revision to read at; `None` is the current one.
    pub revision: Option<Revision>,
    /// The order of the keys; `None` is the order of the keys themselves.
    pub order: Option<Order>,
    /// Whether the values are left out.
    pub keys_only: bool,
    /// Whether only the number of keys is wanted.
    pub count_only: bool,
    /// The revisions that a key must have.
    pub filter: Filter,
}

impl RangeQuery {
    /// Reads the current keys of a range.
    pub fn new(range: KeyRange) -> Self {
        Self {
            range,
            limit: 0,
            revision: None,
            order: None,
            keys_only: false,
            count_only: false,
            filter: Filter::default(),
        }
    }
}

/// The bounds of a key's revisions, inclusive; 0 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The lowest modification revision.
    pub min_mod: i64,
    /// The highest modification revision.
    pub max_mod: i64,
    /// The lowest create revision.
    pub min_create: i64,
    /// The highest create revision.
    pub max_create: i64,
}

impl Filter {
    /// Returns whether no bound is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the key is within the bounds.
    pub fn admits(&self, kv: &KeyValue) -> bool {
        let within = |revision: Revision, min: i64, max: i64| {
            let revision = signed(revision);
            (min == 0 || revision >= min) && (max == 0 || revision <= max)
        };
        within(kv.mod_revision, self.min_mod, self.max_mod)
            && within(kv.create_revision, self.min_create, self.max_create)
    }
}

/// The order of the keys of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The property to sort by.
    pub by: Property,
    /// Whether the highest comes first.
    pub descending: bool,
}

/// A property of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The key itself.
    Key,
    /// The number of writes since the key was created.
    Version,
    /// The revision of the write that created the key.
    CreateRevision,
    /// The revision of the last write.
    ModRevision,
    /// The value.
    Value,
}

impl Property {
    /// Compares two keys by this property.
    pub fn compare(self, a: &KeyValue, b: &KeyValue) -> Ordering {
        match self {
            Self::Key => a.key.cmp(&b.key),
            Self::Version => a.version.cmp(&b.version),
            Self::CreateRevision => a.create_revision.cmp(&b.create_revision),
            Self::ModRevision => a.mod_revision.cmp(&b.mod_revision),
            Self::Value => a.value.cmp(&b.value),
        }
    }
}

/// The response to a [`RangeQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeResult {
    /// The keys.
    pub kvs: Vec<KeyValue>,
    /// Whether more keys exist than the limit.
    pub more: bool,
    /// The number of keys in the range, whatever filter and limit.
    pub count: u64,
    /// The revision of the store.
    pub revision: Revision,
}

/// A write of a key (`PutRequest`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Put {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
    /// The lease to attach the key to; 0 for none.
    pub lease: LeaseId,
    /// Whether the response has the key before the write.
    pub prev_kv: bool,
    /// Whether the value stays as it is. The key must exist.
    pub ignore_value: bool,
    /// Whether the lease stays as it is. The key must exist.
    pub ignore_lease: bool,
}

/// The removal of the keys of a range (`DeleteRangeRequest`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRange {
    /// The keys.
    pub range: KeyRange,
    /// Whether the response has the removed keys.
    pub prev_kv: bool,
}

/// Comparisons, and what to do when they hold and when they do not (`TxnRequest`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    /// The comparisons, all of which must hold.
    pub compare: Vec<Compare>,
    /// The requests if they hold.
    pub success: Vec<Request>,
    /// The requests if they do not.
    pub failure: Vec<Request>,
}

/// A comparison that every key of a range must pass (`Compare`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compare {
    /// The keys. When none exists, one with zeros for all numbers is compared instead; values are
    /// different then.
    pub range: KeyRange,
    /// The condition.
    pub condition: Relation,
    /// The value to compare with.
    pub with: Operand,
}

/// The condition of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The property equals the operand.
    Equal,
    /// The property is greater than the operand.
    Greater,
    /// The property is less than the operand.
    Less,
    /// The property differs from the operand.
    NotEqual,
}

/// The property that is compared, with what it is compared to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The number of writes.
    Version(i64),
    /// The create revision.
    CreateRevision(i64),
    /// The modification revision.
    ModRevision(i64),
    /// The value.
    Value(Bytes),
    /// The lease.
    Lease(LeaseId),
}

impl Compare {
    /// Returns whether the keys of the range pass.
    pub fn holds(&self, kvs: &[KeyValue]) -> bool {
        match (kvs, &self.with) {
            ([], Operand::Value(_)) => false,
            ([], _) => self.holds_for(&KeyValue::default()),
            _ => kvs.iter().all(|kv| self.holds_for(kv)),
        }
    }

    fn holds_for(&self, kv: &KeyValue) -> bool {
        let ordering = match &self.with {
            Operand::Version(version) => signed(kv.version).cmp(version),
            Operand::CreateRevision(revision) => signed(kv.create_revision).cmp(revision),
            Operand::ModRevision(revision) => signed(kv.mod_revision).cmp(revision),
            Operand::Value(value) => kv.value.cmp(value),
            Operand::Lease(lease) => kv.lease.cmp(lease),
        };
        match self.condition {
            Relation::Equal => ordering.is_eq(),
            Relation::Greater => ordering.is_gt(),
            Relation::Less => ordering.is_lt(),
            Relation::NotEqual => ordering.is_ne(),
        }
    }
}

/// A request of a transaction, or one by itself (`RequestOp`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A read.
    Range(RangeQuery),
    /// A write.
    Put(Put),
    /// A removal.
    Delete(DeleteRange),
    /// A transaction.
    Transaction(Transaction),
}

impl Request {
    /// Returns whether the request cannot write, whatever its comparisons yield.
    pub fn is_read_only(&self) -> bool {
        match self {
            Self::Range(_) => true,
            Self::Put(_) | Self::Delete(_) => false,
            Self::Transaction(txn) => txn.success.iter().chain(&txn.failure).all(Self::is_read_only),
        }
    }

    /// Returns the number of bytes of keys and values.
    pub fn size(&self) -> usize {
        match self {
            Self::Range(query) => query.range.start().len(),
            Self::Put(put) => put.key.len() + put.value.len(),
            Self::Delete(delete) => delete.range.start().len(),
            Self::Transaction(txn) => {
                let compares = txn.compare.iter().map(|compare| compare.range.start().len());
                compares.chain(txn.success.iter().chain(&txn.failure).map(Self::size)).sum()
            }
        }
    }
}

/// The response to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The keys that were read.
    Range(RangeResult),
    /// A key was written.
    Put(PutResult),
    /// Keys were removed.
    Delete(DeleteResult),
    /// A transaction was carried out.
    Transaction(TransactionResult),
}

/// The response to a [`Put`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutResult {
    /// The key before the write, if the request wants it.
    pub prev: Option<KeyValue>,
    /// The revision of the write.
    pub revision: Revision,
}

/// The response to a [`DeleteRange`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteResult {
    /// The number of removed keys.
    pub deleted: u64,
    /// The removed keys, if the request wants them.
    pub prev: Vec<KeyValue>,
    /// The revision of the removal, or of the store when no key was removed.
    pub revision: Revision,
}

/// The response to a [`Transaction`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionResult {
    /// Whether the comparisons held.
    pub succeeded: bool,
    /// The responses to the requests.
    pub responses: Vec<Response>,
    /// The revision of the store after the transaction.
    pub revision: Revision,
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// The granted lifetime in seconds.
    pub ttl: u64,
    /// The time until it expires.
    pub remaining: Duration,
    /// The keys that are attached to it.
    pub keys: Vec<Bytes>,
}

/// A checksum of the history up to a revision (`HashKVResponse`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvHash {
    /// The checksum.
    pub hash: u32,
    /// The revision up to which it was computed.
    pub hash_revision: Revision,
    /// The compacted revision; 0 when the store was never compacted.
    pub compacted: Revision,
    /// The revision of the store.
    pub revision: Revision,
}

/// The size of the database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Size of the file in bytes.
    pub total: u64,
    /// The part of it that has data.
    pub in_use: u64,
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_missing_keys_as_zeros_and_no_value() {
        let compare = |condition, with| Compare { range: KeyRange::key("a"), condition, with };
        assert!(compare(Relation::Equal, Operand::ModRevision(0)).holds(&[]));
        assert!(compare(Relation::Less, Operand::Version(1)).holds(&[]));
        assert!(!compare(Relation::Equal, Operand::Value(Bytes::new())).holds(&[]));
        assert!(!compare(Relation::NotEqual, Operand::Value("x".into())).holds(&[]));
        let kv = KeyValue { mod_revision: 5, lease: -3, value: "b".into(), ..KeyValue::default() };
        let kvs = [kv.clone(), KeyValue { mod_revision: 9, ..kv }];
        assert!(compare(Relation::Greater, Operand::ModRevision(4)).holds(&kvs));
        assert!(!compare(Relation::Greater, Operand::ModRevision(5)).holds(&kvs), "every key must pass");
        assert!(compare(Relation::Equal, Operand::Lease(-3)).holds(&kvs));
        assert!(compare(Relation::Greater, Operand::Value("a".into())).holds(&kvs));
    }

    #[test]
    fn filters_by_inclusive_bounds_and_negative_ones() {
        let kv = KeyValue { mod_revision: 5, create_revision: 3, ..KeyValue::default() };
        let admits = |filter: Filter| filter.admits(&kv);
        assert!(admits(Filter { min_mod: 5, max_mod: 5, min_create: 3, max_create: 3 }));
        assert!(!admits(Filter { min_mod: 6, ..Filter::default() }));
        assert!(!admits(Filter { max_create: 2, ..Filter::default() }));
        assert!(!admits(Filter { max_mod: -1, ..Filter::default() }));
    }
}
