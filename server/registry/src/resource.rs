//! A resource as the store keeps it: where, in which form, by which strategy.

use std::sync::Arc;

use machinery::catalog::{KindDef, ResourceDef};
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use storage::{KeyRange, KeyValue, Store};

use crate::clock::Clock;
use crate::stored;
use crate::strategy::Strategy;

/// The store of one resource, shared by all its versions.
pub struct ResourceStore {
    /// The version of the kind that it is stored in.
    pub storage_kind: &'static KindDef,
    /// Plural, scope, policies.
    pub def: &'static ResourceDef,
    pub strategy: Arc<dyn Strategy>,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// `/registry/<prefix>/`, with a slash at the end.
    pub(crate) root: String,
}

impl ResourceStore {
    /// The store of `kind`'s resource below `etcd_prefix` (`/registry`).
    pub fn new(
        storage_kind: &'static KindDef,
        def: &'static ResourceDef,
        strategy: Arc<dyn Strategy>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        etcd_prefix: &str,
    ) -> Self {
        let root = format!("{etcd_prefix}/{}/", def.key_prefix);
        ResourceStore { storage_kind, def, strategy, store, clock, root }
    }

    /// Group and plural, as messages name it.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.strategy.group(), resource: self.def.plural }
    }

    /// Group and kind, as messages about invalid objects name it.
    pub fn kind_name(&self) -> GroupResource<'static> {
        GroupResource { group: self.strategy.group(), resource: self.strategy.kind() }
    }

    /// The key of an object; `namespace` is ignored for cluster-scoped resources.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.def.namespaced { format!("{}{namespace}/{name}", self.root) } else { format!("{}{name}", self.root) }
    }

    /// The keys of a namespace, or of all when `namespace` is empty.
    pub(crate) fn range(&self, namespace: &str) -> KeyRange {
        if self.def.namespaced && !namespace.is_empty() {
            KeyRange::prefix(format!("{}{namespace}/", self.root))
        } else {
            KeyRange::prefix(self.root.clone())
        }
    }

    /// The object in a stored value, in its hub form.
    pub(crate) fn decode(&self, kv: &KeyValue) -> Result<Owned, Status> {
        stored::decode(self.storage_kind, kv)
    }

    /// Reads an object; `resource_version` other than empty and 0 must already have been reached.
    pub async fn get(&self, namespace: &str, name: &str, resource_version: &str) -> Result<Owned, Status> {
        let wanted = parse_resource_version(resource_version)?;
        let answer = self.store.get(self.key(namespace, name).as_bytes(), None).await.map_err(stored::failure)?;
        if wanted > answer.revision {
            return Err(too_large_resource_version(wanted, answer.revision));
        }
        match answer.kv {
            Some(kv) => self.decode(&kv),
            None => Err(Status::not_found(self.name(), name)),
        }
    }
}

/// The revision a client means; empty and `0` are 0.
pub(crate) fn parse_resource_version(text: &str) -> Result<u64, Status> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let why = if text.bytes().all(|b| b.is_ascii_digit()) { "value out of range" } else { "invalid syntax" };
        let message = format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}");
        Status { code: 500, message, ..Status::default() }
    })
}

/// `NewTooLargeResourceVersionError`
pub(crate) fn too_large_resource_version(wanted: u64, current: u64) -> Status {
    let message = format!("Too large resource version: {wanted}, current: {current}");
    let mut status = Status::timeout(message, 1);
    if let Some(details) = &mut status.details {
        details.causes.push(machinery::status::Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        });
    }
    status
}
