//! The service Lease.

use std::sync::Arc;

use futures_core::Stream;
use futures_util::stream;
use rand::Rng;
use tonic::{Status, Streaming};

use crate::{
    answer::{Answer, of_store},
    convert::signed,
    etcd::Etcd,
    proto::{
        LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse, LeaseLeasesResponse,
        LeaseRevokeRequest, LeaseRevokeResponse, LeaseStatus, LeaseTimeToLiveRequest, LeaseTimeToLiveResponse,
    },
};

/// The longest lifetime in seconds.
const MAX_TTL: i64 = 9_000_000_000;

pub(crate) async fn grant(etcd: Arc<Etcd>, request: LeaseGrantRequest) -> Result<LeaseGrantResponse, Status> {
    etcd.alarms.check_intact()?;
    etcd.alarms.check_space(etcd.member.id).await?;
    if request.ttl > MAX_TTL {
        return Err(Answer::LEASE_TTL_TOO_LARGE.into());
    }
    let id = if request.id == 0 { rand::rng().random_range(1..=i64::MAX) } else { request.id };
    let ttl = u64::try_from(request.ttl).unwrap_or(0).max(etcd.limits.min_lease_ttl);
    etcd.store.grant_lease(id, ttl).await.map_err(of_store)?;
    let header = Some(etcd.header().await?);
    Ok(LeaseGrantResponse { header, id, ttl: signed(ttl), error: String::new() })
}

pub(crate) async fn revoke(etcd: Arc<Etcd>, request: LeaseRevokeRequest) -> Result<LeaseRevokeResponse, Status> {
    etcd.alarms.check_intact()?;
    etcd.store.revoke_lease(request.id).await.map_err(of_store)?;
    Ok(LeaseRevokeResponse { header: Some(etcd.header().await?) })
}

/// Answers each renewal of a stream. A lease that does not exist has the lifetime 0.
pub(crate) fn keep_alive(
    etcd: Arc<Etcd>,
    requests: Streaming<LeaseKeepAliveRequest>,
) -> impl Stream<Item = Result<LeaseKeepAliveResponse, Status>> {
    stream::try_unfold((etcd, requests), |(etcd, mut requests)| async move {
        let request = tokio::select! {
            request = requests.message() => request?,
            () = etcd.stopped() => None,
        };
        let Some(LeaseKeepAliveRequest { id }) = request else { return Ok(None) };
        // The header is made first: the lease existed at its revision.
        let header = Some(etcd.header().await?);
        let ttl = signed(etcd.store.renew_lease(id).unwrap_or(0));
        Ok(Some((LeaseKeepAliveResponse { header, id, ttl }, (etcd, requests))))
    })
}

pub(crate) async fn time_to_live(
    etcd: Arc<Etcd>,
    request: LeaseTimeToLiveRequest,
) -> Result<LeaseTimeToLiveResponse, Status> {
    let header = Some(etcd.header().await?);
    let id = request.id;
    let Some(lease) = etcd.store.lease(id, request.keys).await.map_err(of_store)? else {
        return Ok(LeaseTimeToLiveResponse { header, id, ttl: -1, ..LeaseTimeToLiveResponse::default() });
    };
    let (ttl, granted_ttl) = (signed(lease.remaining.as_secs()), signed(lease.ttl));
    Ok(LeaseTimeToLiveResponse { header, id, ttl, granted_ttl, keys: lease.keys })
}

pub(crate) async fn leases(etcd: Arc<Etcd>, (): ()) -> Result<LeaseLeasesResponse, Status> {
    let leases = etcd.store.leases().into_iter().map(|id| LeaseStatus { id }).collect();
    Ok(LeaseLeasesResponse { header: Some(etcd.header().await?), leases })
}
