//! A resource in one version, as the handlers see it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authz::Authorizer;
use http::Method;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SubresourceDef};
use machinery::features::FeatureGates;
use machinery::reflect::{Owned, Struct};
use machinery::status::{GroupResource, Status};
use registry::{CheckWrite, Clock, ResourceStore, WriteContext, WriteOutcome};
use request::{Query, Request, RequestInfo, Response};

use crate::admission::{Admission, AdmissionAttributes};
use crate::media::Forms;
use crate::open::OpenKind;
use crate::{connect_options, gvk};

/// Everything that a verb needs for a resource in a version.
#[derive(Clone)]
pub struct Endpoint {
    pub catalog: &'static Catalog,
    /// The kind of the version; for a subresource with its own body kind, that kind.
    pub kind: &'static KindDef,
    /// The group and version of the resource.
    pub group_version: (&'static str, &'static str),
    pub resource: &'static ResourceDef,
    /// `None` for virtual resources.
    pub store: Option<Arc<ResourceStore>>,
    pub admission: Arc<dyn Admission>,
    /// Also authorizes `create` when an update creates the object.
    pub authorizer: Arc<dyn Authorizer>,
    pub features: Arc<FeatureGates>,
    pub clock: Arc<dyn Clock>,
    /// Whether privileged containers are allowed.
    pub allow_privileged: bool,
    /// Default timeout of a watch: random between this and twice this.
    pub min_request_timeout: Duration,
    /// How many objects deletecollection deletes concurrently; at least one.
    pub delete_workers: usize,
    /// Whether small bodies may be expensive. Writes of such a resource run in the work pool.
    pub is_costly: bool,
    /// The definition of a kind of open form.
    pub open: Option<Arc<dyn OpenKind>>,
    /// The definition of a custom resource, also for bodies of a declared kind (Scale).
    pub definition: Option<Arc<dyn OpenKind>>,
    /// Handlers of subresources with their own behaviour. A virtual resource has the empty name.
    pub handlers: HashMap<&'static str, Arc<dyn SubresourceHandler>>,
}

/// A body that is posted to a subresource or a virtual resource.
pub struct CreateRequest<'a> {
    /// The resource, with the kind of the body.
    pub endpoint: &'a Endpoint,
    pub context: &'a WriteContext,
    pub attributes: &'a AdmissionAttributes,
    /// In hub form, with defaults, after mutating admission.
    pub body: Owned,
    pub query: &'a Query,
}

impl CreateRequest<'_> {
    /// Runs validating admission. A handler calls it after it has validated the object (upstream:
    /// `createValidation`).
    pub async fn validate(&self) -> Result<(), Status> {
        self.endpoint.admission.validate(self.attributes, Some(&self.body), None).await
    }
}

/// A request that is proxied to a backend.
pub struct ConnectRequest<'a> {
    /// The resource that the subresource belongs to.
    pub endpoint: &'a Endpoint,
    pub context: &'a WriteContext,
    /// The kind is that of the options.
    pub attributes: &'a AdmissionAttributes,
    pub info: &'a RequestInfo,
    pub query: &'a Query,
}

impl ConnectRequest<'_> {
    /// Parses the query into options of this type.
    ///
    /// # Errors
    /// Returns an error if a parameter is not a valid value of its field.
    pub fn options<T: Struct>(&self) -> Result<T, Status> {
        let options = connect_options::options(T::def(), self.query)?;
        options.into_inner().map_err(|_| Status::internal(format!("not a {}", T::def().name)))
    }

    /// The path after the subresource, unescaped.
    pub fn subpath(&self) -> String {
        connect_options::subpath(self.info)
    }

    /// Runs admission for a connection with these options.
    ///
    /// # Errors
    /// Returns the rejection of admission.
    pub async fn admit(&self, options: &mut Owned) -> Result<(), Status> {
        if self.query.get("dryRun").is_some() {
            return Err(Status::bad_request("dryRun is not supported"));
        }
        self.endpoint.admission.admit(self.attributes, options, None).await?;
        self.endpoint.admission.validate(self.attributes, Some(options), None).await
    }
}

/// Validating admission of a create.
pub struct AdmitCreate<'a> {
    pub endpoint: &'a Endpoint,
    pub attributes: &'a AdmissionAttributes,
}

#[async_trait]
impl CheckWrite for AdmitCreate<'_> {
    async fn check(&mut self, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        self.endpoint.admission.validate(self.attributes, Some(new), old).await
    }

    async fn settle(&mut self, outcome: WriteOutcome) {
        self.attributes.reservations.settle(outcome).await;
    }
}

/// The response of a [`SubresourceHandler`].
pub enum SubresourceOutput {
    /// An object of the body's kind, in hub form.
    Object(Owned),
    /// A Status with `status: Success`.
    Success,
}

/// A subresource or a virtual resource with its own behaviour: `pods/binding`,
/// `serviceaccounts/token`, reviews.
#[async_trait]
pub trait SubresourceHandler: Send + Sync {
    /// Whether uid and timestamps in the body's metadata are kept.
    fn keeps_system_fields(&self) -> bool {
        false
    }

    /// Whether bodies may be in any version that converts to the handler's kind.
    fn accepts_other_versions(&self) -> bool {
        false
    }

    /// Handles a posted body.
    async fn create(&self, posted: CreateRequest<'_>) -> Result<SubresourceOutput, Status> {
        Err(Status::not_implemented(&format!("POST of {}", posted.attributes.subresource)))
    }

    /// Returns the objects of a virtual resource in hub form: all objects sorted by name, or the
    /// named one.
    ///
    /// # Errors
    /// Returns 404 if there is no object with the name.
    async fn objects(&self, _name: Option<&str>) -> Result<Vec<Owned>, Status> {
        Err(Status::not_implemented("reads of a resource that is not stored"))
    }

    /// The methods that the resource proxies (`rest.Connecter.ConnectMethods`).
    fn connects(&self) -> &[Method] {
        &[]
    }

    /// The media type that proxied responses have besides those of objects
    /// (`rest.StorageMetadata.ProducesMIMETypes`). `None` if any is possible.
    fn produces(&self) -> Option<&'static str> {
        None
    }

    /// Whether a path may follow the subresource, as after `proxy` (the second result of
    /// `NewConnectOptions`).
    fn takes_subpath(&self) -> bool {
        false
    }

    /// Proxies a request of one of these methods.
    async fn connect(&self, connected: ConnectRequest<'_>, _request: Request) -> Result<Response, Status> {
        Err(Status::not_implemented(&format!("a connection to {}", connected.attributes.subresource)))
    }
}

impl Endpoint {
    /// Group and plural, for messages.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.group_version.0, resource: self.resource.plural }
    }

    /// Builds the store context of a request.
    pub fn context(&self, attributes: &AdmissionAttributes) -> WriteContext {
        WriteContext {
            namespace: attributes.namespace.clone(),
            group: self.group_version.0.to_owned(),
            version: self.group_version.1.to_owned(),
            subresource: attributes.subresource.clone(),
            user: attributes.user.name.clone(),
            groups: attributes.user.groups.clone(),
            dry_run: attributes.dry_run,
            now: self.clock.now(),
            features: self.features.clone(),
            allow_privileged: self.allow_privileged,
            ..WriteContext::default()
        }
    }

    /// Checks whether the user may create the object that an update did not find (upstream:
    /// `withAuthorization`), or open a connection.
    pub async fn authorize_create(&self, attributes: &AdmissionAttributes) -> Result<(), Status> {
        let request = self.authorization_attributes(attributes, "create");
        let decision = self.authorizer.authorize(&request).await;
        if decision.is_allowed() { Ok(()) } else { Err(request.forbidden(decision.reason())) }
    }

    /// Checks whether the user may delete an unreadable object (upstream: `authorizeUnsafeDelete`).
    pub async fn authorize_unsafe_delete(&self, attributes: &AdmissionAttributes) -> Result<(), Status> {
        const VERB: &str = "unsafe-delete-ignore-read-errors";
        let decision = self.authorizer.authorize(&self.authorization_attributes(attributes, VERB)).await;
        if decision.is_allowed() {
            return Ok(());
        }
        let of = GroupResource { group: self.group_version.0, resource: self.resource.plural };
        let why = format!("not permitted to do \"{VERB}\", reason: {}", decision.reason());
        Err(Status::forbidden(of, &attributes.name, why))
    }

    fn authorization_attributes<'a>(
        &'a self,
        attributes: &'a AdmissionAttributes,
        verb: &'a str,
    ) -> authz::AuthorizationAttributes<'a> {
        authz::AuthorizationAttributes {
            namespace: &attributes.namespace,
            version: self.group_version.1,
            name: &attributes.name,
            subresource: &attributes.subresource,
            ..authz::AuthorizationAttributes::resource(
                &attributes.user,
                verb,
                self.group_version.0,
                self.resource.plural,
            )
        }
    }

    /// Runs validating admission for a write. If an update creates the object, first authorizes
    /// `create`.
    pub async fn check_write(
        &self,
        attributes: &AdmissionAttributes,
        new: &Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        if old.is_none() {
            self.authorize_create(attributes).await?;
        }
        self.admission.validate(attributes, Some(new), old).await
    }

    /// Returns the endpoint for bodies that are posted to a subresource.
    pub fn for_subresource(&self, subresource: &str) -> Result<Self, Status> {
        let Some(def) = self.subresource(subresource) else { return Ok(self.clone()) };
        let (group, version, kind) = def.kind;
        if def.kind == (self.kind.group, self.kind.version, self.kind.kind) {
            return Ok(self.clone());
        }
        let kind = self.catalog.kind(group, version, kind);
        let kind = kind.ok_or_else(|| Status::internal(format!("{group}/{version} has no such kind")))?;
        Ok(self.of_declared(kind))
    }

    /// Returns the endpoint for bodies of a declared kind.
    pub fn of_declared(&self, kind: &'static KindDef) -> Self {
        let mut endpoint = self.clone();
        (endpoint.kind, endpoint.open) = (kind, None);
        endpoint
    }

    /// Whether bodies are of a declared kind but the resource is of open form, such as the Scale of
    /// a custom resource ([`for_subresource`](Self::for_subresource)).
    pub fn is_part_of_open(&self) -> bool {
        self.open.is_none() && self.store.as_ref().is_some_and(|store| registry::is_text(store.storage_kind))
    }

    /// Returns the declared subresource with this name.
    pub fn subresource(&self, name: &str) -> Option<&'static SubresourceDef> {
        self.resource.subresources.iter().find(|s| s.name == name)
    }

    /// Returns the forms that a response for an object, or for its subresource, can have.
    pub fn forms(&self, subresource: &str) -> Forms {
        match self.subresource(subresource) {
            Some(def) if !def.has_tables => Forms::NoTable,
            _ => Forms::All,
        }
    }

    /// The Go package of upstream's internal type, for messages.
    pub fn internal_package(&self) -> &'static str {
        match self.open {
            Some(_) => "unstructured",
            None => gvk::internal_package(self.kind.group),
        }
    }

    /// Returns the store, or an error if the resource has none.
    pub fn store(&self) -> Result<&Arc<ResourceStore>, Status> {
        self.store.as_ref().ok_or_else(|| Status::not_implemented(&format!("{} in storage", self.name())))
    }
}
