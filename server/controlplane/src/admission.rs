//! Admission of the control plane, in upstream's order.

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Admission, Attributes, Environment, Operation};
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};

/// The plugins that are built.
pub struct Chain {
    environment: Arc<Environment>,
}

impl Chain {
    pub fn new(environment: Arc<Environment>) -> Self {
        Chain { environment }
    }

    /// Nothing is created in a namespace that is missing (`NamespaceLifecycle`).
    async fn namespace_lifecycle(&self, attributes: &Attributes) -> Result<(), Status> {
        if attributes.operation != Operation::Create || attributes.namespace.is_empty() || attributes.plural == "namespaces" {
            return Ok(());
        }
        let Some(store) = self.environment.stores.get(&("", "namespaces")) else { return Ok(()) };
        match store.get("", &attributes.namespace, "").await {
            Ok(_) => Ok(()),
            Err(status) if status.code == 404 => Err(Status::not_found(GroupResource { group: "", resource: "namespaces" }, &attributes.namespace)),
            Err(status) => Err(status),
        }
    }
}

#[async_trait]
impl Admission for Chain {
    async fn admit(&self, attributes: &Attributes, _object: &mut Owned, _old: Option<&Owned>) -> Result<(), Status> {
        self.namespace_lifecycle(attributes).await
    }

    async fn validate(&self, _attributes: &Attributes, _object: Option<&Owned>, _old: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }
}
