//! The service KV.

use std::sync::Arc;

use storage::{
    Store,
    model::{Request, Response},
};
use tonic::Status;

use crate::{
    answer::{Answer, of_store},
    check, convert,
    etcd::Etcd,
    proto::{
        CompactionRequest, CompactionResponse, DeleteRangeRequest, DeleteRangeResponse, PutRequest, PutResponse,
        RangeRequest, RangeResponse, RequestOp, TxnRequest, TxnResponse, request_op,
    },
};

pub(crate) async fn range(etcd: Arc<Etcd>, request: RangeRequest) -> Result<RangeResponse, Status> {
    check::range(&request)?;
    etcd.alarms.check_intact()?;
    let result = etcd.store.range(convert::range_request(&request)).await.map_err(of_store)?;
    Ok(convert::range_response(etcd.header_at(result.revision), result))
}

pub(crate) async fn put(etcd: Arc<Etcd>, request: PutRequest) -> Result<PutResponse, Status> {
    check::put(&request)?;
    etcd.check_size(&request)?;
    etcd.alarms.check_intact()?;
    etcd.alarms.check_space(etcd.member.id).await?;
    match transact(&etcd, Request::Put(convert::put_request(request))).await? {
        Response::Put(result) => Ok(convert::put_response(etcd.header_at(result.revision), result)),
        _ => Err(mismatch()),
    }
}

pub(crate) async fn delete_range(etcd: Arc<Etcd>, request: DeleteRangeRequest) -> Result<DeleteRangeResponse, Status> {
    check::delete_range(&request)?;
    etcd.check_size(&request)?;
    etcd.alarms.check_intact()?;
    match transact(&etcd, Request::Delete(convert::delete_request(&request))).await? {
        Response::Delete(result) => Ok(convert::delete_response(etcd.header_at(result.revision), result)),
        _ => Err(mismatch()),
    }
}

pub(crate) async fn txn(etcd: Arc<Etcd>, request: TxnRequest) -> Result<TxnResponse, Status> {
    check::txn(&request, etcd.limits.max_txn_ops)?;
    etcd.alarms.check_intact()?;
    if puts(&request) {
        etcd.alarms.check_space(etcd.member.id).await?;
    }
    let request = {
        let size = etcd.check_size(&request);
        let request = Request::Transaction(convert::txn_request(request));
        if !request.is_read_only() {
            size?;
        }
        request
    };
    match transact(&etcd, request).await? {
        Response::Transaction(result) => Ok(convert::txn_response(etcd.header_at(result.revision), result)),
        _ => Err(mismatch()),
    }
}

pub(crate) async fn compact(etcd: Arc<Etcd>, request: CompactionRequest) -> Result<CompactionResponse, Status> {
    etcd.alarms.check_intact()?;
    let Some(revision) = convert::positive(request.revision) else { return Err(Answer::COMPACTED.into()) };
    let outcome = match request.physical {
        true => etcd.store.compact_physically(revision).await,
        false => etcd.store.compact(revision).await,
    };
    outcome.map_err(of_store)?;
    Ok(CompactionResponse { header: Some(etcd.header().await?) })
}

async fn transact(etcd: &Etcd, request: Request) -> Result<Response, Status> {
    etcd.store.transact(request).await.map_err(of_store)
}

/// Whether a transaction can need space.
fn puts(request: &TxnRequest) -> bool {
    let puts = |op: &RequestOp| match &op.request {
        Some(request_op::Request::Put(_)) => true,
        Some(request_op::Request::Txn(request)) => self::puts(request),
        _ => false,
    };
    request.success.iter().chain(&request.failure).any(puts)
}

/// The error for a response that does not answer the request. The store never gives one.
fn mismatch() -> Status {
    Status::internal("etcdserver: the store answered another request")
}
