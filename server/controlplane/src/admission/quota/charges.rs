//! Charges to quotas: usage that a write adds to the status of a quota, and that is taken back when the write stores nothing.
//!
//! Upstream leaves the usage of failed writes to the quota controller's next recount. A charge is taken back here only when no writer but
//! this server has changed the quota since the charge. A recount in between did not count the failed write, and usage must never be
//! less than what is stored: an object beyond the limit could be created then.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use endpoints::Attributes;
use generated::core::v1::ResourceQuota;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Change, CheckWrite, Context, Outcome, Pending, ResourceStore, UpdateOptions};

use super::super::forbidden;
use super::{Resources, charge};

/// The writes of this server to the status of each quota, by the quota's uid.
#[derive(Default)]
pub struct Charges {
    links: Mutex<HashMap<String, Links>>,
    /// One lock for each quota, by namespace and name. A charge and its record in `links` are one step for other charges of the quota.
    turns: Mutex<HashMap<(String, String), Turn>>,
}

/// Held while this server changes the usage of one quota.
type Turn = Arc<tokio::sync::Mutex<()>>;

/// Revisions of a quota that this server wrote, each with the revision that it replaced; the newest last.
type Links = VecDeque<(u64, u64)>;

/// How many writes of a quota are remembered. A charge that is older stays until the next recount.
const LINKS: usize = 1024;
/// How many quotas are remembered; beyond it all are forgotten, and their charges stay until the next recount.
const QUOTAS: usize = 10_000;

impl Charges {
    fn links(&self) -> MutexGuard<'_, HashMap<String, Links>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock of a quota, which is held while this server changes the quota's usage.
    fn turn(&self, namespace: &str, name: &str) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= QUOTAS {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        turns.entry((namespace.to_owned(), name.to_owned())).or_default().clone()
    }

    fn wrote(&self, uid: &str, replaced: u64, revision: u64) {
        let mut all = self.links();
        if all.len() >= QUOTAS && !all.contains_key(uid) {
            all.clear();
        }
        let links = all.entry(uid.to_owned()).or_default();
        if links.len() == LINKS {
            links.pop_front();
        }
        if revision != replaced {
            links.push_back((revision, replaced));
        }
    }

    /// Whether everything between two revisions of a quota was written by this server.
    fn only_we_wrote(&self, uid: &str, since: u64, now: u64) -> bool {
        let all = self.links();
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

    /// Adds `delta` to the usage of a quota for as long as the write lasts, and for good when it stores its object.
    ///
    /// # Errors
    /// That the usage would exceed the quota.
    pub async fn add(
        self: &Arc<Self>,
        store: &Arc<ResourceStore>,
        attributes: &Attributes,
        name: &str,
        delta: &Resources,
    ) -> Result<(), Status> {
        let turn = self.turn(&attributes.namespace, name).lock_owned().await;
        let mut change = Add { attributes, delta, replaced: 0 };
        let written = update(store, &attributes.namespace, name, &mut change).await?;
        let (uid, revision) = (written.metadata.uid.clone(), revision(&written));
        self.wrote(&uid, change.replaced, revision);
        drop(turn);
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
    change: &mut dyn Change,
) -> Result<ResourceQuota, Status> {
    let context = Context { namespace: namespace.to_owned(), subresource: "status".into(), ..Context::default() };
    let options = UpdateOptions { subresource: "status".into(), ..UpdateOptions::default() };
    let updated = store.update(&context, name, &options, change).await?;
    updated.object.into_inner().map_err(|_| Status::internal("quotas are stored as something else"))
}

fn stored(current: Option<&Owned>) -> Result<ResourceQuota, Status> {
    let current = current.and_then(|object| object.downcast_ref::<ResourceQuota>().cloned());
    current.ok_or_else(|| Status::internal("the quota is gone"))
}

/// Adds to what a quota has counted; called again when another writer was faster.
struct Add<'r> {
    attributes: &'r Attributes,
    delta: &'r Resources,
    /// The revision that is replaced.
    replaced: u64,
}

impl CheckWrite for Add<'_> {}

#[async_trait]
impl Change for Add<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut quota = stored(current)?;
        self.replaced = revision(&quota);
        quota.status.used = charge(&quota, self.delta).map_err(|why| forbidden(self.attributes, why))?;
        Ok(Owned::of(quota))
    }
}

/// What one write has added to the usage of one quota.
struct Charge {
    charges: Arc<Charges>,
    store: Arc<ResourceStore>,
    namespace: String,
    name: String,
    uid: String,
    /// The revision that the charge made.
    revision: u64,
    delta: Resources,
}

#[async_trait]
impl Pending for Charge {
    async fn finish(self: Box<Self>, outcome: Outcome) {
        if outcome != Outcome::NotStored {
            return;
        }
        let (store, namespace, name) = (self.store.clone(), self.namespace.clone(), self.name.clone());
        let _turn = self.charges.turn(&namespace, &name).lock_owned().await;
        let mut change = TakeBack { charge: &self, replaced: 0 };
        let written = update(&store, &namespace, &name, &mut change).await;
        match written {
            Ok(written) => self.charges.wrote(&self.uid, change.replaced, revision(&written)),
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

/// Takes a charge back.
struct TakeBack<'c> {
    charge: &'c Charge,
    /// The revision that is replaced.
    replaced: u64,
}

impl CheckWrite for TakeBack<'_> {}

#[async_trait]
impl Change for TakeBack<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let (mut quota, charge) = (stored(current)?, self.charge);
        self.replaced = revision(&quota);
        let is_ours = quota.metadata.uid == charge.uid
            && charge.charges.only_we_wrote(&charge.uid, charge.revision, self.replaced);
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
    fn a_write_of_another_writer_is_noticed() {
        let charges = Charges::default();
        for (replaced, revision) in [(10, 11), (12, 15), (11, 12)] {
            charges.wrote("uid", replaced, revision);
        }
        let check = |since, now, expect| assert_eq!(charges.only_we_wrote("uid", since, now), expect, "{since} {now}");
        check(11, 11, true);
        check(11, 15, true);
        check(12, 15, true);
        check(15, 16, false);
        charges.wrote("uid", 16, 17);
        check(11, 17, false);
        check(16, 17, true);
        assert!(!charges.only_we_wrote("another", 11, 15));
    }
}
