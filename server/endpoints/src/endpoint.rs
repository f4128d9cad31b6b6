//! A resource in one version, as requests meet it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::Method;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SubresourceDef};
use machinery::features::FeatureGates;
use machinery::reflect::{Owned, Struct};
use machinery::status::{GroupResource, Status};
use registry::{CheckWrite, Context, Outcome, ResourceStore};
use serving::authorization::Authorizer;
use serving::{Query, Request, RequestInfo, Response};

use crate::admission::{Admission, Attributes};
use crate::gvk;
use crate::media::Forms;
use crate::open::OpenKind;
use crate::verbs::connect;

/// Everything a verb needs to know about a resource in a version.
#[derive(Clone)]
pub struct Endpoint {
    pub catalog: &'static Catalog,
    /// The version's kind; of a subresource with bodies of its own, theirs.
    pub kind: &'static KindDef,
    /// The group and version of the resource.
    pub group_version: (&'static str, &'static str),
    pub resource: &'static ResourceDef,
    /// `None` for virtual resources.
    pub store: Option<Arc<ResourceStore>>,
    pub admission: Arc<dyn Admission>,
    /// Asked again when an update turns out to be a create.
    pub authorizer: Arc<dyn Authorizer>,
    pub features: Arc<FeatureGates>,
    /// Whether containers may be privileged.
    pub allow_privileged: bool,
    /// A watch that asks for no timeout lasts between this and twice this.
    pub min_request_timeout: Duration,
    /// How many objects of a collection are deleted at a time; at least one.
    pub delete_workers: usize,
    /// Whether a small body may cost much: its writes run in the work pool.
    pub is_costly: bool,
    /// What is known of a kind of open form.
    pub open: Option<Arc<dyn OpenKind>>,
    /// The definition of a custom resource, also where bodies are of a declared kind (Scale).
    pub definition: Option<Arc<dyn OpenKind>>,
    /// KindExtensions of subresources, or of virtual resources under the empty name, that no descriptor can say.
    pub handlers: HashMap<&'static str, Arc<dyn SubresourceHandler>>,
}

/// A body that was posted to a subresource or a virtual resource.
pub struct CreateRequest<'a> {
    /// The resource, with the kind of the body.
    pub endpoint: &'a Endpoint,
    pub context: &'a Context,
    pub attributes: &'a Attributes,
    /// In hub form, with defaults, after mutating admission.
    pub body: Owned,
    pub query: &'a Query,
}

impl CreateRequest<'_> {
    /// Asks validating admission; a handler does so once it has validated the object itself (upstream: `createValidation`).
    pub async fn validate(&self) -> Result<(), Status> {
        self.endpoint.admission.validate(self.attributes, Some(&self.body), None).await
    }
}

/// A request that is to be passed on.
pub struct ConnectRequest<'a> {
    /// The resource that the subresource belongs to.
    pub endpoint: &'a Endpoint,
    pub context: &'a Context,
    /// The kind is that of the options.
    pub attributes: &'a Attributes,
    pub info: &'a RequestInfo,
    pub query: &'a Query,
}

impl ConnectRequest<'_> {
    /// What the query says, as options of this type.
    ///
    /// # Errors
    /// When a parameter is no value of its field.
    pub fn options<T: Struct>(&self) -> Result<T, Status> {
        let options = connect::options(T::def(), self.query)?;
        options.into_inner().map_err(|_| Status::internal(format!("not a {}", T::def().name)))
    }

    /// The path behind the subresource, not escaped.
    pub fn subpath(&self) -> String {
        connect::subpath(self.info)
    }

    /// Asks admission about a connection with these options.
    ///
    /// # Errors
    /// What admission has against it.
    pub async fn admit(&self, options: &mut Owned) -> Result<(), Status> {
        if self.query.get("dryRun").is_some() {
            return Err(Status::bad_request("dryRun is not supported"));
        }
        self.endpoint.admission.admit(self.attributes, options, None).await?;
        self.endpoint.admission.validate(self.attributes, Some(options), None).await
    }
}

/// Validating admission of what is created.
pub struct AdmitCreate<'a> {
    pub endpoint: &'a Endpoint,
    pub attributes: &'a Attributes,
}

#[async_trait]
impl CheckWrite for AdmitCreate<'_> {
    async fn check(&mut self, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        self.endpoint.admission.validate(self.attributes, Some(new), old).await
    }

    async fn settle(&mut self, outcome: Outcome) {
        self.attributes.reservations.settle(outcome).await;
    }
}

/// What a [`SubresourceHandler`] answers.
pub enum Answer {
    /// An object of the body's kind, in hub form.
    Object(Owned),
    /// A Status that says so.
    Success,
}

/// A subresource, or a virtual resource, with behaviour of its own: `pods/binding`, `serviceaccounts/token`, reviews.
#[async_trait]
pub trait SubresourceHandler: Send + Sync {
    /// Whether uid and times in the body's metadata mean something.
    fn keeps_system_fields(&self) -> bool {
        false
    }

    /// Whether bodies may be of any version that converts to the handler's kind.
    fn accepts_other_versions(&self) -> bool {
        false
    }

    /// Takes what was posted.
    async fn create(&self, posted: CreateRequest<'_>) -> Result<Answer, Status> {
        Err(Status::not_implemented(&format!("POST of {}", posted.attributes.subresource)))
    }

    /// The objects of a virtual resource that is read: all of them in order of their names, or that of a name. In hub form.
    ///
    /// # Errors
    /// 404 when there is no object of the name.
    async fn objects(&self, _name: Option<&str>) -> Result<Vec<Owned>, Status> {
        Err(Status::not_implemented("reads of a resource that is not stored"))
    }

    /// The methods of requests that are passed on to what the resource stands for (`rest.Connecter.ConnectMethods`).
    fn connects(&self) -> &[Method] {
        &[]
    }

    /// A media type that the route of requests that are passed on produces besides those of objects
    /// (`rest.StorageMetadata.ProducesMIMETypes`); nothing where it produces any.
    fn produces(&self) -> Option<&'static str> {
        None
    }

    /// Whether the path may go on behind the subresource, as behind `proxy` (the second result of `NewConnectOptions`).
    fn takes_subpath(&self) -> bool {
        false
    }

    /// Passes a request of one of these methods on.
    async fn connect(&self, connected: ConnectRequest<'_>, _request: Request) -> Result<Response, Status> {
        Err(Status::not_implemented(&format!("a connection to {}", connected.attributes.subresource)))
    }
}

impl Endpoint {
    /// Group and plural, as messages name it.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.group_version.0, resource: self.resource.plural }
    }

    /// The store's view of what is about to happen.
    pub fn context(&self, attributes: &Attributes) -> Context {
        Context {
            namespace: attributes.namespace.clone(),
            group: self.group_version.0.to_owned(),
            version: self.group_version.1.to_owned(),
            subresource: attributes.subresource.clone(),
            user: attributes.user.name.clone(),
            groups: attributes.user.groups.clone(),
            dry_run: attributes.dry_run,
            features: self.features.clone(),
            allow_privileged: self.allow_privileged,
            ..Context::default()
        }
    }

    /// Whether the user may create the object that an update did not find (upstream: `withAuthorization`), or what a connection stands for.
    pub async fn authorize_create(&self, attributes: &Attributes) -> Result<(), Status> {
        let wish = self.wish(attributes, "create");
        let decision = self.authorizer.authorize(&wish).await;
        if decision.is_allowed() { Ok(()) } else { Err(wish.forbidden(decision.reason())) }
    }

    /// Whether the user may delete what cannot be read (upstream: `authorizeUnsafeDelete`).
    pub async fn authorize_unsafe_delete(&self, attributes: &Attributes) -> Result<(), Status> {
        const VERB: &str = "unsafe-delete-ignore-read-errors";
        let decision = self.authorizer.authorize(&self.wish(attributes, VERB)).await;
        if decision.is_allowed() {
            return Ok(());
        }
        let of = GroupResource { group: self.group_version.0, resource: self.resource.plural };
        let why = format!("not permitted to do \"{VERB}\", reason: {}", decision.reason());
        Err(Status::forbidden(of, &attributes.name, why))
    }

    fn wish<'a>(&'a self, attributes: &'a Attributes, verb: &'a str) -> serving::authorization::Attributes<'a> {
        serving::authorization::Attributes {
            namespace: &attributes.namespace,
            version: self.group_version.1,
            name: &attributes.name,
            subresource: &attributes.subresource,
            ..serving::authorization::Attributes::resource(
                &attributes.user,
                verb,
                self.group_version.0,
                self.resource.plural,
            )
        }
    }

    /// Asks validating admission about a write; of one that was to be an update and creates, first whether its user may create.
    pub async fn check_write(&self, attributes: &Attributes, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        if old.is_none() {
            self.authorize_create(attributes).await?;
        }
        self.admission.validate(attributes, Some(new), old).await
    }

    /// The endpoint as one of bodies that are posted to a subresource.
    pub fn of_bodies(&self, subresource: &str) -> Result<Self, Status> {
        let Some(def) = self.subresource(subresource) else { return Ok(self.clone()) };
        let (group, version, kind) = def.kind;
        if def.kind == (self.kind.group, self.kind.version, self.kind.kind) {
            return Ok(self.clone());
        }
        let kind = self.catalog.kind(group, version, kind);
        let kind = kind.ok_or_else(|| Status::internal(format!("{group}/{version} has no such kind")))?;
        Ok(Endpoint { kind, open: None, ..self.clone() })
    }

    /// Whether it is one of bodies of a declared kind, posted to a kind of open form ([`of_bodies`](Self::of_bodies)): the Scale of one.
    pub fn is_part_of_open(&self) -> bool {
        self.open.is_none() && self.store.as_ref().is_some_and(|store| registry::is_text(store.storage_kind))
    }

    /// The declared subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&'static SubresourceDef> {
        self.resource.subresources.iter().find(|s| s.name == name)
    }

    /// The forms that answers about an object, or a subresource of one, may be asked in.
    pub fn forms(&self, subresource: &str) -> Forms {
        match self.subresource(subresource) {
            Some(def) if !def.has_tables => Forms::NoTable,
            _ => Forms::All,
        }
    }

    /// The Go package of upstream's internal type, which a few messages show.
    pub fn internal_package(&self) -> &'static str {
        match self.open {
            Some(_) => "unstructured",
            None => gvk::internal_package(self.kind.group),
        }
    }

    /// The store, or the error that there is none.
    pub fn store(&self) -> Result<&Arc<ResourceStore>, Status> {
        self.store.as_ref().ok_or_else(|| Status::not_implemented(&format!("{} in storage", self.name())))
    }
}
