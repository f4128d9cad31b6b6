//! What the controllers of services know of the cluster.

use std::sync::Arc;

use endpoints::Loopback;
use generated::core::v1::Service;
use machinery::protobuf::Mask;
use machinery::status::Status;
use registry::{ResourceStore, meta};
use storage::Revision;
use storage::cache::Entry;

use super::backend::{self, Backend, is_selected};
use super::node_state::{self, NodeState};
use super::projection::{Key, Projection};
use crate::queue::Queue;

/// The label of an endpoint slice with the name of its service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label of an endpoint slice with its controller.
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
/// The annotation of endpoints that serve as a lock.
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// A service at a revision. Each write counts as a change.
pub struct ServiceState {
    /// The service.
    pub service: Service,
    revision: Revision,
}

impl PartialEq for ServiceState {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
    }
}

impl ServiceState {
    /// Whether endpoints are made of the pods that it selects.
    pub fn has_selector(&self) -> bool {
        !self.service.spec.selector.is_empty()
    }
}

/// The identity of an endpoint slice at a revision.
#[derive(PartialEq)]
pub struct SliceState {
    /// The name of its service; may be empty.
    pub service: String,
    /// Its controller; may be empty.
    pub managed_by: String,
    revision: Revision,
}

/// What is relevant of endpoints at a revision.
#[derive(PartialEq)]
pub struct EndpointsState {
    /// Whether they may be mirrored.
    pub is_mirrored: bool,
    /// Whether they serve as a lock.
    pub is_lock: bool,
    revision: Revision,
}

/// What the controllers of services know of the cluster. Each controller follows the resources that it
/// needs, and the first one does so for all.
#[derive(Default)]
pub struct ServiceInformers {
    /// Services.
    pub services: Projection<ServiceState>,
    /// Pods.
    pub pods: Projection<Backend>,
    /// Nodes.
    pub nodes: Projection<NodeState>,
    /// Endpoints.
    pub endpoints: Projection<EndpointsState>,
    /// Endpoint slices.
    pub slices: Projection<SliceState>,
}

impl ServiceInformers {
    /// Follows services.
    pub async fn follow_services(&self, store: Arc<ResourceStore>) {
        let project = |entry: &Entry| {
            let other = |_| Status::internal("the store of services has another kind");
            let mut service = store.object(entry)?.into_inner::<Service>().map_err(other)?;
            service.metadata.managed_fields.clear();
            Ok(ServiceState { service, revision: entry.revision })
        };
        self.services.follow(&store, project).await;
    }

    /// Follows pods.
    pub async fn follow_pods(&self, store: Arc<ResourceStore>) {
        let mask = backend::mask(&store);
        self.pods.follow(&store, |entry| Backend::of(&store, entry, &mask)).await;
    }

    /// Follows nodes.
    pub async fn follow_nodes(&self, store: Arc<ResourceStore>) {
        let mask = node_state::mask(&store);
        self.nodes.follow(&store, |entry| NodeState::of(&store, entry, &mask)).await;
    }

    /// Follows endpoints.
    pub async fn follow_endpoints(&self, store: Arc<ResourceStore>) {
        let mut annotations = Mask::new(store.storage_kind.def);
        annotations.add(&["metadata", "annotations"]);
        let project = |entry: &Entry| {
            let part = store.part(entry, &annotations)?;
            let is_lock = meta(part.as_ref()).is_some_and(|meta| meta.annotations.contains_key(LEADER));
            let is_mirrored = !is_lock && entry.attributes.label(SKIP_MIRROR) != Some("true");
            Ok(EndpointsState { is_mirrored, is_lock, revision: entry.revision })
        };
        self.endpoints.follow(&store, project).await;
    }

    /// Follows endpoint slices.
    pub async fn follow_slices(&self, store: Arc<ResourceStore>) {
        let project = |entry: &Entry| {
            let label = |name| entry.attributes.label(name).unwrap_or_default().to_owned();
            Ok(SliceState { service: label(SERVICE_NAME), managed_by: label(MANAGED_BY), revision: entry.revision })
        };
        self.slices.follow(&store, project).await;
    }

    /// Adds each service to a queue that changes, and each one whose pods change.
    pub fn queue_services(self: &Arc<Self>, queue: &Arc<Queue<Key>>) {
        let changed = queue.clone();
        self.services.on_change(Box::new(move |key, _, _| changed.add(key.clone())));
        let (this, affected) = (Arc::downgrade(self), queue.clone());
        self.pods.on_change(Box::new(move |(namespace, _), old, new| {
            let Some(this) = this.upgrade() else { return };
            let pods = || [old, new].into_iter().flatten();
            let selects =
                |state: &ServiceState| pods().any(|pod| is_selected(&state.service.spec.selector, &pod.labels));
            for (name, _) in this.services.select(namespace, selects) {
                affected.add((namespace.clone(), name));
            }
        }));
    }

    /// The pods of a service, ordered by name.
    pub fn backends(&self, service: &Service) -> Vec<(String, Arc<Backend>)> {
        let selector = &service.spec.selector;
        self.pods.select(&service.metadata.namespace, |pod| is_selected(selector, &pod.labels))
    }

    /// Whether a service that is unknown here does not exist. The copies may be old.
    ///
    /// # Errors
    /// Services cannot be read.
    pub async fn is_gone(&self, loopback: &Loopback, key: &Key) -> Result<bool, Status> {
        let found = loopback.get::<Service>(("", "v1", "services"), &key.0, &key.1).await?;
        Ok(found.is_none())
    }
}
