//! Finalizer of definitions: deletes the objects of a deleted definition
//! (`finalizer.CRDFinalizer`).

use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use async_trait::async_trait;
use endpoints::{GroupVersionResource, Loopback};
use machinery::hooks::WriteContext;
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{CheckDelete, DeleteOptions, ListQuery, Predicate, ResourceStore, meta};

use crate::conditions::{self, ESTABLISHED, TERMINATING, condition};
use crate::serve::Custom;

/// The resource of CustomResourceDefinitions.
pub const DEFINITIONS: GroupVersionResource = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");

/// The finalizer of a definition with objects (`customResourceCleanupFinalizer`).
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Delay before a failed operation is retried.
const RETRY: Duration = Duration::from_secs(1);

/// Deletes all objects of a definition, then removes its finalizer.
pub async fn run(definition: CustomResourceDefinition, custom: Arc<Custom>, loopback: Arc<Loopback>) {
    let (name, uid) = (definition.metadata.name.clone(), definition.metadata.uid.clone());
    let clock = custom.builder.clock.clone();
    let found = conditions::is_true(&definition, ESTABLISHED).then(|| custom.store(&name)).flatten();
    let Some(store) = found else {
        let never = condition(TERMINATING, false, "NeverEstablished", "resource was never established");
        return remove_finalizer(&loopback, (&name, &uid), never, clock.now()).await;
    };
    let begun = condition(TERMINATING, true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    write(&loopback, &name, &uid, |definition| conditions::set(definition, begun.clone(), clock.now())).await;
    while let Err(status) = delete_all(&store).await {
        tracing::warn!(name, why = status.message, "cannot delete the objects of a CustomResourceDefinition; retrying");
        tokio::time::sleep(RETRY).await;
    }
    let done = condition(TERMINATING, false, "InstanceDeletionCompleted", "removed all instances");
    remove_finalizer(&loopback, (&name, &uid), done, clock.now()).await;
}

/// Deletes objects and waits until none are left. Some have finalizers.
async fn delete_all(store: &Arc<ResourceStore>) -> Result<(), Status> {
    let query = ListQuery::default();
    let mut changes = store.watch("", &Predicate::default(), &query, false, Some(false)).await?;
    for object in store.objects("", &Predicate::default()).await? {
        let Some(meta) = meta(object.as_ref()) else { continue };
        let context = WriteContext { namespace: meta.namespace.clone(), ..WriteContext::default() };
        match store.delete(&context, &meta.name, &DeleteOptions::default(), &AllowDelete).await {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
    }
    while !store.objects("", &Predicate::default()).await?.is_empty() {
        if changes.next().await.is_none() {
            return Err(Status::internal("the watch for the last object ended"));
        }
    }
    Ok(())
}

/// Allows every delete.
struct AllowDelete;

#[async_trait]
impl CheckDelete for AllowDelete {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        Ok(())
    }
}

async fn remove_finalizer(
    loopback: &Loopback,
    (name, uid): (&str, &str),
    last: CustomResourceDefinitionCondition,
    now: Time,
) {
    write(loopback, name, uid, |definition| {
        conditions::set(definition, last.clone(), now);
        definition.metadata.finalizers.retain(|finalizer| finalizer != CLEANUP);
    })
    .await;
}

/// Updates a definition; retries until it succeeds or the definition is gone.
async fn write(loopback: &Loopback, name: &str, uid: &str, change: impl Fn(&mut CustomResourceDefinition)) {
    loop {
        let mut definition = match loopback.get::<CustomResourceDefinition>(DEFINITIONS, "", name).await {
            Ok(Some(definition)) if definition.metadata.uid == uid => definition,
            _ => return,
        };
        change(&mut definition);
        match loopback.update_status(DEFINITIONS, definition).await {
            Ok(_) => return,
            Err(status) if status.code == 404 => return,
            Err(status) if status.code == 409 => {}
            Err(status) => {
                tracing::warn!(
                    name,
                    why = status.message,
                    "cannot update a terminating CustomResourceDefinition; retrying"
                );
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}
