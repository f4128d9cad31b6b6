//! Deletes the content of namespaces that are being deleted, then releases them (upstream:
//! `namespace.NamespaceController`).

mod conditions;
mod content;

use std::sync::Arc;
use std::time::Duration;

use endpoints::{Discovery, GroupVersionResource, Loopback};
use generated::core::v1::{Namespace, finalizer_name, namespace_phase};
use machinery::status::Status;
use registry::{Clock, Predicate};

use crate::client::Client;
use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;

const NAMESPACES: GroupVersionResource = ("", "v1", "namespaces");
/// Upstream's `--concurrent-namespace-syncs`.
const WORKERS: usize = 10;
/// How long other servers of the cluster may not yet know that a namespace is terminating
/// (`namespaceDeletionGracePeriod`).
const OTHER_SERVERS_LAG: Duration = Duration::from_secs(5);

/// Deletes the content of namespaces that are being deleted.
///
/// # Errors
/// The server lacks namespaces.
pub async fn run(context: Context) -> Result<(), Status> {
    let namespaces = context.store("", "namespaces")?;
    let environment = &context.server.environment;
    let options = &environment.options;
    let is_alone = options.test_server || options.storage.etcd.servers.is_empty();
    let lag = if is_alone { Duration::ZERO } else { OTHER_SERVERS_LAG };
    let (queue, everything) = (context.queue("namespace"), Predicate::default());
    let changes = follow(&namespaces, &everything, |event: Event<Namespace>| {
        if let Event::Stored(namespace) = event
            && namespace.metadata.deletion_timestamp.is_some()
        {
            queue.add_after(namespace.metadata.name, lag);
        }
    });
    let deletion = Deletion {
        loopback: context.loopback(),
        client: context.client(),
        discovery: environment.discovery.clone(),
        clock: environment.backend.clock.clone(),
    };
    let work = queue.work("namespace-controller", WORKERS, |name| deletion.sync(name));
    tokio::join!(changes, work);
    Ok(())
}

/// The deletion of namespaces.
struct Deletion {
    loopback: Loopback,
    client: Client,
    discovery: Arc<Discovery>,
    clock: Arc<dyn Clock>,
}

impl Deletion {
    /// Deletes the content of a namespace, reports what remains, and releases it
    /// (`namespacedResourcesDeleter.Delete`).
    async fn sync(&self, name: String) -> Result<Next, Status> {
        let Some(namespace) = self.terminating(&name).await? else { return Ok(Next::Done) };
        if namespace.spec.finalizers.iter().all(|finalizer| finalizer != finalizer_name::KUBERNETES) {
            return Ok(Next::Done);
        }
        let content = content::delete(&self.client, &self.discovery, &name).await?;
        let namespace = match self.report(namespace, &content).await {
            Ok(namespace) => namespace,
            // The namespace is gone, or another writer changed it.
            Err(status) if status.code == 404 => return Ok(Next::Done),
            Err(status) => return Err(status),
        };
        if let Some(why) = content.failure() {
            return Err(Status::internal(why));
        }
        if let Some(estimate) = content.remaining() {
            return Ok(Next::Backoff(estimate));
        }
        match self.finalize(namespace).await {
            Err(status) if status.code == 404 => Ok(Next::Done),
            finalized => finalized.map(|_| Next::Done),
        }
    }

    /// Reads a namespace that is being deleted, with its phase set.
    async fn terminating(&self, name: &str) -> Result<Option<Namespace>, Status> {
        let found = self.loopback.get::<Namespace>(NAMESPACES, "", name).await?;
        let Some(mut namespace) = found.filter(|found| found.metadata.deletion_timestamp.is_some()) else {
            return Ok(None);
        };
        if namespace.status.phase == namespace_phase::TERMINATING {
            return Ok(Some(namespace));
        }
        namespace.status.phase = namespace_phase::TERMINATING.into();
        self.loopback.update_status(NAMESPACES, namespace).await.map(Some)
    }

    /// Writes the conditions of a namespace if they differ.
    async fn report(&self, mut namespace: Namespace, content: &content::Deleted) -> Result<Namespace, Status> {
        match conditions::update(&mut namespace.status.conditions, content, self.clock.now()) {
            true => self.loopback.update_status(NAMESPACES, namespace).await,
            false => Ok(namespace),
        }
    }

    /// Removes the finalizer of the spec, which removes the namespace if it was the last one.
    async fn finalize(&self, mut namespace: Namespace) -> Result<Namespace, Status> {
        namespace.spec.finalizers.retain(|finalizer| finalizer != finalizer_name::KUBERNETES);
        self.loopback.update_subresource(NAMESPACES, "finalize", namespace).await
    }
}
