//! An API server: routes requests to endpoints and documents, and what it does not know to the next server of the chain.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{Method, StatusCode};
use machinery::catalog::Catalog;
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::Value;
use serving::warnings::Warnings;
use serving::work::{self, Work};
use serving::{Body, BoxFuture, Handler, Request, RequestExt, RequestInfo, Response};

use crate::answer::{self, respond as send};
use crate::audit;
use crate::discovery::{Aggregated, Discovery, GroupVersions};
use crate::endpoint::{Endpoint, SubresourceHandler};
use crate::gzip;
use crate::media::{Encoding, Forms, Spoken};
use crate::openapi_docs::OpenApi;
use crate::query::Query;
use crate::routes::Routes;
use crate::verbs::{self, Call};

/// A server of the delegation chain.
pub struct ApiServer {
    catalog: &'static Catalog,
    routes: RwLock<Routes>,
    discovery: Arc<Discovery>,
    openapi: Option<Arc<OpenApi>>,
    /// Answers `/api`, `/apis` and `/`: the outermost server does.
    root: bool,
    /// Its resources come and go: what is not there is left to the next server, even in a group that is.
    open: bool,
    next: Arc<dyn Handler>,
}

impl ApiServer {
    /// A server of these endpoints, with discovery documents about them; `next` gets what it does not know.
    pub fn new(
        catalog: &'static Catalog,
        endpoints: Vec<Arc<Endpoint>>,
        discovery: Arc<Discovery>,
        openapi: Option<Arc<OpenApi>>,
        next: Arc<dyn Handler>,
    ) -> Self {
        let root = openapi.is_some();
        let server = ApiServer { catalog, routes: RwLock::default(), discovery, openapi, root, open: false, next };
        server.change(&[], endpoints);
        server
    }

    /// A server of resources that come and go; none at first. What there is of them is told to `openapi`, which another server serves.
    pub fn open(
        catalog: &'static Catalog,
        discovery: Arc<Discovery>,
        openapi: Arc<OpenApi>,
        next: Arc<dyn Handler>,
    ) -> Self {
        ApiServer { open: true, openapi: Some(openapi), ..Self::new(catalog, Vec::new(), discovery, None, next) }
    }

    /// Takes endpoints away and puts others in their place, and describes their group versions anew. Requests that are under way go on with
    /// the endpoints that they found.
    pub fn change(&self, gone: &[Arc<Endpoint>], new: Vec<Arc<Endpoint>>) {
        let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let touched: BTreeSet<_> = gone.iter().chain(&new).map(|e| (e.kind.group, e.kind.version)).collect();
        gone.iter().for_each(|endpoint| routes.remove(endpoint));
        new.into_iter().for_each(|endpoint| routes.insert(endpoint));
        for (group, version) in touched {
            let served = routes.in_version(group, version);
            match served.is_empty() {
                true => self.discovery.remove(group, version),
                false => {
                    let kinds = served.iter().map(|endpoint| endpoint.kind).collect();
                    self.discovery.add(GroupVersions::new(self.catalog, group, version, kinds));
                }
            }
            if let Some(openapi) = self.openapi.as_ref().filter(|_| self.open) {
                openapi.set_custom(group, version, served);
            }
        }
    }

    fn routes(&self) -> RwLockReadGuard<'_, Routes> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner)
    }

    async fn route(&self, request: Request) -> Response {
        let Some(info) = request.info().cloned() else { return self.next.handle(request).await };
        // What the path is about does not depend on the number of slashes it begins with; whether anybody serves it does.
        if request.uri().path().starts_with("//") {
            return self.next.handle(request).await;
        }
        if info.is_resource_request {
            let endpoint = self.routes().find(&info.api_group, &info.api_version, &info.resource).cloned();
            if let Some(endpoint) = endpoint.filter(|endpoint| !self.open || is_in_scope(endpoint, &info)) {
                return resource(endpoint, info, request).await;
            }
            if !self.open && self.serves(&info.api_group, None) {
                return refuse(&request, &Status::path_not_found());
            }
            return self.next.handle(request).await;
        }
        if let Some(openapi) = self.openapi.as_ref().filter(|_| self.root && is_read_of_openapi(&request)) {
            let remote = self.discovery.remote_openapi();
            return match openapi.answer(request.uri().path(), request.headers(), remote).await {
                Some(response) => response,
                None => self.next.handle(request).await,
            };
        }
        match self.document(&request) {
            Some(response) => response,
            None => self.next.handle(request).await,
        }
    }

    /// Discovery documents.
    fn document(&self, request: &Request) -> Option<Response> {
        let path = request.uri().path();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (document, aggregated) = match parts.as_slice() {
            ["api"] if self.root => (self.discovery.api_versions(&address(request)), Some(true)),
            ["apis"] if self.root => (self.discovery.group_list(), Some(false).filter(|_| !path.ends_with('/'))),
            ["apis", group] if self.serves(group, None) || (self.root && self.discovery.is_registered(group)) => {
                (self.discovery.group(group)?, None)
            }
            ["apis", group, version] if self.serves(group, Some(version)) => {
                (self.discovery.resource_list(group, version)?, None)
            }
            ["api", version] if self.serves("", Some(version)) => (self.discovery.resource_list("", version)?, None),
            ["apis", group, _, ..] if !self.open && self.serves(group, None) => {
                return Some(refuse(request, &Status::path_not_found()));
            }
            ["api", ..] if self.serves("", None) => return Some(refuse(request, &Status::path_not_found())),
            _ => return None,
        };
        if request.method() != Method::GET {
            return Some(refuse(request, &Status::method_not_allowed()));
        }
        Some(self.negotiated(request, document, aggregated))
    }

    fn serves(&self, group: &str, version: Option<&str>) -> bool {
        self.routes().serves(group, version)
    }

    /// A discovery document in the encoding asked for; all groups at once where the client prefers that.
    fn negotiated(&self, request: &Request, document: Value, core: Option<bool>) -> Response {
        let accept = request.headers().get(ACCEPT).and_then(|v| v.to_str().ok());
        if let Some(core) = core
            && let Some((encoding, alone)) = wants_aggregated(accept)
        {
            return aggregated_response(request, &self.discovery.aggregated(core, alone), encoding);
        }
        match Spoken::BY_DEFAULT.accept_object(
            accept,
            Query::parse(request.uri().query()).flag("pretty"),
            Forms::Object,
        ) {
            Ok(accepted) => {
                encode_document(&document, accepted.encoding, accepted.pretty).unwrap_or_else(|s| refuse(request, &s))
            }
            Err(status) => refuse(request, &status),
        }
    }
}

fn is_read_of_openapi(request: &Request) -> bool {
    request.uri().path().starts_with("/openapi/")
        && (request.method() == Method::GET || request.method() == Method::HEAD)
}

/// The encoding of the first clause that asks for an aggregated document of version v2, and whether it asks for that of this server alone.
fn wants_aggregated(accept: Option<&str>) -> Option<(Encoding, bool)> {
    let accept = accept?;
    let clause = accept.split(',').map(str::trim).find(|clause| {
        let parts: Vec<&str> = clause.split(';').map(str::trim).collect();
        ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"].iter().all(|p| parts.contains(p))
    })?;
    let encoding = match clause.split(';').next()? {
        "application/json" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        "application/vnd.kubernetes.protobuf" => Encoding::Protobuf,
        _ => return None,
    };
    Some((encoding, clause.split(';').any(|part| part.trim() == "profile=nopeer")))
}

/// The document, or that the client has it already (upstream: `ServeHTTPWithETag`).
fn aggregated_response(request: &Request, merged: &Aggregated, encoding: Encoding) -> Response {
    let known = request.headers().get(IF_NONE_MATCH).is_some_and(|value| value == merged.etag.as_str());
    let made = match known {
        true => not_modified(),
        false => encode_text(merged.text.clone(), Aggregated::KIND, encoding, false),
    };
    let mut response = match made {
        Ok(response) => response,
        Err(status) => return answer::failure(&status, Encoding::Json),
    };
    let content_type = format!("{};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", encoding.media_type());
    let headers = response.headers_mut();
    if let (false, Ok(value)) = (known, HeaderValue::from_str(&content_type)) {
        headers.insert(CONTENT_TYPE, value);
    }
    if let Ok(etag) = HeaderValue::from_str(&merged.etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    response
}

fn not_modified() -> Result<Response, Status> {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    Ok(response)
}

/// A document of a declared kind.
fn encode_document(document: &Value, encoding: Encoding, pretty: bool) -> Result<Response, Status> {
    let said = |name: &str, otherwise| document[name].as_str().unwrap_or(otherwise);
    let kind = (said("apiVersion", "v1"), said("kind", ""));
    encode_text((document.to_string() + "\n").into(), kind, encoding, pretty)
}

/// The same, given as a line of JSON.
fn encode_text(text: Bytes, kind: (&str, &str), encoding: Encoding, pretty: bool) -> Result<Response, Status> {
    let (line, mut out) = (text.trim_ascii_end(), Vec::new());
    match encoding {
        Encoding::Json if !pretty => return Ok(send(StatusCode::OK, encoding, text)),
        Encoding::Json => json::pretty(line, &mut out),
        Encoding::Yaml | Encoding::Cbor => answer::rewrite(line, encoding, &mut out)?,
        Encoding::Protobuf => {
            let (api_version, kind) = kind;
            let def =
                discovery_def(kind).ok_or_else(|| Status::not_acceptable(&["application/json", "application/yaml"]))?;
            let mut value = Owned::new(def);
            json::decode(line, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
            machinery::envelope::encode_object(api_version, kind, value.as_ref(), &mut out);
        }
    }
    Ok(send(StatusCode::OK, encoding, out))
}

fn discovery_def(kind: &str) -> Option<&'static machinery::def::StructDef> {
    use apimachinery::apidiscovery::v2::APIGroupDiscoveryList;
    use apimachinery::meta::v1::{APIGroup, APIGroupList, APIResourceList, APIVersions};
    use machinery::reflect::Struct;
    match kind {
        "APIGroup" => Some(APIGroup::def()),
        "APIGroupList" => Some(APIGroupList::def()),
        "APIResourceList" => Some(APIResourceList::def()),
        "APIVersions" => Some(APIVersions::def()),
        "APIGroupDiscoveryList" => Some(APIGroupDiscoveryList::def()),
        _ => None,
    }
}

/// The address clients are told to use: the one they used.
fn address(request: &Request) -> String {
    let host = request.headers().get(http::header::HOST).and_then(|v| v.to_str().ok());
    host.or(request.uri().authority().map(|a| a.as_str())).unwrap_or("127.0.0.1:6443").to_string()
}

/// A failure in the encoding that the request asks for.
fn refuse(request: &Request, status: &Status) -> Response {
    respond(request.headers(), Spoken::BY_DEFAULT, status)
}

/// A failure in the encoding that these headers ask for.
pub fn respond(headers: &http::HeaderMap, spoken: Spoken, status: &Status) -> Response {
    failure(headers.get(ACCEPT), spoken, status)
}

fn failure(accept: Option<&HeaderValue>, spoken: Spoken, status: &Status) -> Response {
    let accept = accept.and_then(|value| value.to_str().ok());
    let encoding = spoken.accept_object(accept, false, Forms::All).map_or(Encoding::Json, |a| a.encoding);
    answer::failure(status, encoding)
}

/// Whether a request names a namespace where one has to be named, and only there; lists and watches may look at all.
fn is_in_scope(endpoint: &Endpoint, info: &RequestInfo) -> bool {
    match (endpoint.resource.namespaced, info.namespace.is_empty()) {
        (true, true) => matches!(info.verb.as_ref(), "list" | "watch"),
        (namespaced, nowhere) => namespaced != nowhere,
    }
}

/// Dispatches a request for a resource to its verb.
async fn resource(endpoint: Arc<Endpoint>, info: Arc<RequestInfo>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).cloned();
    let user = parts.extensions.user().cloned().unwrap_or_else(|| Arc::new(serving::User::anonymous()));
    let warnings = parts.extensions.get::<Warnings>().cloned().unwrap_or_default();
    let query = Query::parse(parts.uri.query());
    let compresses = gzip::is_accepted(&parts.headers) && endpoint.features.enabled("APIResponseCompression");
    // Streams of events and what is passed on go as they are.
    let is_stream = info.verb == "watch";
    let spoken = Spoken::of(&endpoint.features);
    let (catalog, trail) = (endpoint.catalog, parts.extensions.trail());
    let watched = parts.extensions.get().cloned();
    let detach = parts.extensions.get().cloned();
    let handler = endpoint.handlers.get(info.subresource.as_str()).cloned();
    let answer = match handler.filter(|handler| handler.connects().contains(&parts.method)) {
        Some(handler) => {
            let (headers, nothing) = (parts.headers.clone(), Body::empty());
            let call = Call { info, user, query, headers, body: nothing, warnings, spoken, trail, watched, detach };
            connect(&endpoint, &*handler, call, Request::from_parts(parts, body)).await
        }
        None => {
            let work = Work { user: user.clone(), seat: parts.extensions.get().cloned() };
            let (method, headers, recorded) = (parts.method, parts.headers, trail.clone());
            let call = Call { info, user, query, headers, body, warnings, spoken, trail: recorded, watched, detach };
            let answered = async move {
                match dispatch(endpoint, call, &method).await {
                    Ok(response) if !is_stream => Ok(audit::answered(&trail, catalog, response).await),
                    answer => answer,
                }
            };
            match work::run(work, answered).await {
                Ok(response) if compresses && !is_stream => Ok(gzip::compress(response)),
                answer => answer,
            }
        }
    };
    match answer {
        Ok(response) => response,
        Err(status) => {
            let mut response = failure(accept.as_ref(), spoken, &status);
            if status.code == 405 {
                response.headers_mut().remove(ALLOW);
            }
            response
        }
    }
}

/// Passes a request on to what its resource stands for.
async fn connect(
    endpoint: &Endpoint,
    handler: &dyn SubresourceHandler,
    call: Call,
    request: Request,
) -> Result<Response, Status> {
    check_scope(endpoint, &call)?;
    if call.info.depth > 3 && call.info.subresource != "proxy" {
        return Err(Status::path_not_found());
    }
    verbs::connect::connect(endpoint, handler, call, request).await
}

async fn dispatch(endpoint: Arc<Endpoint>, call: Call, method: &Method) -> Result<Response, Status> {
    let info = call.info.clone();
    let (verb, subresource) = (&*info.verb, info.subresource.as_str());
    if method == Method::HEAD {
        return Err(Status::method_not_allowed());
    }
    check_scope(&endpoint, &call)?;
    if let Some(open) = &endpoint.open {
        call.warn(open.warnings());
    }
    if !subresource.is_empty() {
        let Some(def) = endpoint.subresource(subresource) else {
            let open = endpoint.open.is_some().then(|| Status::not_found(endpoint.name(), &call.info.name));
            return Err(open.unwrap_or_else(Status::path_not_found));
        };
        if call.info.depth > 3 && subresource != "proxy" {
            return Err(Status::path_not_found());
        }
        if verb == "watch" {
            return Err(Status::path_not_found());
        }
        if !def.verbs.contains(&verb) {
            return Err(Status::method_not_allowed());
        }
        check_name(&call.info.name)?;
        let own_kind = def.kind.2 == endpoint.kind.kind && def.kind.0 == endpoint.kind.group;
        if own_kind {
            call.warn_deprecated(endpoint.kind);
        }
        return match verb {
            "get" if def.scale.is_some() => verbs::scale::get(&endpoint, call).await,
            "update" if def.scale.is_some() => verbs::update::update(&endpoint, call).await,
            "patch" if def.scale.is_some() => verbs::patch::patch(&endpoint, call).await,
            "get" if own_kind && subresource == "status" => verbs::get::get(&endpoint, call).await,
            "update" if own_kind => verbs::update::update(&endpoint, call).await,
            "patch" if own_kind => verbs::patch::patch(&endpoint, call).await,
            "get" if own_kind && subresource != "log" => verbs::get::get(&endpoint, call).await,
            "create" => verbs::create::create_special(&endpoint, call).await,
            _ => Err(Status::not_implemented(&format!("{verb} of {}/{subresource}", endpoint.resource.plural))),
        };
    }
    check_name(&call.info.name)?;
    let named = !call.info.name.is_empty() && call.info.depth > 1;
    if named && !["get", "update", "patch", "delete"].iter().any(|verb| endpoint.resource.verbs.contains(verb)) {
        return Err(Status::path_not_found());
    }
    if !endpoint.resource.verbs.contains(&verb) {
        return Err(Status::method_not_allowed());
    }
    call.warn_deprecated(endpoint.kind);
    match (verb, named) {
        ("create", true) => Err(Status::method_not_allowed()),
        ("create", false) if endpoint.store.is_none() => verbs::create::create_special(&endpoint, call).await,
        ("create", false) => verbs::create::create(&endpoint, call).await,
        ("get", _) => verbs::get::get(&endpoint, call).await,
        ("list", _) => verbs::list::list(&endpoint, call).await,
        // No subresource is watched.
        ("watch", _) if call.info.depth > 2 => Err(Status::path_not_found()),
        ("watch", _) if method != Method::GET => Err(Status::method_not_allowed()),
        ("watch", _) => verbs::watch::watch(endpoint, call).await,
        ("update", true) => verbs::update::update(&endpoint, call).await,
        ("patch", true) => verbs::patch::patch(&endpoint, call).await,
        ("delete", true) => verbs::delete::delete(&endpoint, call).await,
        ("deletecollection", _) => verbs::delete::delete_collection(&endpoint, call).await,
        _ => Err(Status::method_not_allowed()),
    }
}

/// A name that would lead elsewhere in the store is none (`NamespaceKeyFunc`).
fn check_name(name: &str) -> Result<(), Status> {
    match name {
        "." | ".." => Err(Status::bad_request(format!("Name parameter invalid: {name:?}: may not be '{name}'"))),
        _ => Ok(()),
    }
}

/// A namespaced resource is written and read by name within a namespace; a cluster-scoped one without.
fn check_scope(endpoint: &Endpoint, call: &Call) -> Result<(), Status> {
    let in_namespace = !call.info.namespace.is_empty() && endpoint.resource.plural != "namespaces";
    let all = matches!(call.info.verb.as_ref(), "list" | "watch");
    match (endpoint.resource.namespaced, in_namespace) {
        (true, false) if !all => {
            if call.info.verb == "create" || call.info.verb == "deletecollection" {
                return Err(Status::method_not_allowed());
            }
            Err(Status::path_not_found())
        }
        (false, true) => Err(Status::path_not_found()),
        _ => Ok(()),
    }
}

impl Handler for ApiServer {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.route(request))
    }
}
