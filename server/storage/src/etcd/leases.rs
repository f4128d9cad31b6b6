//! Leases for keys with a TTL, shared as upstream shares them (`etcd3.leaseManager`). Granting a lease
//! is expensive, and all events have the same TTL.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tonic::Status;

use super::client::{Client, Repeat};

/// Maximum number of keys of one lease; its revocation deletes them at once.
const KEYS: u32 = 1000;
/// The part of the TTL for which a lease is reused, in percent.
const REUSE_PERCENT: u64 = 5;

pub(super) struct LeaseManager {
    /// Maximum time for which a lease is reused.
    reuse: Duration,
    last: Mutex<Option<Lease>>,
}

struct Lease {
    id: i64,
    expires: Instant,
    keys: u32,
}

impl LeaseManager {
    pub(super) fn new(reuse: Duration) -> Self {
        Self { reuse, last: Mutex::default() }
    }

    /// Returns a lease that lasts at least this long, and not much longer.
    pub(super) async fn get(&self, client: &Client, ttl_seconds: u64) -> Result<i64, Status> {
        let ttl = Duration::from_secs(ttl_seconds);
        let reuse = Duration::from_secs((ttl_seconds * REUSE_PERCENT / 100).min(self.reuse.as_secs()));
        let mut last = self.last.lock().await;
        let now = Instant::now();
        let fits =
            |lease: &&mut Lease| lease.keys < KEYS && now + ttl < lease.expires && lease.expires < now + ttl + reuse;
        if let Some(lease) = last.as_mut().filter(fits) {
            lease.keys += 1;
            return Ok(lease.id);
        }
        let id = grant(client, ttl + reuse).await?;
        *last = Some(Lease { id, expires: now + ttl + reuse, keys: 1 });
        Ok(id)
    }
}

/// Grants a new lease, in whole seconds.
pub(super) async fn grant(client: &Client, ttl: Duration) -> Result<i64, Status> {
    let seconds = ttl.as_secs().try_into().unwrap_or(i64::MAX);
    let granted = client.call(Repeat::Always, |member| {
        let mut lease = member.lease.clone();
        async move { lease.grant(seconds, None).await }
    });
    Ok(granted.await?.id())
}

/// Returns the remaining time of a lease; `None` when it has expired.
pub(super) async fn time_left(client: &Client, id: i64) -> Result<Option<Duration>, Status> {
    let left = client.call(Repeat::Always, |member| {
        let mut lease = member.lease.clone();
        async move { lease.time_to_live(id, None).await }
    });
    // -1 when the lease has expired
    Ok(u64::try_from(left.await?.ttl()).ok().map(Duration::from_secs))
}
