//! Deletes objects whose owners are gone, and releases objects that wait for their dependents
//! (upstream: `garbagecollector.GarbageCollector`).

use std::sync::Arc;

use endpoints::{Discovery, Loopback};
use machinery::status::Status;
use registry::Clock;
use serde_json::{Value, json};

use super::builder::{GraphState, Task};
use super::invalid_owners::InvalidOwners;
use super::metadata::{FOREGROUND, Metadata, ORPHAN, Owner};
use super::watched::Object;
use crate::client::Client;
use crate::queue::Next;
use crate::resources;

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// It exists.
    Solid,
    /// It exists, and waits for its dependents to be deleted.
    Waiting,
    /// It does not exist in the namespace of the dependent.
    Absent,
    /// Its kind is not served at present.
    UnknownKind,
    /// It is in a namespace, and the dependent is not.
    OutOfReach,
}

/// The workers of the garbage collector.
pub struct Collector {
    shared: Arc<GraphState>,
    client: Client,
    discovery: Arc<Discovery>,
    invalid: InvalidOwners,
}

impl Collector {
    /// Creates the workers.
    pub fn new(
        shared: Arc<GraphState>,
        client: Client,
        discovery: Arc<Discovery>,
        loopback: Loopback,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Collector { shared, client, discovery, invalid: InvalidOwners::new(loopback, clock) }
    }

    /// Looks at an object.
    ///
    /// # Errors
    /// A request failed; the object is looked at again.
    pub async fn sync(&self, task: Task) -> Result<Next, Status> {
        match task {
            Task::Collect(object) => self.collect(object).await?,
            Task::Orphan(object) => self.orphan(object).await?,
        }
        Ok(Next::Done)
    }

    /// Deletes an object whose owners are gone (`attemptToDeleteItem`).
    async fn collect(&self, object: Object) -> Result<(), Status> {
        let Some(metadata) = current(&object).await? else { return Ok(()) };
        if metadata.is_deleting() {
            return match metadata.waits_for_dependents() {
                true => self.release_when_empty(&object, &metadata).await,
                false => Ok(()),
            };
        }
        let mut states = Vec::with_capacity(metadata.owner_references.len());
        for owner in &metadata.owner_references {
            states.push(self.state(&object, owner).await?);
        }
        if states.contains(&OwnerState::UnknownKind) {
            self.shared.postpone(object);
            return Ok(());
        }
        for (owner, state) in metadata.owner_references.iter().zip(&states) {
            if matches!(state, OwnerState::Absent | OwnerState::OutOfReach) {
                self.invalid.report(&object, owner, &self.shared.resources()).await;
            }
        }
        if states.is_empty() || states.contains(&OwnerState::OutOfReach) {
            return Ok(());
        }
        if states.contains(&OwnerState::Solid) {
            let is_solid = states.iter().map(|state| *state == OwnerState::Solid);
            let solid: Vec<&Owner> =
                metadata.owner_references.iter().zip(is_solid).filter_map(|(owner, is)| is.then_some(owner)).collect();
            return match solid.len() == states.len() {
                true => Ok(()),
                false => self.set_owners(&object, &metadata, &solid).await,
            };
        }
        let has_dependents = states.contains(&OwnerState::Waiting) && {
            self.shared.catch_up().await;
            self.shared.graph().dependents_of(&object.uid).next().is_some()
        };
        if has_dependents {
            let metadata = self.unblock_circle(&object, metadata).await?;
            return self.delete(&object, &metadata, "Foreground").await;
        }
        let policy = match () {
            () if metadata.has_finalizer(ORPHAN) => "Orphan",
            () if metadata.has_finalizer(FOREGROUND) => "Foreground",
            () => "Background",
        };
        self.delete(&object, &metadata, policy).await
    }

    /// Returns the state of an owner (`isDangling`, `classifyReferences`).
    async fn state(&self, object: &Object, owner: &Owner) -> Result<OwnerState, Status> {
        let resources = self.shared.resources();
        let Some(resource) = resources.of_kind(&owner.api_version, &owner.kind) else {
            return self.remote_state(object, owner).await;
        };
        if resource.namespaced && object.namespace.is_empty() {
            return Ok(OwnerState::OutOfReach);
        }
        let namespace = if resource.namespaced { &*object.namespace } else { "" };
        let Some(entry) = resource.store.stored_entry(namespace, &owner.name).await? else {
            return Ok(OwnerState::Absent);
        };
        let found = resource.metadata(&entry)?;
        Ok(match () {
            () if found.uid != owner.uid => OwnerState::Absent,
            () if found.waits_for_dependents() => OwnerState::Waiting,
            () => OwnerState::Solid,
        })
    }

    /// Returns the state of an owner in an aggregated server.
    async fn remote_state(&self, object: &Object, owner: &Owner) -> Result<OwnerState, Status> {
        let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
        if self.discovery.registrations().current().backend(group, version).is_none() {
            return Ok(OwnerState::UnknownKind);
        }
        let served = resources::served(&self.discovery)?;
        let is_kind = |known: &&resources::ServedResource| known.group == group && known.kind == owner.kind;
        let Some(resource) = served.resources.iter().find(is_kind) else { return Ok(OwnerState::UnknownKind) };
        if resource.namespaced && object.namespace.is_empty() {
            return Ok(OwnerState::OutOfReach);
        }
        let namespace = if resource.namespaced { &*object.namespace } else { "" };
        let found = match self.client.metadata(&format!("{}/{}", resource.path(namespace), owner.name)).await {
            Ok(found) => found,
            Err(status) if status.code == 404 => return Ok(OwnerState::Absent),
            Err(status) => return Err(status),
        };
        let metadata = &found["metadata"];
        let is_deleting = !metadata["deletionTimestamp"].is_null();
        let waits = is_deleting && resources::items(&metadata["finalizers"]).any(|finalizer| finalizer == FOREGROUND);
        Ok(match () {
            () if metadata["uid"] != owner.uid.as_str() => OwnerState::Absent,
            () if waits => OwnerState::Waiting,
            () => OwnerState::Solid,
        })
    }

    /// Deletes an object if it and its owners are still the same (`deleteObject`).
    async fn delete(&self, object: &Object, metadata: &Metadata, policy: &str) -> Result<(), Status> {
        let (uid, version) = (&metadata.uid, &metadata.resource_version);
        let deleted = self.try_delete(object, policy, json!({"uid": uid, "resourceVersion": version})).await;
        if !deleted.as_ref().is_err_and(|status| status.code == 409) || metadata.owner_references.is_empty() {
            return deleted;
        }
        match current(object).await? {
            None => Ok(()),
            // A change of other fields does not matter.
            Some(now) if now.owner_references == metadata.owner_references => {
                self.try_delete(object, policy, json!({"uid": uid})).await
            }
            Some(_) => deleted,
        }
    }

    async fn try_delete(&self, object: &Object, policy: &str, preconditions: Value) -> Result<(), Status> {
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": preconditions, "propagationPolicy": policy,
        });
        absent_is_fine(self.client.delete(&object.path(), &options).await)
    }

    /// Removes the finalizer of an object whose blocking dependents are gone
    /// (`processDeletingDependentsItem`).
    async fn release_when_empty(&self, object: &Object, metadata: &Metadata) -> Result<(), Status> {
        self.shared.catch_up().await;
        let blocking: Vec<_> = {
            let graph = self.shared.graph();
            graph.dependents_of(&object.uid).filter(|dependent| dependent.blocks).collect()
        };
        if blocking.is_empty() {
            return self.remove_finalizer(object, metadata, FOREGROUND).await;
        }
        for dependent in blocking.into_iter().filter(|dependent| !dependent.waits_for_dependents) {
            self.shared.queue.add(Task::Collect(dependent.object));
        }
        Ok(())
    }

    /// Lets the owners of an object not wait for it if one of its dependents waits, because they may
    /// wait for each other. Returns the metadata of the object afterwards.
    async fn unblock_circle(&self, object: &Object, metadata: Metadata) -> Result<Metadata, Status> {
        let is_circle = {
            let graph = self.shared.graph();
            graph.dependents_of(&object.uid).any(|dependent| dependent.waits_for_dependents)
        };
        if !is_circle {
            return Ok(metadata);
        }
        let unblocked =
            metadata.owner_references.iter().map(|owner| Owner { block_owner_deletion: Some(false), ..owner.clone() });
        let unblocked: Vec<Owner> = unblocked.collect();
        self.set_owners(object, &metadata, &unblocked.iter().collect::<Vec<_>>()).await?;
        Ok(current(object).await?.unwrap_or(metadata))
    }

    /// Removes an object from the owners of its dependents, then its finalizer (`attemptToOrphan`).
    async fn orphan(&self, object: Object) -> Result<(), Status> {
        let waiting = current(&object).await?.filter(Metadata::waits_for_orphans);
        let Some(metadata) = waiting else { return Ok(()) };
        self.shared.catch_up().await;
        let dependents: Vec<Object> = {
            let graph = self.shared.graph();
            graph.dependents_of(&object.uid).map(|dependent| dependent.object).collect()
        };
        for dependent in dependents {
            let Some(of) = current(&dependent).await? else { continue };
            let others: Vec<&Owner> = of.owner_references.iter().filter(|owner| *owner.uid != *object.uid).collect();
            if others.len() < of.owner_references.len() {
                self.set_owners(&dependent, &of, &others).await?;
            }
        }
        self.remove_finalizer(&object, &metadata, ORPHAN).await
    }

    /// Replaces the owners of an object, unless it changed since it was read.
    async fn set_owners(&self, object: &Object, metadata: &Metadata, owners: &[&Owner]) -> Result<(), Status> {
        let owners: Vec<Value> = owners.iter().map(|owner| document(owner)).collect();
        self.patch(object, metadata, json!({"ownerReferences": owners})).await
    }

    async fn remove_finalizer(&self, object: &Object, metadata: &Metadata, name: &str) -> Result<(), Status> {
        let others: Vec<&String> = metadata.finalizers.iter().filter(|finalizer| *finalizer != name).collect();
        self.patch(object, metadata, json!({"finalizers": others})).await
    }

    async fn patch(&self, object: &Object, metadata: &Metadata, mut change: Value) -> Result<(), Status> {
        change["uid"] = metadata.uid.as_str().into();
        change["resourceVersion"] = metadata.resource_version.as_str().into();
        absent_is_fine(self.client.patch(&object.path(), &json!({"metadata": change})).await)
    }
}

/// Reads the metadata of an object; `None` if it is gone.
async fn current(object: &Object) -> Result<Option<Metadata>, Status> {
    let Some(entry) = object.resource.store.stored_entry(&object.namespace, &object.name).await? else {
        return Ok(None);
    };
    Ok(Some(object.resource.metadata(&entry)?).filter(|metadata| *metadata.uid == *object.uid))
}

fn absent_is_fine(answer: Result<Value, Status>) -> Result<(), Status> {
    match answer {
        Err(status) if status.code == 404 => Ok(()),
        answer => answer.map(drop),
    }
}

fn document(owner: &Owner) -> Value {
    let mut document =
        json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid});
    for (name, value) in [("controller", owner.controller), ("blockOwnerDeletion", owner.block_owner_deletion)] {
        if let Some(value) = value {
            document[name] = value.into();
        }
    }
    document
}
