//! In-process client for the server's own requests. They run defaulting, field management,
//! admission and validation, and are in the audit log, but do not use HTTP (upstream uses a loopback
//! connection).

mod recorded;

use std::collections::HashMap;
use std::sync::Arc;

use ::audit::{Audit, AuditContext};
use bytes::Bytes;
use http::Method;
use machinery::reflect::{Owned, Struct};
use machinery::status::Status;
use registry::{CreateOptions, DeleteOptions, Precondition, ReadRevision, UpdateOptions, meta};
use request::user::{ALL_AUTHENTICATED, SYSTEM_MASTERS};
use request::warnings::Warnings;
use request::{Handler, User};
use serde_json::{Value, json};

use crate::admission::{AdmissionAttributes, Conversions, Operation, Reservations};
use crate::audit::{record_patch, record_request};
use crate::body;
use crate::endpoint::{AdmitCreate, Endpoint};
use crate::managed::{self, Manager};
use crate::options::FieldValidation;
use crate::patching::PatchType;
use crate::verbs::delete::AdmitDelete;
use crate::verbs::patch::ApplyPatch;
use crate::verbs::update::Replace;
use recorded::Target;

/// The user name of the server's own requests.
const USER: &str = "system:apiserver";
/// The field manager of the server's own writes.
const MANAGER: &str = "kube-apiserver";
/// The name of the status subresource.
const STATUS: &str = "status";

/// Group, version and plural.
pub type GroupVersionResource = (&'static str, &'static str, &'static str);

/// A client of the server itself. Writes complete even if the caller is dropped. `T` is the kind in
/// the version that the resource names.
///
/// Only conversions to and from `T` are generic: the compiler would repeat the rest for each kind.
#[derive(Clone)]
pub struct Loopback {
    endpoints: Arc<HashMap<GroupVersionResource, Arc<Endpoint>>>,
    user: Arc<User>,
    manager: &'static str,
    audit: Option<Arc<Audit>>,
}

impl Loopback {
    /// Creates a client of these endpoints. `audit` is `None` without an audit log.
    pub fn new<'a>(endpoints: impl IntoIterator<Item = &'a Arc<Endpoint>>, audit: Option<Arc<Audit>>) -> Self {
        let of = |endpoint: &Arc<Endpoint>| {
            ((endpoint.kind.group, endpoint.kind.version, endpoint.resource.plural), endpoint.clone())
        };
        let user = Arc::new(User::new(USER, [SYSTEM_MASTERS, ALL_AUTHENTICATED]));
        Loopback { endpoints: Arc::new(endpoints.into_iter().map(of).collect()), user, manager: MANAGER, audit }
    }

    /// Wraps a handler of requests of the server itself, so that they are in the audit log, too.
    pub fn recorded(&self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        recorded::around(self.audit.as_ref(), handler)
    }

    /// Returns the same client with another field manager.
    pub fn managed_by(&self, manager: &'static str) -> Self {
        Loopback { manager, ..self.clone() }
    }

    /// Returns the same client with another user. Admission plugins and webhooks see the user.
    pub fn as_user(&self, user: User) -> Self {
        Loopback { user: Arc::new(user), ..self.clone() }
    }

    /// All endpoints of the catalog.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.endpoints.values()
    }

    /// Whether a resource is served.
    pub fn serves(&self, resource: GroupVersionResource) -> bool {
        self.endpoints.contains_key(&resource)
    }

    /// Reads an object; `None` if it does not exist.
    pub async fn get<T: Struct>(
        &self,
        resource: GroupVersionResource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<T>, Status> {
        let endpoint = self.endpoint(resource)?;
        let store = endpoint.store()?;
        let target = Target { endpoint, namespace, name, subresource: "" };
        let trail = self.begin(Method::GET, target).await?;
        let found = store.get(namespace, name, "").await;
        recorded::end(&trail, endpoint, found.as_ref().map(|object| (200, Some(object)))).await;
        match found {
            Ok(object) => typed(endpoint, object).map(Some),
            Err(status) if status.code == 404 => Ok(None),
            Err(status) => Err(status),
        }
    }

    /// Creates an object.
    pub async fn create<T: Struct>(&self, resource: GroupVersionResource, object: T) -> Result<T, Status> {
        typed(self.endpoint(resource)?, self.create_untyped(resource, Owned::of(object)).await?)
    }

    async fn create_untyped(&self, resource: GroupVersionResource, object: Owned) -> Result<Owned, Status> {
        let this = self.clone();
        run_detached(async move { this.create_inner(resource, object).await }).await
    }

    async fn create_inner(&self, resource: GroupVersionResource, object: Owned) -> Result<Owned, Status> {
        let endpoint = self.endpoint(resource)?;
        let object = body::internal(endpoint.kind, object);
        let mut attributes = self.attributes(endpoint, Operation::Create, &object);
        let target = Target { endpoint, namespace: &attributes.namespace, name: "", subresource: "" };
        let trail = self.begin(Method::POST, target).await?;
        record_request(&trail, endpoint.kind, &object);
        attributes.trail = trail.clone();
        let created = self.store_new(endpoint, &attributes, object).await;
        recorded::end(&trail, endpoint, created.as_ref().map(|object| (201, Some(object)))).await;
        created
    }

    async fn store_new(
        &self,
        endpoint: &Endpoint,
        attributes: &AdmissionAttributes,
        object: Owned,
    ) -> Result<Owned, Status> {
        let context = endpoint.context(attributes);
        let mut object =
            managed::on_update(endpoint, None, object, &Manager { name: self.manager, subresource: "", empty: &[] });
        endpoint.admission.admit(attributes, &mut object, None).await?;
        let mut check = AdmitCreate { endpoint, attributes };
        endpoint.store()?.create(&context, object, &CreateOptions::default(), &mut check).await
    }

    /// Replaces an object. A non-empty `resourceVersion` must be the stored one.
    pub async fn update<T: Struct>(&self, resource: GroupVersionResource, object: T) -> Result<T, Status> {
        self.update_subresource(resource, "", object).await
    }

    /// Replaces the status of an object.
    pub async fn update_status<T: Struct>(&self, resource: GroupVersionResource, object: T) -> Result<T, Status> {
        self.update_subresource(resource, STATUS, object).await
    }

    /// Replaces a part of an object, such as `status` or `finalize`.
    pub async fn update_subresource<T: Struct>(
        &self,
        resource: GroupVersionResource,
        part: &'static str,
        object: T,
    ) -> Result<T, Status> {
        typed(self.endpoint(resource)?, self.update_part(resource, part, Owned::of(object)).await?)
    }

    async fn update_part(
        &self,
        resource: GroupVersionResource,
        part: &'static str,
        object: Owned,
    ) -> Result<Owned, Status> {
        let this = self.clone();
        run_detached(async move { this.update_part_inner(resource, part, object).await }).await
    }

    async fn update_part_inner(
        &self,
        resource: GroupVersionResource,
        part: &str,
        object: Owned,
    ) -> Result<Owned, Status> {
        let endpoint = self.endpoint(resource)?;
        let object = body::internal(endpoint.kind, object);
        let mut attributes = self.attributes(endpoint, Operation::Update, &object);
        attributes.subresource = part.to_owned();
        let (context, name, store) = (endpoint.context(&attributes), attributes.name.clone(), endpoint.store()?);
        let target = Target { endpoint, namespace: &attributes.namespace, name: &name, subresource: part };
        let trail = self.begin(Method::PUT, target).await?;
        record_request(&trail, endpoint.kind, &object);
        attributes.trail = trail.clone();
        let mut change = Replace {
            endpoint,
            object,
            attributes,
            manager: self.manager.to_owned(),
            subresource: part.to_owned(),
            empty: Vec::new(),
            warnings: request::warnings::Warnings::default(),
        };
        let options = UpdateOptions { subresource: part.to_owned(), ..UpdateOptions::default() };
        let updated = store.update(&context, &name, &options, &mut change).await;
        let updated = updated.map(|updated| updated.object);
        recorded::end(&trail, endpoint, updated.as_ref().map(|object| (200, Some(object)))).await;
        updated
    }

    /// Applies a status to an object as a field manager, regardless of previous owners (forced
    /// server-side apply).
    pub async fn apply_status(
        &self,
        resource: GroupVersionResource,
        name: &str,
        manager: &str,
        status: Value,
    ) -> Result<(), Status> {
        let endpoint = self.endpoint(resource)?;
        let (api_version, kind) = (endpoint.kind.api_version(), endpoint.kind.kind);
        let configuration =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "status": status});
        let (bytes, store) = (Bytes::from(configuration.to_string()), endpoint.store()?);
        let target = Target { endpoint, namespace: "", name, subresource: STATUS };
        let trail = self.begin(Method::PATCH, target).await?;
        record_patch(&trail, &bytes);
        let attributes = AdmissionAttributes {
            name: name.to_owned(),
            subresource: STATUS.to_owned(),
            trail: trail.clone(),
            ..self.attributes(endpoint, Operation::Update, &Owned::new(endpoint.kind.hub))
        };
        let context = endpoint.context(&attributes);
        let mut change = ApplyPatch {
            endpoint,
            kind: PatchType::Apply,
            bytes,
            validation: FieldValidation::Strict,
            attributes,
            manager: manager.to_owned(),
            subresource: STATUS.to_owned(),
            warnings: Warnings::default(),
            sent: context.sent.clone(),
            force: true,
        };
        let options = UpdateOptions { subresource: STATUS.to_owned(), ..UpdateOptions::default() };
        let applied = store.update(&context, name, &options, &mut change).await;
        recorded::end(&trail, endpoint, applied.as_ref().map(|applied| (200, Some(&applied.object)))).await;
        applied.map(drop)
    }

    /// Deletes an object, if it exists.
    pub async fn delete(&self, resource: GroupVersionResource, namespace: &str, name: &str) -> Result<(), Status> {
        self.delete_if(resource, namespace, name, Precondition::default()).await
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// Returns a conflict if the stored object does not match the precondition.
    pub async fn delete_if(
        &self,
        resource: GroupVersionResource,
        namespace: &str,
        name: &str,
        precondition: Precondition,
    ) -> Result<(), Status> {
        let (this, namespace, name) = (self.clone(), namespace.to_owned(), name.to_owned());
        run_detached(async move { this.delete_inner(resource, &namespace, &name, precondition).await }).await
    }

    async fn delete_inner(
        &self,
        resource: GroupVersionResource,
        namespace: &str,
        name: &str,
        precondition: Precondition,
    ) -> Result<(), Status> {
        let endpoint = self.endpoint(resource)?;
        let store = endpoint.store()?;
        let target = Target { endpoint, namespace, name, subresource: "" };
        let trail = self.begin(Method::DELETE, target).await?;
        let attributes = AdmissionAttributes {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            trail: trail.clone(),
            ..self.attributes(endpoint, Operation::Delete, &Owned::new(endpoint.kind.hub))
        };
        let context = endpoint.context(&attributes);
        let check = AdmitDelete { endpoint, attributes };
        let options = DeleteOptions { precondition, ..DeleteOptions::default() };
        let deleted = store.delete(&context, name, &options, &check).await;
        recorded::end(&trail, endpoint, deleted.as_ref().map(|_| (200, None))).await;
        match deleted {
            Err(status) if status.code != 404 => Err(status),
            _ => Ok(()),
        }
    }

    async fn begin(&self, method: Method, target: Target<'_>) -> Result<AuditContext, Status> {
        recorded::begin(self.audit.as_ref(), (&self.user, self.manager), method, target).await
    }

    fn endpoint(&self, resource: GroupVersionResource) -> Result<&Endpoint, Status> {
        let (group, version, plural) = resource;
        let unknown = || Status::internal(format!("{plural} of {group}/{version} are not served"));
        self.endpoints.get(&resource).map(Arc::as_ref).ok_or_else(unknown)
    }

    fn attributes(&self, endpoint: &Endpoint, operation: Operation, object: &Owned) -> AdmissionAttributes {
        let meta = meta(object.as_ref()).cloned().unwrap_or_default();
        AdmissionAttributes {
            operation,
            kind: endpoint.kind,
            group: endpoint.group_version.0,
            version: endpoint.group_version.1,
            plural: endpoint.resource.plural,
            subresource: String::new(),
            namespace: meta.namespace,
            name: meta.name,
            generate_name: meta.generate_name,
            user: self.user.clone(),
            dry_run: false,
            warnings: Warnings::default(),
            trail: AuditContext::default(),
            as_of: ReadRevision::default(),
            reservations: Reservations::default(),
            definition: endpoint.definition.clone(),
            conversions: Conversions::default(),
        }
    }
}

/// Runs a write on a separate task, so that a dropped caller does not cancel it half-way.
async fn run_detached<T: Send + 'static>(
    write: impl Future<Output = Result<T, Status>> + Send + 'static,
) -> Result<T, Status> {
    match tokio::spawn(write).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Status::service_unavailable("the server is shutting down")),
    }
}

/// Converts a stored object to the caller's type.
fn typed<T: Struct>(endpoint: &Endpoint, hub: Owned) -> Result<T, Status> {
    let wrong = |_| Status::internal(format!("{} is requested as another kind", endpoint.kind.kind));
    endpoint.kind.from_hub(hub).into_inner::<T>().map_err(wrong)
}
