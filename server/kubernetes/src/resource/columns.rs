//! Printed columns of `resource` that are computed: the functions of `by_hand = ..` in its definitions.

use apimachinery::meta::v1::condition_status;
use machinery::print::{Cell, PrintContext};

use generated::resource::v1::ResourceClaim;
use generated::resource::v1alpha3::{PoolStatus, ResourcePoolStatusRequest, ResourcePoolStatusRequestStatus};

/// Condition types of the status of a pool.
const COMPLETE: &str = "Complete";
const FAILED: &str = "Failed";

pub fn resource_claim_state(claim: &ResourceClaim, _: &PrintContext) -> Cell {
    let is_deleted = claim.metadata.deletion_timestamp.is_some();
    let is_allocated = claim.status.allocation.is_some();
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (!claim.status.reserved_for.is_empty(), "reserved"),
    ];
    states.into_iter().filter(|(holds, _)| *holds).map(|(_, state)| state).collect::<Vec<_>>().join(",").into()
}

pub fn resource_pool_status_request_allocated(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    sum(request, |pool| pool.allocated_devices)
}

pub fn resource_pool_status_request_available(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    sum(request, |pool| pool.available_devices)
}

pub fn resource_pool_status_request_completed(request: &ResourcePoolStatusRequest, context: &PrintContext) -> Cell {
    let complete = request.status.iter().flat_map(|s| &s.conditions).find(|c| c.r#type == COMPLETE);
    complete.map_or("<none>".into(), |c| context.age(c.last_transition_time).into())
}

pub fn resource_pool_status_request_errors(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    sum(request, |pool| Some(i32::from(pool.validation_error.is_some())))
}

pub fn resource_pool_status_request_pools(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    request.status.as_ref().and_then(|s| s.pool_count).unwrap_or_default().into()
}

pub fn resource_pool_status_request_status(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    match request.status.as_deref() {
        Some(status) if is(status, FAILED) => FAILED.into(),
        Some(status) if is(status, COMPLETE) => match (status.pools.len(), status.pool_count.unwrap_or_default()) {
            (listed, all) if (listed as i64) < i64::from(all) => format!("Complete ({listed}/{all} pools)").into(),
            _ => COMPLETE.into(),
        },
        _ => "Pending".into(),
    }
}

pub fn resource_pool_status_request_total(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    sum(request, |pool| pool.total_devices)
}

pub fn resource_pool_status_request_unavailable(request: &ResourcePoolStatusRequest, _: &PrintContext) -> Cell {
    sum(request, |pool| pool.unavailable_devices)
}

fn is(status: &ResourcePoolStatusRequestStatus, kind: &str) -> bool {
    status.conditions.iter().any(|c| c.r#type == kind && c.status == condition_status::TRUE)
}

/// The sum of a number over all pools; unset for a request that is pending or has failed.
fn sum(request: &ResourcePoolStatusRequest, number: fn(&PoolStatus) -> Option<i32>) -> Cell {
    match request.status.as_deref() {
        Some(status) if !is(status, FAILED) => {
            let total: i64 = status.pools.iter().filter_map(number).map(i64::from).sum();
            total.to_string().into()
        }
        _ => "-".into(),
    }
}
