//! A definition that is deleted takes its objects with it (`finalizer.CRDFinalizer`).

use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use async_trait::async_trait;
use endpoints::Loopback;
use machinery::hooks::Context;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CheckDelete, DeleteOptions, ListQuery, Predicate, ResourceStore, meta};

use crate::conditions::{self, ESTABLISHED, TERMINATING, condition};
use crate::controller::{CLEANUP, DEFINITIONS};
use crate::serve::Custom;

/// How long to wait before what failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Deletes all objects of a definition, then lets the definition go.
pub async fn run(definition: CustomResourceDefinition, custom: Arc<Custom>, loopback: Arc<Loopback>) {
    let (name, uid) = (definition.metadata.name.clone(), definition.metadata.uid.clone());
    let found = conditions::is_true(&definition, ESTABLISHED).then(|| custom.store(&name)).flatten();
    let Some(store) = found else {
        let never = condition(TERMINATING, false, "NeverEstablished", "resource was never established");
        return let_go(&loopback, &name, &uid, never).await;
    };
    let begun = condition(TERMINATING, true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    write(&loopback, &name, &uid, |definition| conditions::set(definition, begun.clone())).await;
    while let Err(status) = delete_all(&store).await {
        tracing::warn!(name, why = status.message, "custom objects cannot be deleted");
        tokio::time::sleep(RETRY).await;
    }
    let done = condition(TERMINATING, false, "InstanceDeletionCompleted", "removed all instances");
    let_go(&loopback, &name, &uid, done).await;
}

/// Deletes objects until there are none: some wait for finalizers.
async fn delete_all(store: &Arc<ResourceStore>) -> Result<(), Status> {
    let query = ListQuery::default();
    let mut changes = store.watch("", &Predicate::default(), &query, false, Some(false)).await?;
    for object in store.objects("", &Predicate::default()).await? {
        let Some(meta) = meta(object.as_ref()) else { continue };
        let context = Context { namespace: meta.namespace.clone(), ..Context::default() };
        match store.delete(&context, &meta.name, &DeleteOptions::default(), &Anything).await {
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

/// Nobody is asked.
struct Anything;

#[async_trait]
impl CheckDelete for Anything {
    async fn check(&self, _: &Owned) -> Result<(), Status> {
        Ok(())
    }
}

async fn let_go(loopback: &Loopback, name: &str, uid: &str, last: CustomResourceDefinitionCondition) {
    write(loopback, name, uid, |definition| {
        conditions::set(definition, last.clone());
        definition.metadata.finalizers.retain(|finalizer| finalizer != CLEANUP);
    })
    .await;
}

/// Changes a definition until that succeeds or it is gone.
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
                tracing::warn!(name, why = status.message, "a definition that is deleted cannot be written");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}
