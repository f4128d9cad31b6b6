//! Leases for keys with a time to live, shared as upstream shares them (`etcd3.leaseManager`): granting one is dear, and events
//! all live equally long.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tonic::Status;

use super::client::{Client, Repeat};

/// How many keys one lease may have at most; revoking one deletes them all at once.
const KEYS: u32 = 1000;
/// A lease is shared for at most this part of the time to live.
const REUSE_PERCENT: u64 = 5;

pub(super) struct Leases {
    /// For how long one lease is given out at most.
    reuse: Duration,
    last: Mutex<Option<Lease>>,
}

struct Lease {
    id: i64,
    expires: Instant,
    keys: u32,
}

impl Leases {
    pub(super) fn new(reuse: Duration) -> Self {
        Self { reuse, last: Mutex::default() }
    }

    /// A lease that lasts at least so long, and not much longer.
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

/// A new lease of whole seconds.
pub(super) async fn grant(client: &Client, ttl: Duration) -> Result<i64, Status> {
    let seconds = ttl.as_secs().try_into().unwrap_or(i64::MAX);
    let granted = client.call(Repeat::Always, |member| {
        let mut lease = member.lease.clone();
        async move { lease.grant(seconds, None).await }
    });
    Ok(granted.await?.id())
}

/// How long a lease lasts from now on; nothing when it has run out.
pub(super) async fn time_left(client: &Client, id: i64) -> Result<Option<Duration>, Status> {
    let left = client.call(Repeat::Always, |member| {
        let mut lease = member.lease.clone();
        async move { lease.time_to_live(id, None).await }
    });
    // -1 when it has run out
    Ok(u64::try_from(left.await?.ttl()).ok().map(Duration::from_secs))
}
