//! Conversion between etcd's messages and the model of the store.

use bytes::Bytes;
use storage::{
    Event, EventKind, KeyRange, KeyValue,
    model::{
        self, DeleteRange, DeleteResult, Filter, Operand, Order, Property, Put, PutResult, RangeQuery, RangeResult,
        Relation, Request, Response, Transaction, TransactionResult,
    },
};

use crate::proto::{
    Compare, DeleteRangeRequest, DeleteRangeResponse, PutRequest, PutResponse, RangeRequest, RangeResponse, RequestOp,
    ResponseHeader, ResponseOp, TxnRequest, TxnResponse,
    compare::{CompareResult, CompareTarget, TargetUnion},
    mvccpb,
    range_request::{SortOrder, SortTarget},
    request_op, response_op,
};

/// Converts a number to etcd's signed one.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a revision or limit; etcd takes negative ones as none.
pub(crate) fn positive(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|&number| number != 0)
}

/// Converts a range: no end is one key, and a zero byte is the end of all keys.
pub(crate) fn range(key: &Bytes, range_end: &Bytes) -> KeyRange {
    match &range_end[..] {
        [] => KeyRange::key(key.clone()),
        [0] => KeyRange::new(key.clone(), None),
        _ => KeyRange::new(key.clone(), Some(range_end.clone())),
    }
}

pub(crate) fn range_request(request: &RangeRequest) -> RangeQuery {
    RangeQuery {
        range: range(&request.key, &request.range_end),
        limit: positive(request.limit).unwrap_or(0),
        revision: positive(request.revision),
        order: order(request),
        keys_only: request.keys_only,
        count_only: request.count_only,
        filter: Filter {
            min_mod: request.min_mod_revision,
            max_mod: request.max_mod_revision,
            min_create: request.min_create_revision,
            max_create: request.max_create_revision,
        },
    }
}

/// The order of a range. Without one, targets other than the key are ascending.
fn order(request: &RangeRequest) -> Option<Order> {
    let by = match request.sort_target() {
        SortTarget::Key => Property::Key,
        SortTarget::Version => Property::Version,
        SortTarget::Create => Property::CreateRevision,
        SortTarget::Mod => Property::ModRevision,
        SortTarget::Value => Property::Value,
    };
    match (request.sort_order(), by) {
        (SortOrder::None | SortOrder::Ascend, Property::Key) => None,
        (SortOrder::None | SortOrder::Ascend, by) => Some(Order { by, descending: false }),
        (SortOrder::Descend, by) => Some(Order { by, descending: true }),
    }
}

pub(crate) fn put_request(request: PutRequest) -> Put {
    Put {
        key: request.key,
        value: request.value,
        lease: request.lease,
        prev_kv: request.prev_kv,
        ignore_value: request.ignore_value,
        ignore_lease: request.ignore_lease,
    }
}

pub(crate) fn delete_request(request: &DeleteRangeRequest) -> DeleteRange {
    DeleteRange { range: range(&request.key, &request.range_end), prev_kv: request.prev_kv }
}

/// Converts a transaction that was checked.
pub(crate) fn txn_request(request: TxnRequest) -> Transaction {
    let requests = |ops: Vec<RequestOp>| ops.into_iter().filter_map(|op| op.request).map(operation).collect();
    Transaction {
        compare: request.compare.iter().map(compare).collect(),
        success: requests(request.success),
        failure: requests(request.failure),
    }
}

fn operation(request: request_op::Request) -> Request {
    match request {
        request_op::Request::Range(request) => Request::Range(range_request(&request)),
        request_op::Request::Put(request) => Request::Put(put_request(request)),
        request_op::Request::DeleteRange(request) => Request::Delete(delete_request(&request)),
        request_op::Request::Txn(request) => Request::Transaction(txn_request(request)),
    }
}

/// Converts a comparison. A missing operand, or one of another type, counts as zero.
fn compare(compare: &Compare) -> model::Compare {
    let operand = compare.target_union.as_ref();
    let with = match compare.target() {
        CompareTarget::Version => Operand::Version(match operand {
            Some(TargetUnion::Version(version)) => *version,
            _ => 0,
        }),
        CompareTarget::Create => Operand::CreateRevision(match operand {
            Some(TargetUnion::CreateRevision(revision)) => *revision,
            _ => 0,
        }),
        CompareTarget::Mod => Operand::ModRevision(match operand {
            Some(TargetUnion::ModRevision(revision)) => *revision,
            _ => 0,
        }),
        CompareTarget::Value => Operand::Value(match operand {
            Some(TargetUnion::Value(value)) => value.clone(),
            _ => Bytes::new(),
        }),
        CompareTarget::Lease => Operand::Lease(match operand {
            Some(TargetUnion::Lease(lease)) => *lease,
            _ => 0,
        }),
    };
    let condition = match compare.result() {
        CompareResult::Equal => Relation::Equal,
        CompareResult::Greater => Relation::Greater,
        CompareResult::Less => Relation::Less,
        CompareResult::NotEqual => Relation::NotEqual,
    };
    model::Compare { range: range(&compare.key, &compare.range_end), condition, with }
}

pub(crate) fn key_value(kv: KeyValue) -> mvccpb::KeyValue {
    mvccpb::KeyValue {
        key: kv.key,
        create_revision: signed(kv.create_revision),
        mod_revision: signed(kv.mod_revision),
        version: signed(kv.version),
        value: kv.value,
        lease: kv.lease,
    }
}

fn key_values(kvs: Vec<KeyValue>) -> Vec<mvccpb::KeyValue> {
    kvs.into_iter().map(key_value).collect()
}

pub(crate) fn range_response(header: ResponseHeader, result: RangeResult) -> RangeResponse {
    RangeResponse { header: Some(header), kvs: key_values(result.kvs), more: result.more, count: signed(result.count) }
}

pub(crate) fn put_response(header: ResponseHeader, result: PutResult) -> PutResponse {
    PutResponse { header: Some(header), prev_kv: result.prev.map(key_value) }
}

pub(crate) fn delete_response(header: ResponseHeader, result: DeleteResult) -> DeleteRangeResponse {
    DeleteRangeResponse { header: Some(header), deleted: signed(result.deleted), prev_kvs: key_values(result.prev) }
}

pub(crate) fn txn_response(header: ResponseHeader, result: TransactionResult) -> TxnResponse {
    let responses = result.responses.into_iter().map(response).collect();
    TxnResponse { header: Some(header), succeeded: result.succeeded, responses }
}

/// Converts the response to an operation of a transaction. Its header has only a revision, and that of
/// a nested transaction nothing.
fn response(response: Response) -> ResponseOp {
    let header = |revision| ResponseHeader { revision: signed(revision), ..ResponseHeader::default() };
    let response = match response {
        Response::Range(result) => response_op::Response::Range(range_response(header(result.revision), result)),
        Response::Put(result) => response_op::Response::Put(put_response(header(result.revision), result)),
        Response::Delete(result) => {
            response_op::Response::DeleteRange(delete_response(header(result.revision), result))
        }
        Response::Transaction(result) => response_op::Response::Txn(txn_response(ResponseHeader::default(), result)),
    };
    ResponseOp { response: Some(response) }
}

/// Converts a change, with the key before it on request.
pub(crate) fn event(event: &Event, prev_kv: bool) -> mvccpb::Event {
    let kind = match event.kind {
        EventKind::Put => mvccpb::event::EventType::Put,
        EventKind::Delete => mvccpb::event::EventType::Delete,
    };
    mvccpb::Event {
        r#type: kind as i32,
        kv: Some(key_value(event.kv.clone())),
        prev_kv: event.prev.clone().filter(|_| prev_kv).map(key_value),
    }
}
