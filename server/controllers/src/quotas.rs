//! Recounts the usage of quotas. Admission only increases it (upstream: `resourcequota.Controller`).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use admission::{counted_by_quota, quota_usage, selected_by_quota};
use endpoints::{Endpoint, GroupVersionResource, Loopback, RunningServer};
use generated::core::v1::ResourceQuota;
use machinery::scalar::Quantity;
use machinery::status::Status;
use registry::{ChangeKind, ListQuery, Predicate, ResourceStore, WatchEvent, is_text};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::{Next, Queue};

const QUOTAS: GroupVersionResource = ("", "v1", "resourcequotas");
/// Upstream's `--concurrent-resource-quota-syncs`.
const WORKERS: usize = 5;
/// Deletions within this time are counted together.
const COLLECT: Duration = Duration::from_millis(50);
/// Delay before a failed watch is started again.
const RETRY: Duration = Duration::from_secs(1);
/// How often a quota is recounted without a change (upstream: `--resource-quota-sync-period`).
const RESYNC: Duration = Duration::from_secs(300);
/// Delay before a changed status is counted again: objects that admission had charged may have been
/// stored after the count.
const CONFIRM: Duration = Duration::from_secs(5);
/// Resources whose usage changes with updates.
const CHANGING: [&str; 4] = ["pods", "services", "persistentvolumeclaims", "resourceclaims"];

type Hard = BTreeMap<String, Quantity>;
/// Namespace and name of a quota.
type Key = (String, String);

/// Recounts quotas when they change, and when objects that they count are deleted.
///
/// # Errors
/// The server lacks quotas.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(QUOTAS.0, QUOTAS.2)?;
    let quotas = Arc::new(Quotas {
        known: Mutex::default(),
        changes: watch::Sender::new(0),
        queue: context.queue("resourcequota_primary"),
    });
    let everything = Predicate::default();
    let of_quotas = follow(&store, &everything, |event: Event<ResourceQuota>| match event {
        Event::Stored(quota) => quotas.store(quota),
        Event::Deleted(quota) => quotas.remove(&key(&quota)),
        Event::Listed => {}
    });
    let loopback = context.loopback();
    let work = quotas.queue.work("resourcequota-controller", WORKERS, |key| sync(&context.server, &loopback, key));
    tokio::join!(of_quotas, watch_counted(context.server.clone(), quotas.clone()), work);
    Ok(())
}

/// The quotas of the cluster.
struct Quotas {
    known: Mutex<HashMap<Key, Hard>>,
    /// Changes of the limits of quotas.
    changes: watch::Sender<u64>,
    queue: Queue<Key>,
}

fn key(quota: &ResourceQuota) -> Key {
    (quota.metadata.namespace.clone(), quota.metadata.name.clone())
}

impl Quotas {
    /// Records a quota, and recounts it if its limits changed, or if its status is that of others.
    ///
    /// A charge needs no recount, even if the status lacks a limit that nothing counts: admission
    /// charges an object before the object is stored, and a recount between the two would remove
    /// the charge.
    fn store(&self, quota: ResourceQuota) {
        let (key, hard) = (key(&quota), quota.spec.hard);
        let is_counted = quota.status.hard == hard;
        let is_known = self.lock().insert(key.clone(), hard.clone()) == Some(hard);
        if !is_known {
            self.changes.send_modify(|changes| *changes += 1);
        }
        if !is_known || !is_counted {
            self.queue.add(key);
        }
    }

    fn remove(&self, key: &Key) {
        self.lock().remove(key);
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Whether a quota counts objects of a resource.
    fn counts(&self, resource: (&str, &str)) -> bool {
        self.lock().values().any(|hard| counted_by_quota(resource, hard).next().is_some())
    }

    /// Recounts the quotas of a namespace that count objects of a resource.
    fn recount(&self, namespace: &str, resource: (&str, &str)) {
        let known = self.lock();
        let of = known.iter().filter(|((of, _), _)| of == namespace);
        for (key, _) in of.filter(|(_, hard)| counted_by_quota(resource, hard).next().is_some()) {
            self.queue.add_after(key.clone(), COLLECT);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Hard>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A resource whose objects quotas can count.
struct Counted {
    group: &'static str,
    plural: &'static str,
    store: Arc<ResourceStore>,
}

/// The resources of the server, each once.
fn resources(server: &RunningServer) -> Vec<Counted> {
    let custom = server.environment.custom.get().and_then(std::sync::Weak::upgrade);
    let custom = custom.map(|custom| custom.all()).unwrap_or_default();
    let endpoints: Vec<&Arc<Endpoint>> = server.loopback.endpoints().chain(&custom).collect();
    let mut by_name = BTreeMap::new();
    for endpoint in endpoints.into_iter().filter(|endpoint| endpoint.resource.namespaced) {
        if let Some(store) = &endpoint.store {
            by_name.entry((endpoint.group_version.0, endpoint.resource.plural)).or_insert_with(|| store.clone());
        }
    }
    by_name.into_iter().map(|((group, plural), store)| Counted { group, plural, store }).collect()
}

/// Watches the resources that quotas count.
async fn watch_counted(server: Arc<RunningServer>, quotas: Arc<Quotas>) {
    let custom = server.environment.custom.get().and_then(std::sync::Weak::upgrade);
    let (unchanged, never) = watch::channel(0);
    let mut kinds = custom.as_ref().map_or(never, |custom| custom.changes());
    let mut limits = quotas.changes.subscribe();
    // They end when this future is dropped.
    let mut watches = JoinSet::new();
    let mut watched: HashMap<(&'static str, &'static str), (usize, tokio::task::AbortHandle)> = HashMap::new();
    loop {
        let mut before = std::mem::take(&mut watched);
        for counted in resources(&server).into_iter().filter(|counted| quotas.counts((counted.group, counted.plural))) {
            let (name, place) = ((counted.group, counted.plural), Arc::as_ptr(&counted.store).addr());
            let handle = match before.remove(&name).filter(|(known, _)| *known == place) {
                Some((_, handle)) => handle,
                None => watches.spawn(watch_one(counted, quotas.clone())),
            };
            watched.insert(name, (place, handle));
        }
        before.into_values().for_each(|(_, old)| old.abort());
        tokio::select! {
            Ok(()) = kinds.changed() => {}
            Ok(()) = limits.changed() => {}
            else => break,
        }
    }
    drop(unchanged);
}

/// Recounts quotas when an object of a resource is deleted, or changes its usage.
async fn watch_one(counted: Counted, quotas: Arc<Quotas>) {
    let resource = (counted.group, counted.plural);
    let changes = counted.group.is_empty() && CHANGING.contains(&counted.plural) || counted.plural == "resourceclaims";
    loop {
        let Ok(mut stream) = counted.store.watch_stored().await else { return };
        let mut is_listed = false;
        while let Some(Ok(event)) = stream.next().await {
            match event {
                WatchEvent::Object(ChangeKind::Modified, entry) if changes && is_listed => {
                    quotas.recount(namespace_of(&entry.key), resource);
                }
                WatchEvent::Object(ChangeKind::Deleted, entry) => quotas.recount(namespace_of(&entry.key), resource),
                WatchEvent::Object(..) => {}
                WatchEvent::InitialEventsEnd(_) => is_listed = true,
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// The namespace in the key of an object, the segment before its name.
fn namespace_of(key: &[u8]) -> &str {
    let text = std::str::from_utf8(key).unwrap_or_default();
    text.rsplit('/').nth(1).unwrap_or_default()
}

/// Counts the usage of a quota, and writes its status if that differs (`syncResourceQuota`).
async fn sync(server: &RunningServer, loopback: &Loopback, (namespace, name): Key) -> Result<Next, Status> {
    let Some(mut quota) = loopback.get::<ResourceQuota>(QUOTAS, &namespace, &name).await? else {
        return Ok(Next::Done);
    };
    let used = usage(server, &quota, &namespace).await?;
    if quota.status.hard == quota.spec.hard && quota.status.used == used {
        return Ok(Next::After(RESYNC));
    }
    (quota.status.hard, quota.status.used) = (quota.spec.hard.clone(), used);
    match loopback.update_status(QUOTAS, quota).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        written => written.map(|_| Next::After(CONFIRM)),
    }
}

/// The usage of everything that a quota limits (`quota.CalculateUsage`).
async fn usage(server: &RunningServer, quota: &ResourceQuota, namespace: &str) -> Result<Hard, Status> {
    let has_scopes = !quota.spec.scopes.is_empty() || quota.spec.scope_selector.is_some();
    let mut used = Hard::new();
    for counted in resources(server) {
        let resource = (counted.group, counted.plural);
        let names: Vec<&str> = counted_by_quota(resource, &quota.spec.hard).collect();
        if names.is_empty() {
            continue;
        }
        for name in &names {
            used.entry((*name).to_owned()).or_default();
        }
        let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
        if is_text(counted.store.storage_kind) {
            let count = counted.store.list(namespace, &Predicate::default(), &query).await?.entries.len();
            let count = Quantity::parse(&count.to_string()).map_err(Status::internal)?;
            for name in names {
                if let Some(sum) = used.get_mut(name) {
                    sum.add(&count);
                }
            }
            continue;
        }
        for entry in counted.store.list(namespace, &Predicate::default(), &query).await?.entries {
            let object = counted.store.object(&entry)?;
            if has_scopes && !selected_by_quota(quota, &object) {
                continue;
            }
            for (name, quantity) in quota_usage(resource, &object) {
                if let Some(sum) = names.contains(&name.as_str()).then(|| used.get_mut(&name)).flatten() {
                    sum.add(&quantity);
                }
            }
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(hard: &str, used: &str) -> ResourceQuota {
        let amounts = |count: &str| {
            let count = Quantity::parse(count).unwrap();
            Hard::from([("pods".to_owned(), count.clone()), ("count/made.up".to_owned(), count)])
        };
        let mut quota = ResourceQuota::default();
        quota.spec.hard = amounts(hard);
        quota.status.hard = amounts(hard);
        quota.status.used = amounts(used);
        quota.status.used.remove("count/made.up");
        quota
    }

    #[tokio::test]
    async fn charges_of_admission_need_no_recount() {
        let quotas = Quotas { known: Mutex::default(), changes: watch::Sender::new(0), queue: Queue::default() };
        quotas.store(quota("3", "0"));
        assert_eq!(quotas.queue.take_ready().len(), 1, "a new quota");
        quotas.store(quota("3", "1"));
        assert_eq!(quotas.queue.take_ready(), [], "a charge");
        quotas.store(quota("4", "1"));
        assert_eq!(quotas.queue.take_ready().len(), 1, "another limit");
        let mut recreated = quota("4", "1");
        recreated.status = Default::default();
        quotas.store(recreated);
        assert_eq!(quotas.queue.take_ready().len(), 1, "a quota of the same name whose deletion was not seen");
    }
}
