//! Deletion of all objects of a namespace, pods first (KEP-5080).

use std::collections::BTreeMap;
use std::time::Duration;

use endpoints::Discovery;
use machinery::status::Status;
use serde_json::{Value, json};

use crate::client::Client;
use crate::resources::{self, ServedResource, items, text};

/// How long objects with finalizers are expected to remain (`finalizerEstimateSeconds`).
const FINALIZER_ESTIMATE: i64 = 15;
/// Number of objects whose metadata is read at once.
const PAGE: usize = 500;
/// The longest wait before the content is read again (half of upstream's usual estimate).
const LONGEST_WAIT: i64 = 60;

/// The result of a round of deletion.
#[derive(Debug, Default)]
pub struct Deleted {
    /// Failed discovery, as upstream writes it; empty if there was none.
    pub discovery: String,
    /// Failed deletions.
    pub errors: Vec<String>,
    /// The number of objects that remain, by `plural.group`.
    pub objects: BTreeMap<String, usize>,
    /// The number of objects with a finalizer, by finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// Seconds after which the remaining objects are expected to be gone.
    pub estimate: i64,
}

impl Deleted {
    /// The failure of the round, which is repeated then.
    pub fn failure(&self) -> Option<String> {
        let discovery = (!self.discovery.is_empty()).then_some(self.discovery.as_str());
        let errors: Vec<&str> = discovery.into_iter().chain(self.errors.iter().map(String::as_str)).collect();
        (!errors.is_empty()).then(|| errors.join(", "))
    }

    /// The longest wait until the content is read again; `None` if nothing remains.
    pub fn remaining(&self) -> Option<Duration> {
        let wait = (self.estimate / 2 + 1).clamp(1, LONGEST_WAIT);
        (!self.objects.is_empty()).then(|| Duration::from_secs(wait.unsigned_abs()))
    }
}

/// Deletes all objects of a namespace. Pods are deleted first, and other objects only once there are
/// none, because pods rely on network policies and other objects.
///
/// # Errors
/// The server cannot read its own discovery.
pub async fn delete(client: &Client, discovery: &Discovery, namespace: &str) -> Result<Deleted, Status> {
    let served = resources::served(discovery)?;
    let mut deleted = Deleted::default();
    if !served.stale.is_empty() {
        let stale = served.stale.iter().map(|version| format!("{version}: stale GroupVersion discovery: {version}"));
        let stale = stale.collect::<Vec<_>>().join(", ");
        deleted.discovery = format!("unable to retrieve the complete list of server APIs: {stale}");
    }
    let is_deletable = |resource: &&ServedResource| resource.namespaced && resource.has_verb("delete");
    let is_pods = |resource: &ServedResource| resource.group.is_empty() && resource.plural == "pods";
    let deletable: Vec<&ServedResource> = served.resources.iter().filter(is_deletable).collect();
    let (pods, others): (Vec<_>, Vec<_>) = deletable.into_iter().partition(|resource| is_pods(resource));
    let mut round = Round { client, namespace, deleted };
    for resources in [pods, others] {
        for resource in resources {
            if let Err(status) = round.delete_all(resource).await {
                round.deleted.errors.push(status.message);
            }
        }
        if !round.deleted.objects.is_empty() || !round.deleted.errors.is_empty() {
            break;
        }
    }
    Ok(round.deleted)
}

/// A round of deletion in a namespace.
struct Round<'r> {
    client: &'r Client,
    namespace: &'r str,
    deleted: Deleted,
}

impl Round<'_> {
    /// Deletes the objects of a resource, and counts those that remain
    /// (`deleteAllContentForGroupVersionResource`).
    async fn delete_all(&mut self, resource: &ServedResource) -> Result<(), Status> {
        let path = resource.path(self.namespace);
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
        if !resource.has_verb("list") {
            return match resource.has_verb("deletecollection") {
                true => found(self.client.delete(&path, &options).await).map(drop),
                false => Ok(()),
            };
        }
        // Most resources have no objects in the namespace.
        if items(&found(self.client.metadata(&format!("{path}?limit=1")).await)?["items"]).next().is_none() {
            return Ok(());
        }
        match resource.has_verb("deletecollection") {
            true => drop(found(self.client.delete(&path, &options).await)?),
            false => self.delete_each(&path, &options).await?,
        }
        self.count(resource, &path).await
    }

    /// Deletes the objects of a resource that has no deletion of collections.
    async fn delete_each(&self, path: &str, options: &Value) -> Result<(), Status> {
        for object in self.list(path).await? {
            found(self.client.delete(&format!("{path}/{}", text(&object["metadata"]["name"])), options).await)?;
        }
        Ok(())
    }

    async fn count(&mut self, resource: &ServedResource, path: &str) -> Result<(), Status> {
        let remaining = self.list(path).await?;
        if remaining.is_empty() {
            return Ok(());
        }
        self.deleted.objects.insert(resource.name(), remaining.len());
        for object in &remaining {
            let metadata = &object["metadata"];
            for finalizer in items(&metadata["finalizers"]) {
                *self.deleted.finalizers.entry(text(finalizer)).or_default() += 1;
                self.deleted.estimate = self.deleted.estimate.max(FINALIZER_ESTIMATE);
            }
            let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
            self.deleted.estimate = self.deleted.estimate.max(grace);
        }
        Ok(())
    }

    /// Lists metadata of all objects.
    async fn list(&self, path: &str) -> Result<Vec<Value>, Status> {
        let (mut all, mut next) = (Vec::new(), String::new());
        loop {
            let mut page = found(self.client.metadata(&format!("{path}?limit={PAGE}{next}")).await)?;
            match page["items"].take() {
                Value::Array(objects) => all.extend(objects),
                _ => return Ok(all),
            }
            match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                Some(token) => next = format!("&continue={token}"),
                None => return Ok(all),
            }
        }
    }
}

/// Treats a resource as empty that is not served any more, or not with this verb.
fn found(answer: Result<Value, Status>) -> Result<Value, Status> {
    match answer {
        Err(status) if matches!(status.code, 404 | 405) => Ok(Value::Null),
        answer => answer,
    }
}
