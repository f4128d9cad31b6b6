//! Transactions in etcd's form, and their outcomes.

use etcd_client::{
    Compare, CompareOp, DeleteOptions, PutOptions, TxnOp,
    proto::{PbTxnOpResponse, PbTxnResponse},
};

use super::convert;
use crate::{Op, Txn, TxnOutcome};

/// Builds the transaction that upstream's server sends (etcd's `kubernetes.Client`).
pub(super) fn commit(txn: &Txn, lease: i64) -> etcd_client::Txn {
    let Txn { key, compare, op } = txn;
    let write = match op {
        Op::Put { value, .. } => put(key, value, lease),
        Op::Delete => TxnOp::delete(&key[..], Some(DeleteOptions::new().with_prev_key())),
    };
    let unchanged = compare.map(|revision| mod_revision(key, convert::to_wire(revision)));
    etcd_client::Txn::new().when(Vec::from_iter(unchanged)).and_then([write]).or_else([TxnOp::get(&key[..], None)])
}

pub(super) fn put(key: &[u8], value: &[u8], lease: i64) -> TxnOp {
    TxnOp::put(key, value, Some(PutOptions::new().with_lease(lease)))
}

/// Compares the modification revision of a key; 0 means that the key does not exist.
pub(super) fn mod_revision(key: &[u8], revision: i64) -> Compare {
    Compare::mod_revision(key, CompareOp::Equal, revision)
}

/// Returns the response to the only operation of a transaction.
pub(super) fn first(answer: PbTxnResponse) -> Option<PbTxnOpResponse> {
    answer.responses.into_iter().next()?.response
}

pub(super) fn outcome(answer: PbTxnResponse, is_delete: bool) -> TxnOutcome {
    let (revision, succeeded) = (convert::revision(answer.header), answer.succeeded);
    let kvs = match first(answer) {
        Some(PbTxnOpResponse::ResponseRange(range)) => range.kvs,
        Some(PbTxnOpResponse::ResponseDeleteRange(deleted)) if is_delete => deleted.prev_kvs,
        _ => Vec::new(),
    };
    let kv = kvs.into_iter().next().map(convert::key_value);
    if succeeded {
        TxnOutcome::Committed { revision, deleted: kv }
    } else {
        TxnOutcome::Conflict { revision, current: kv }
    }
}
