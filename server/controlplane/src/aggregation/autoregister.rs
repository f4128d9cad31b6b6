//! Reconciles the APIServices of this server (upstream: `autoRegisterController.checkAPIService`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiregistration::v1::APIService;
use endpoints::Loopback;
use futures_util::future::join_all;
use machinery::status::Status;
use registry::Informer;
use telemetry::metrics::WorkQueue;

use super::API_SERVICES;
use super::desired::{ALWAYS, Desired, DesiredService, MANAGED, ON_START};

/// The delay after a failure.
const RETRY: Duration = Duration::from_millis(500);

/// Creates, updates, and deletes APIServices.
pub struct Autoregister {
    loopback: Arc<Loopback>,
    services: Informer<APIService>,
    desired: Desired,
    queue: WorkQueue,
    /// APIServices that existed before this server started.
    at_start: BTreeSet<String>,
    /// APIServices that were reconciled successfully.
    synced: BTreeSet<String>,
}

/// The action for an APIService.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Nothing,
    Create,
    Update,
    Delete,
}

impl Autoregister {
    pub fn new(loopback: Arc<Loopback>, services: Informer<APIService>, desired: Desired, queue: WorkQueue) -> Self {
        let at_start = services.all().iter().map(|service| service.metadata.name.clone()).collect();
        Autoregister { loopback, services, desired, queue, at_start, synced: BTreeSet::new() }
    }

    /// Reconciles on every change. Does not return.
    pub async fn follow(mut self) {
        let mut services = self.services.changes();
        let mut desired = self.desired.changes();
        loop {
            let failed = self.sync().await;
            let changed = async {
                match &mut desired {
                    Some(desired) => tokio::select! { _ = services.changed() => {}, _ = desired.changed() => {} },
                    None => drop(services.changed().await),
                }
            };
            match failed {
                Ok(()) => changed.await,
                Err(status) => {
                    tracing::warn!(why = status.message, "cannot register the APIServices of this server; retrying");
                    let _ = tokio::time::timeout(RETRY, changed).await;
                }
            }
        }
    }

    /// Reconciles all APIServices. Returns the last error.
    pub async fn sync(&mut self) -> Result<(), Status> {
        let desired = self.desired.all();
        let current: BTreeMap<String, Arc<APIService>> =
            self.services.all().into_iter().map(|service| (service.metadata.name.clone(), service)).collect();
        let names: BTreeSet<&String> = desired.keys().chain(current.keys()).collect();
        let acts = names.into_iter().map(|name| {
            let (wanted, found) = (desired.get(name), current.get(name).map(Arc::as_ref));
            let action = action(wanted, found, self.synced.contains(name), self.at_start.contains(name));
            let act = self.act(action, name, wanted, found);
            let waiting = self.queue.add();
            async move {
                let _working = waiting.begin();
                (name, act.await)
            }
        });
        let mut outcome = Ok(());
        for (name, acted) in join_all(acts).await {
            match acted {
                Ok(()) => drop(self.synced.insert(name.clone())),
                Err(status) => {
                    self.queue.failed();
                    outcome = Err(status);
                }
            }
        }
        // Removed APIServices that are not desired need no entry.
        self.synced.retain(|name| desired.contains_key(name) || current.contains_key(name));
        outcome
    }

    async fn act(
        &self,
        action: Action,
        name: &str,
        wanted: Option<&DesiredService>,
        found: Option<&APIService>,
    ) -> Result<(), Status> {
        let outcome = match (action, wanted, found) {
            (Action::Create, Some(wanted), _) => self.loopback.create(API_SERVICES, wanted.service()).await.map(drop),
            (Action::Update, Some(wanted), Some(found)) => {
                let corrected = APIService { spec: wanted.spec(), ..found.clone() };
                self.loopback.update(API_SERVICES, corrected).await.map(drop)
            }
            (Action::Delete, ..) => self.loopback.delete(API_SERVICES, "", name).await,
            _ => Ok(()),
        };
        match outcome {
            // Another writer was faster. Its change triggers another reconciliation.
            Err(status) if matches!(status.code, 404 | 409) => Ok(()),
            outcome => outcome,
        }
    }
}

/// Returns the action for an APIService, from the desired and the current object, whether it was
/// reconciled before, and whether it existed before this server started.
fn action(wanted: Option<&DesiredService>, found: Option<&APIService>, synced: bool, at_start: bool) -> Action {
    let wants = wanted.map(|wanted| wanted.managed);
    let has = found.and_then(|found| found.metadata.labels.get(MANAGED)).map(String::as_str);
    let on_start = |managed: Option<&str>| managed == Some(ON_START);
    match (wanted, found) {
        (Some(_), _) if on_start(wants) && synced => Action::Nothing,
        (Some(_), None) => Action::Create,
        (_, Some(_)) if !matches!(has, Some(ON_START | ALWAYS)) => Action::Nothing,
        (_, Some(_)) if on_start(has) && (synced || !at_start) => Action::Nothing,
        (None, Some(_)) => Action::Delete,
        (Some(wanted), Some(found)) if wanted.spec() != found.spec => Action::Update,
        _ => Action::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(managed: &'static str, version_priority: i32) -> Option<DesiredService> {
        let (group, version) = (String::new(), String::new());
        (managed != "-").then_some(DesiredService { group, version, group_priority: 0, version_priority, managed })
    }

    fn service(managed: &'static str, version_priority: i32) -> Option<APIService> {
        wanted(managed, version_priority).map(|wanted| wanted.service())
    }

    /// The table in upstream's description of `checkAPIService`.
    #[test]
    fn actions_match_upstreams_table() {
        use Action::*;
        for (wanted, found, synced, at_start, expect) in [
            ("-", "no", false, false, Nothing),
            ("onstart", "-", false, false, Create),
            ("onstart", "-", true, false, Nothing),
            ("true", "-", true, false, Create),
            ("true", "no", true, false, Nothing),
            ("-", "onstart", false, true, Delete),
            ("-", "onstart", true, true, Nothing),
            ("-", "onstart", false, false, Nothing),
            ("onstart", "onstart", false, true, Update),
            ("onstart", "onstart", true, true, Nothing),
            ("-", "true", true, false, Delete),
            ("true", "true", true, false, Update),
            ("onstart", "true", false, false, Update),
        ] {
            let actual = action(self::wanted(wanted, 1).as_ref(), service(found, 2).as_ref(), synced, at_start);
            assert_eq!(actual, expect, "{wanted} {found} {synced} {at_start}");
        }
        assert_eq!(action(wanted("true", 1).as_ref(), service("true", 1).as_ref(), true, false), Nothing);
    }
}
