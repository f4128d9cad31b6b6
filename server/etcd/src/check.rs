//! Checks of requests before the store sees them, in etcd's order (`v3rpc/key.go`).

use std::collections::BTreeSet;

use bytes::Bytes;
use storage::KeyRange;
use tonic::Status;

use crate::{
    answer::Answer,
    convert,
    proto::{
        DeleteRangeRequest, PutRequest, RangeRequest, RequestOp, TxnRequest,
        range_request::{SortOrder, SortTarget},
        request_op,
    },
};

/// The end of a range without an end.
const END: &[u8] = &[0];

pub(crate) fn range(request: &RangeRequest) -> Result<(), Status> {
    if request.key.is_empty() {
        return Err(Answer::EMPTY_KEY.into());
    }
    let is_known = SortOrder::try_from(request.sort_order).is_ok() && SortTarget::try_from(request.sort_target).is_ok();
    if is_known { Ok(()) } else { Err(Answer::INVALID_SORT.into()) }
}

pub(crate) fn put(request: &PutRequest) -> Result<(), Status> {
    if request.key.is_empty() {
        return Err(Answer::EMPTY_KEY.into());
    }
    if request.ignore_value && !request.value.is_empty() {
        return Err(Answer::VALUE_PROVIDED.into());
    }
    if request.ignore_lease && request.lease != 0 {
        return Err(Answer::LEASE_PROVIDED.into());
    }
    Ok(())
}

pub(crate) fn delete_range(request: &DeleteRangeRequest) -> Result<(), Status> {
    if request.key.is_empty() { Err(Answer::EMPTY_KEY.into()) } else { Ok(()) }
}

/// Checks a transaction: the number of its operations, nested ones included, each operation, and that
/// no key is written twice.
pub(crate) fn txn(request: &TxnRequest, max_ops: usize) -> Result<(), Status> {
    operations(request, max_ops)?;
    writes(&request.success)?;
    writes(&request.failure)?;
    Ok(())
}

fn operations(request: &TxnRequest, max_ops: usize) -> Result<(), Status> {
    let count = request.compare.len().max(request.success.len()).max(request.failure.len());
    let Some(rest) = max_ops.checked_sub(count) else { return Err(Answer::TOO_MANY_OPS.into()) };
    if request.compare.iter().any(|compare| compare.key.is_empty()) {
        return Err(Answer::EMPTY_KEY.into());
    }
    request.success.iter().chain(&request.failure).try_for_each(|op| operation(op, rest))
}

fn operation(op: &RequestOp, max_ops: usize) -> Result<(), Status> {
    match &op.request {
        Some(request_op::Request::Range(request)) => range(request),
        Some(request_op::Request::Put(request)) => put(request),
        Some(request_op::Request::DeleteRange(request)) => delete_range(request),
        Some(request_op::Request::Txn(request)) => operations(request, max_ops),
        None => Err(Answer::KEY_NOT_FOUND.into()),
    }
}

/// The keys that some operations put, and the ranges that they remove.
#[derive(Default)]
struct Writes {
    puts: BTreeSet<Bytes>,
    removals: Vec<KeyRange>,
}

impl Writes {
    fn put(&mut self, key: Bytes) -> Result<(), Status> {
        if self.removals.iter().any(|range| range.contains(&key)) || !self.puts.insert(key) {
            return Err(Answer::DUPLICATE_KEY.into());
        }
        Ok(())
    }
}

/// Collects the writes of one side of a transaction. A key may be put once, and not within a range
/// that the same side removes (`checkIntervals`).
fn writes(operations: &[RequestOp]) -> Result<Writes, Status> {
    let requests = || operations.iter().filter_map(|op| op.request.as_ref());
    let mut all = Writes::default();
    for request in requests() {
        // As in etcd, a removal up to the end of all keys is not compared with the puts.
        if let request_op::Request::DeleteRange(request) = request
            && request.range_end != END
        {
            all.removals.push(convert::range(&request.key, &request.range_end));
        }
    }
    for request in requests() {
        if let request_op::Request::Txn(request) = request {
            nested(&mut all, request)?;
        }
    }
    for request in requests() {
        if let request_op::Request::Put(request) = request {
            all.put(request.key.clone())?;
        }
    }
    Ok(all)
}

/// Adds the writes of a nested transaction. Only one of its sides is carried out.
fn nested(all: &mut Writes, request: &TxnRequest) -> Result<(), Status> {
    let (then, otherwise) = (writes(&request.success)?, writes(&request.failure)?);
    let of_other_side: Vec<Bytes> = otherwise.puts.difference(&then.puts).cloned().collect();
    for key in then.puts.into_iter().chain(of_other_side) {
        all.put(key)?;
    }
    all.removals.extend(then.removals);
    all.removals.extend(otherwise.removals);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::Compare;

    fn put_op(key: &'static str) -> RequestOp {
        let request = PutRequest { key: key.into(), ..PutRequest::default() };
        RequestOp { request: Some(request_op::Request::Put(request)) }
    }

    fn delete_op(key: &'static str, range_end: &'static str) -> RequestOp {
        let request = DeleteRangeRequest { key: key.into(), range_end: range_end.into(), prev_kv: false };
        RequestOp { request: Some(request_op::Request::DeleteRange(request)) }
    }

    fn nested_op(success: Vec<RequestOp>, failure: Vec<RequestOp>) -> RequestOp {
        let request = TxnRequest { compare: Vec::new(), success, failure };
        RequestOp { request: Some(request_op::Request::Txn(request)) }
    }

    fn message(success: Vec<RequestOp>) -> Option<String> {
        let request = TxnRequest { success, ..TxnRequest::default() };
        txn(&request, 128).err().map(|status| status.message().to_owned())
    }

    #[test]
    fn rejects_keys_that_are_written_twice() {
        let duplicate = || Some(Answer::DUPLICATE_KEY.text().to_owned());
        assert_eq!(message(vec![put_op("a"), put_op("b")]), None);
        assert_eq!(message(vec![put_op("a"), put_op("a")]), duplicate());
        assert_eq!(message(vec![put_op("b"), delete_op("a", "c")]), duplicate());
        assert_eq!(message(vec![put_op("c"), delete_op("a", "c")]), None);
        assert_eq!(message(vec![put_op("z"), delete_op("a", "\0")]), None, "etcd does not compare these");
        assert_eq!(message(vec![delete_op("a", ""), delete_op("a", "z")]), None, "removals may overlap");
        assert_eq!(message(vec![nested_op(vec![put_op("a")], vec![put_op("a")])]), None, "one side is carried out");
        assert_eq!(message(vec![put_op("a"), nested_op(vec![], vec![put_op("a")])]), duplicate());
        assert_eq!(
            message(vec![nested_op(vec![put_op("a")], vec![]), nested_op(vec![put_op("a")], vec![])]),
            duplicate()
        );
        assert_eq!(message(vec![put_op("b"), nested_op(vec![delete_op("a", "c")], vec![])]), duplicate());
    }

    #[test]
    fn counts_operations_of_nested_transactions() {
        let puts = |count| (0..count).map(|_| delete_op("a", "")).collect::<Vec<_>>();
        assert_eq!(message(puts(128)), None);
        assert_eq!(message(puts(129)), Some(Answer::TOO_MANY_OPS.text().to_owned()));
        let mut op = nested_op(puts(65), vec![]);
        assert_eq!(message(vec![op.clone()]), None);
        for _ in 0..70 {
            op = nested_op(vec![op], vec![]);
        }
        assert_eq!(message(vec![op]), Some(Answer::TOO_MANY_OPS.text().to_owned()));
        let compare = TxnRequest { compare: vec![Compare::default()], ..TxnRequest::default() };
        assert_eq!(txn(&compare, 128).unwrap_err().message(), Answer::EMPTY_KEY.text());
        assert_eq!(message(vec![RequestOp::default()]), Some(Answer::KEY_NOT_FOUND.text().to_owned()));
    }
}
