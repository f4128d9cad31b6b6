//! Charges to quotas: usage that a write adds to a quota's status, and that is released when the
//! write fails.
//!
//! Upstream leaves the usage of failed writes to the next recount of the quota controller. Here a
//! charge is released only if no other writer has changed the quota since. A recount in between did
//! not count the failed write. Usage must never be less than the stored objects, because objects
//! beyond the limit could be created then.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use endpoints::AdmissionAttributes;
use generated::core::v1::ResourceQuota;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CheckWrite, Reservation, ResourceStore, UpdateOptions, UpdatedObjectInfo, WriteContext, WriteOutcome};

use super::super::forbidden;
use super::{Resources, charge};

/// This server's writes to the status of each quota, by quota UID.
#[derive(Default)]
pub struct Charges {
    own_writes: Mutex<HashMap<String, OwnWrites>>,
    /// One lock per quota, by namespace and name. It makes a charge and its record in `own_writes`
    /// atomic.
    locks: Mutex<HashMap<(String, String), QuotaLock>>,
}

/// The lock of a quota, held while this server changes its usage.
type QuotaLock = Arc<tokio::sync::Mutex<()>>;

/// Revisions of a quota that this server wrote, each with the revision that it replaced; newest
/// last.
type OwnWrites = VecDeque<(u64, u64)>;

/// Maximum number of recorded writes per quota. The charge of an older write stays until the next
/// recount.
const MAX_WRITES: usize = 1024;
/// Maximum number of recorded quotas. Beyond it all records are dropped, and their charges stay
/// until the next recount.
const MAX_QUOTAS: usize = 10_000;

impl Charges {
    fn own_writes(&self) -> MutexGuard<'_, HashMap<String, OwnWrites>> {
        self.own_writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the lock of a quota.
    fn quota_lock(&self, namespace: &str, name: &str) -> QuotaLock {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.len() >= MAX_QUOTAS {
            locks.retain(|_, quota_lock| Arc::strong_count(quota_lock) > 1);
        }
        locks.entry((namespace.to_owned(), name.to_owned())).or_default().clone()
    }

    fn record_write(&self, uid: &str, replaced: u64, revision: u64) {
        let mut all = self.own_writes();
        if all.len() >= MAX_QUOTAS && !all.contains_key(uid) {
            all.clear();
        }
        let own_writes = all.entry(uid.to_owned()).or_default();
        if own_writes.len() == MAX_WRITES {
            own_writes.pop_front();
        }
        if revision != replaced {
            own_writes.push_back((revision, replaced));
        }
    }

    /// Whether this server made all writes between two revisions of a quota.
    fn has_only_own_writes(&self, uid: &str, since: u64, now: u64) -> bool {
        let all = self.own_writes();
        let replaced: HashMap<u64, u64> = all.get(uid).into_iter().flatten().copied().collect();
        let mut at = now;
        while at > since {
            match replaced.get(&at) {
                Some(before) if *before < at => at = *before,
                _ => return false,
            }
        }
        at == since
    }

    /// Adds `delta` to the usage of a quota. The charge is released when the write does not store
    /// its object.
    ///
    /// # Errors
    /// When the usage would exceed the quota.
    pub async fn add(
        self: &Arc<Self>,
        store: &Arc<ResourceStore>,
        attributes: &AdmissionAttributes,
        name: &str,
        delta: &Resources,
    ) -> Result<(), Status> {
        let quota_lock = self.quota_lock(&attributes.namespace, name).lock_owned().await;
        let mut change = Add { attributes, delta, replaced: 0 };
        let written = update(store, &attributes.namespace, name, &mut change).await?;
        let (uid, revision) = (written.metadata.uid.clone(), revision(&written));
        self.record_write(&uid, change.replaced, revision);
        drop(quota_lock);
        attributes.reservations.add(Box::new(Charge {
            charges: self.clone(),
            store: store.clone(),
            namespace: attributes.namespace.clone(),
            name: name.to_owned(),
            uid,
            revision,
            delta: delta.clone(),
        }));
        Ok(())
    }
}

fn revision(quota: &ResourceQuota) -> u64 {
    quota.metadata.resource_version.parse().unwrap_or(0)
}

async fn update(
    store: &ResourceStore,
    namespace: &str,
    name: &str,
    change: &mut dyn UpdatedObjectInfo,
) -> Result<ResourceQuota, Status> {
    let context =
        WriteContext { namespace: namespace.to_owned(), subresource: "status".into(), ..WriteContext::default() };
    let options = UpdateOptions { subresource: "status".into(), ..UpdateOptions::default() };
    let updated = store.update(&context, name, &options, change).await?;
    updated.object.into_inner().map_err(|_| Status::internal("quotas are stored as something else"))
}

fn stored(current: Option<&Owned>) -> Result<ResourceQuota, Status> {
    let current = current.and_then(|object| object.downcast_ref::<ResourceQuota>().cloned());
    current.ok_or_else(|| Status::internal("the quota is gone"))
}

/// Adds to the usage of a quota; called again after a conflict.
struct Add<'r> {
    attributes: &'r AdmissionAttributes,
    delta: &'r Resources,
    /// The revision that the write replaces.
    replaced: u64,
}

impl CheckWrite for Add<'_> {}

#[async_trait]
impl UpdatedObjectInfo for Add<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut quota = stored(current)?;
        self.replaced = revision(&quota);
        quota.status.used = charge(&quota, self.delta).map_err(|why| forbidden(self.attributes, why))?;
        Ok(Owned::of(quota))
    }
}

/// The charge of one write to one quota.
struct Charge {
    charges: Arc<Charges>,
    store: Arc<ResourceStore>,
    namespace: String,
    name: String,
    uid: String,
    /// The revision that the charge created.
    revision: u64,
    delta: Resources,
}

#[async_trait]
impl Reservation for Charge {
    async fn finish(self: Box<Self>, outcome: WriteOutcome) {
        if outcome != WriteOutcome::NotStored {
            return;
        }
        let (store, namespace, name) = (self.store.clone(), self.namespace.clone(), self.name.clone());
        let _lock = self.charges.quota_lock(&namespace, &name).lock_owned().await;
        let mut change = Release { charge: &self, replaced: 0 };
        let written = update(&store, &namespace, &name, &mut change).await;
        match written {
            Ok(written) => self.charges.record_write(&self.uid, change.replaced, revision(&written)),
            Err(status) => {
                tracing::debug!(
                    namespace,
                    name,
                    why = status.message,
                    "usage of a failed write stays until the next recount"
                );
            }
        }
    }
}

/// Releases a charge.
struct Release<'c> {
    charge: &'c Charge,
    /// The revision that the write replaces.
    replaced: u64,
}

impl CheckWrite for Release<'_> {}

#[async_trait]
impl UpdatedObjectInfo for Release<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let (mut quota, charge) = (stored(current)?, self.charge);
        self.replaced = revision(&quota);
        let is_ours = quota.metadata.uid == charge.uid
            && charge.charges.has_only_own_writes(&charge.uid, charge.revision, self.replaced);
        if !is_ours {
            return Err(Status::internal("another writer has changed the quota since"));
        }
        for (name, quantity) in &charge.delta {
            if let Some(used) = quota.status.used.get_mut(name).filter(|_| quota.status.hard.contains_key(name)) {
                used.sub(quantity);
            }
        }
        Ok(Owned::of(quota))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_writes_of_other_writers() {
        let charges = Charges::default();
        for (replaced, revision) in [(10, 11), (12, 15), (11, 12)] {
            charges.record_write("uid", replaced, revision);
        }
        let check =
            |since, now, expect| assert_eq!(charges.has_only_own_writes("uid", since, now), expect, "{since} {now}");
        check(11, 11, true);
        check(11, 15, true);
        check(12, 15, true);
        check(15, 16, false);
        charges.record_write("uid", 16, 17);
        check(11, 17, false);
        check(16, 17, true);
        assert!(!charges.has_only_own_writes("another", 11, 15));
    }
}
