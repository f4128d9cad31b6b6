//! Lookup of the objects that tokens depend on.

use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use async_trait::async_trait;
use generated::core::v1::{Node, Pod, Secret, ServiceAccount};
use machinery::reflect::{Owned, Struct};
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{CheckWrite, Clock, Stores, SystemClock, UpdateOptions, UpdatedObjectInfo, WriteContext, meta_mut};

/// Reads current objects from the store, because tokens become invalid with their objects.
#[derive(Clone)]
pub struct ServiceAccountTokenGetter(pub Arc<Stores>);

impl ServiceAccountTokenGetter {
    /// Returns the current time, by the clock of the stored secrets.
    pub fn now(&self) -> Time {
        self.0.get(&("", "secrets")).map_or_else(|| SystemClock.now(), |store| store.clock.now())
    }

    pub async fn account(&self, namespace: &str, name: &str) -> Result<ServiceAccount, Status> {
        self.get("serviceaccounts", namespace, name).await
    }

    pub async fn secret(&self, namespace: &str, name: &str) -> Result<Secret, Status> {
        self.get("secrets", namespace, name).await
    }

    pub async fn pod(&self, namespace: &str, name: &str) -> Result<Pod, Status> {
        self.get("pods", namespace, name).await
    }

    pub async fn node(&self, name: &str) -> Result<Node, Status> {
        self.get("nodes", "", name).await
    }

    /// Sets a label on a secret, unless it was deleted and created again.
    pub async fn label_secret(&self, secret: &ObjectMeta, label: &'static str, value: &str) -> Result<(), Status> {
        let Some(store) = self.0.get(&("", "secrets")) else { return Ok(()) };
        let context = WriteContext { namespace: secret.namespace.clone(), ..WriteContext::default() };
        let mut change = Label { uid: &secret.uid, label, value };
        store.update(&context, &secret.name, &UpdateOptions::default(), &mut change).await.map(drop)
    }

    async fn get<T: Struct>(&self, plural: &'static str, namespace: &str, name: &str) -> Result<T, Status> {
        let store = self.0.get(&("", plural)).ok_or_else(|| Status::internal(format!("{plural} are not stored")))?;
        let object = store.get(namespace, name, "").await?;
        object.into_inner().map_err(|_| Status::internal(format!("{plural} are stored as something else")))
    }
}

struct Label<'a> {
    uid: &'a str,
    label: &'static str,
    value: &'a str,
}

impl CheckWrite for Label<'_> {}

#[async_trait]
impl UpdatedObjectInfo for Label<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut object = current.cloned().ok_or_else(|| Status::internal("nothing to label"))?;
        if let Some(meta) = meta_mut(&mut object).filter(|meta| meta.uid == self.uid) {
            meta.labels.insert(self.label.to_owned(), self.value.to_owned());
        }
        Ok(object)
    }
}
