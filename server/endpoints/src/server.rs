//! An API server: routes requests to endpoints and documents, and other requests to the next server
//! of the chain.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use ::audit::{AuditContext, Level};
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{Method, StatusCode};
use machinery::catalog::{Catalog, SubresourceDef};
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{features, json};
use request::respond::wants_pretty;
use request::warnings::Warnings;
use request::{Body, BoxFuture, Handler, Query, Request, RequestExt, RequestInfo, Response, User};
use serde_json::Value;
use serving::work::memory::HeldMemory;
use serving::work::{self, Work};

use crate::discovery::{Aggregated, Discovery, GroupVersions};
use crate::endpoint::Endpoint;
use crate::media::{Encoding, Forms, SupportedEncodings};
use crate::openapi_docs::{DocumentRequest, OpenApi};
use crate::patching::PatchType;
use crate::response::{self, respond as send};
use crate::route_table::{self, Destination, VerbTarget};
use crate::routes::Routes;
use crate::verbs::{self, ResourceRequest};
use crate::{audit, gzip};

/// A server of the delegation chain.
pub struct ApiServer {
    catalog: &'static Catalog,
    routes: RwLock<Routes>,
    discovery: Arc<Discovery>,
    openapi: Option<Arc<OpenApi>>,
    /// Whether it serves `/api`, `/apis` and `/`; true for the outermost server.
    root: bool,
    /// Whether resources are added and removed at run time. Unknown resources are delegated, even
    /// in a known group.
    open: bool,
    next: Arc<dyn Handler>,
}

impl ApiServer {
    /// Creates a server of these endpoints and adds them to discovery. `next` gets all other
    /// requests.
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

    /// Creates a server of dynamic resources, without endpoints at first. It publishes them in
    /// `openapi`, which another server serves.
    pub fn open(
        catalog: &'static Catalog,
        discovery: Arc<Discovery>,
        openapi: Arc<OpenApi>,
        next: Arc<dyn Handler>,
    ) -> Self {
        ApiServer { open: true, openapi: Some(openapi), ..Self::new(catalog, Vec::new(), discovery, None, next) }
    }

    /// Removes and adds endpoints, and rebuilds the documents of their group versions. Requests in
    /// flight keep the endpoints that they resolved.
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
        // The request info is independent of the number of leading slashes; routing is not.
        if info.path.starts_with("//") {
            return self.next.handle(request).await;
        }
        if info.is_resource_request {
            let endpoint = self.routes().find(&info.api_group, &info.api_version, &info.resource).cloned();
            if let Some(endpoint) =
                endpoint.filter(|endpoint| !self.open || route_table::is_in_scope(endpoint.resource.namespaced, &info))
            {
                return resource(endpoint, info, request).await;
            }
            if !self.open && self.serves(&info.api_group, None) {
                return refuse(&request, &Status::path_not_found());
            }
            return self.next.handle(request).await;
        }
        // Upstream serves requests of any method as reads.
        if let Some(openapi) = self.openapi.as_ref().filter(|_| self.root && info.path.starts_with("/openapi/")) {
            let remote = self.discovery.remote_openapi();
            let (method, headers) = (request.method().clone(), request.headers().clone());
            let requested = DocumentRequest { method, headers, hash: info.query.text("hash").to_string() };
            return match openapi.answer(&info.path, requested, remote).await {
                Some(response) => response,
                None => self.next.handle(request).await,
            };
        }
        match self.document(&request) {
            Some(response) => response,
            None => self.next.handle(request).await,
        }
    }

    /// Serves discovery documents.
    fn document(&self, request: &Request) -> Option<Response> {
        let path = request.path();
        if path.starts_with("/apis//") {
            return None;
        }
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
        // The handlers of `/apis` and of groups serve requests of any method as reads
        // (`apisHandler`, `apiGroupHandler`).
        let answers_any_method = parts[0] == "apis" && parts.len() < 3;
        if request.method() != Method::GET && !answers_any_method {
            return Some(refuse(request, &Status::method_not_allowed()));
        }
        Some(self.negotiated(request, document, aggregated, !self.open && !answers_any_method))
    }

    fn serves(&self, group: &str, version: Option<&str>) -> bool {
        self.routes().serves(group, version)
    }

    /// Serves a discovery document in the negotiated encoding, aggregated if the client prefers
    /// that. Go-restful checks first what its routes produce.
    fn negotiated(&self, request: &Request, document: Value, core: Option<bool>, is_route: bool) -> Response {
        let accept = request.headers().get(ACCEPT).and_then(|v| v.to_str().ok());
        if let Some(core) = core
            && let Some((encoding, alone)) = wants_aggregated(accept)
        {
            return aggregated_response(request, &self.discovery.aggregated(core, alone), encoding);
        }
        let pretty = wants_pretty(request.query(), request.headers());
        let sent = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let routed = if is_route { SupportedEncodings::DEFAULT.check_document(sent, accept) } else { Ok(()) };
        match routed.and_then(|()| SupportedEncodings::DEFAULT.accept_object(accept, pretty, Forms::Object)) {
            Ok(accepted) => {
                encode_document(&document, accepted.encoding, accepted.pretty).unwrap_or_else(|s| refuse(request, &s))
            }
            Err(status) => refuse(request, &status),
        }
    }
}

/// Returns the encoding of the first clause for an aggregated document of version v2, and whether
/// it is limited to this server.
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

/// Serves the document, or 304 if the client has it (upstream: `ServeHTTPWithETag`).
fn aggregated_response(request: &Request, merged: &Aggregated, encoding: Encoding) -> Response {
    let known = request.headers().get(IF_NONE_MATCH).is_some_and(|value| value == merged.etag.as_str());
    let made = match known {
        true => not_modified(),
        false => encode_text(merged.text.clone(), Aggregated::KIND, encoding, false),
    };
    let mut response = match made {
        Ok(response) => response,
        Err(status) => return response::failure(&status, Encoding::Json, false),
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

/// Encodes a document of a declared kind.
fn encode_document(document: &Value, encoding: Encoding, pretty: bool) -> Result<Response, Status> {
    let field = |name: &str, otherwise| document[name].as_str().unwrap_or(otherwise);
    // Documents of the legacy group have no version, not even in protobuf.
    let kind = (field("apiVersion", ""), field("kind", ""));
    encode_text((document.to_string() + "\n").into(), kind, encoding, pretty)
}

/// Same as [`encode_document`], for a line of JSON.
fn encode_text(text: Bytes, kind: (&str, &str), encoding: Encoding, pretty: bool) -> Result<Response, Status> {
    let (line, mut out) = (text.trim_ascii_end(), Vec::new());
    match encoding {
        Encoding::Json if !pretty => return Ok(send(StatusCode::OK, encoding, text)),
        Encoding::Json => json::pretty(line, &mut out),
        Encoding::Yaml | Encoding::Cbor => response::rewrite(line, encoding, &mut out)?,
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

/// The server address for clients: the host of the request.
fn address(request: &Request) -> String {
    let host = request.headers().get(http::header::HOST).and_then(|v| v.to_str().ok());
    host.or(request.uri().authority().map(|a| a.as_str())).unwrap_or("127.0.0.1:6443").to_string()
}

/// Responds with a failure, in the negotiated encoding.
fn refuse(request: &Request, status: &Status) -> Response {
    let pretty = wants_pretty(request.query(), request.headers());
    failure(request.headers().get(ACCEPT), SupportedEncodings::DEFAULT, pretty, status)
}

/// Responds with a failure, in the encoding that these headers negotiate.
pub fn respond(headers: &http::HeaderMap, supported: SupportedEncodings, status: &Status) -> Response {
    failure(headers.get(ACCEPT), supported, wants_pretty(&Query::default(), headers), status)
}

fn failure(accept: Option<&HeaderValue>, supported: SupportedEncodings, pretty: bool, status: &Status) -> Response {
    let accept = accept.and_then(|value| value.to_str().ok());
    match supported.accept_object(accept, false, Forms::Object) {
        Ok(accepted) => response::failure(status, accepted.encoding, pretty),
        // The header accepts none of the forms of a failure. As upstream, the response is indented
        // JSON.
        Err(_) => response::failure(status, Encoding::Json, true),
    }
}

/// Serves a request for a resource.
async fn resource(endpoint: Arc<Endpoint>, info: Arc<RequestInfo>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).cloned();
    let pretty = wants_pretty(&info.query, &parts.headers);
    let supported = SupportedEncodings::of(&endpoint.features, endpoint.open.is_some());
    let is_collection = info.verb_in_path || (info.depth == 1 && parts.method == Method::GET);
    let route = route_table::find(&endpoint, &info, &parts.method);
    let counted = route.as_ref().ok().map(|route| route_table::routed(&endpoint, route));
    let route = route.and_then(|route| {
        match &route {
            Destination::Verb(..) => routed(&endpoint, &parts, supported, is_collection)?,
            Destination::Connect(handler) => {
                if let Some(media_type) = handler.produces() {
                    supported.check_route_of(accept.as_ref().and_then(|value| value.to_str().ok()), media_type)?;
                }
                route_table::check_names(&endpoint, &info)?;
            }
        }
        Ok(route)
    });
    let answer = match route {
        Ok(Destination::Connect(handler)) => {
            let call = call(&parts.extensions, info, supported, parts.headers.clone(), Body::empty());
            verbs::connect::connect(&endpoint, &*handler, call, Request::from_parts(parts, body)).await
        }
        Ok(Destination::Verb(target, verb)) => {
            let call = call(&parts.extensions, info, supported, parts.headers, body);
            run_verb(endpoint, target, verb, call).await
        }
        Err(status) => Err(status),
    };
    let mut response = match answer {
        Ok(response) => response,
        Err(status) => {
            let mut response = failure(accept.as_ref(), supported, pretty, &status);
            if status.code == 405 {
                response.headers_mut().remove(ALLOW);
            }
            response
        }
    };
    if let Some(counted) = counted {
        response.extensions_mut().insert(counted);
    }
    response
}

/// Runs the checks of go-restful, before any handler: the media type of a patch, then that of the
/// response. Upstream has no go-restful routes for custom resources.
fn routed(
    endpoint: &Endpoint,
    parts: &http::request::Parts,
    supported: SupportedEncodings,
    is_collection: bool,
) -> Result<(), Status> {
    if endpoint.open.is_some() {
        return Ok(());
    }
    let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
    if parts.method == Method::PATCH {
        PatchType::parse(endpoint, supported, header(CONTENT_TYPE))?;
    }
    supported.check_route(header(ACCEPT), is_collection)
}

fn call(
    extensions: &http::Extensions,
    info: Arc<RequestInfo>,
    supported: SupportedEncodings,
    headers: http::HeaderMap,
    body: Body,
) -> ResourceRequest {
    let user = extensions.user().cloned().unwrap_or_else(|| Arc::new(request::User::anonymous()));
    ResourceRequest {
        info,
        held: HeldMemory::default(),
        user,
        headers,
        body,
        warnings: extensions.get::<Warnings>().cloned().unwrap_or_default(),
        supported,
        trail: AuditContext::of(extensions),
        watched: extensions.get().cloned(),
        detach: extensions.get().cloned(),
        seat: extensions.get().cloned(),
    }
}

/// Buffered responses up to this many bytes are not counted.
const LARGE_RESPONSE: usize = 256 << 10;

/// Counts the memory of a large buffered response until the client has read it.
///
/// # Errors
/// Returns an error if the memory limit is exceeded. The response to a write is sent anyway,
/// because the write is done.
fn charge_large_response(response: Response, user: &Arc<User>, is_write: bool) -> Result<Response, Status> {
    let mut held = HeldMemory::default();
    let length = response.body().known().map_or(0, Bytes::len);
    if length <= LARGE_RESPONSE {
        return Ok(response);
    }
    match held.add(user, length as u64) {
        Err(exceeded) if !is_write => Err(exceeded.into()),
        _ => Ok(response.map(|body| body.hold_until_sent(held))),
    }
}

/// Runs the verb, then audits and compresses the response. Watch streams are not changed.
async fn run_verb(
    endpoint: Arc<Endpoint>,
    target: VerbTarget,
    verb: &'static str,
    call: ResourceRequest,
) -> Result<Response, Status> {
    let compresses = gzip::is_accepted(&call.headers) && endpoint.features.enabled(features::APIResponseCompression);
    let (is_stream, is_write) = (call.info.verb == "watch", !call.info.is_read_only());
    let work = Work { user: call.user.clone(), seat: call.seat.clone() };
    let answer = work::run(&work, dispatch(endpoint, target, verb, call)).await;
    match answer.and_then(|response| charge_large_response(response, &work.user, is_write)) {
        Ok(response) if compresses && !is_stream => Ok(gzip::compress(response, &work.user)),
        answer => answer,
    }
}

type ResponseFuture = BoxFuture<'static, Result<Response, Status>>;

fn dispatch(endpoint: Arc<Endpoint>, target: VerbTarget, verb: &'static str, call: ResourceRequest) -> ResponseFuture {
    if let Some(open) = &endpoint.open {
        call.warn(open.warnings());
    }
    if matches!(target, VerbTarget::Resource) {
        call.warn_deprecated(endpoint.kind);
    }
    if let Err(status) = route_table::check_names(&endpoint, &call.info) {
        return Box::pin(std::future::ready(Err(status)));
    }
    match target {
        VerbTarget::Resource => of_resource(endpoint, verb, call),
        VerbTarget::Subresource(def) => {
            let audited = Audited::of(&endpoint, &call);
            audited.answer(async move { of_subresource(&endpoint, def, verb, call).await })
        }
    }
}

/// Runs the verb of a resource. Each verb has its own future: the largest is several times as large
/// as that of a read.
fn of_resource(endpoint: Arc<Endpoint>, verb: &str, call: ResourceRequest) -> ResponseFuture {
    let audited = Audited::of(&endpoint, &call);
    match verb {
        "create" if endpoint.store.is_none() => {
            audited.answer(async move { verbs::create::create_special(&endpoint, call).await })
        }
        "create" => audited.answer(async move { verbs::create::create(&endpoint, call).await }),
        "get" if endpoint.store.is_none() => audited.answer(async move { verbs::computed::get(&endpoint, call).await }),
        "get" => audited.answer(async move { verbs::get::get(&endpoint, call).await }),
        "list" if endpoint.store.is_none() => {
            audited.answer(async move { verbs::computed::list(&endpoint, call).await })
        }
        "list" => audited.answer(async move { verbs::list::list(&endpoint, call).await }),
        // Watch streams are not audited.
        "watch" => Box::pin(verbs::watch::watch(endpoint, call)),
        "update" => audited.answer(async move { verbs::update::update(&endpoint, call).await }),
        "patch" => audited.answer(async move { verbs::patch::patch(&endpoint, call).await }),
        "delete" => audited.answer(async move { verbs::delete::delete(&endpoint, call).await }),
        "deletecollection" => {
            audited.answer(async move { verbs::delete_collection::delete_collection(&endpoint, call).await })
        }
        _ => Box::pin(ready(Err(Status::method_not_allowed()))),
    }
}

/// Audits responses.
struct Audited {
    catalog: &'static Catalog,
    /// `None` if the audit policy does not include responses.
    trail: Option<AuditContext>,
    /// The user that is charged for the response of a read. Responses of completed writes are
    /// always audited.
    user: Option<Arc<User>>,
}

impl Audited {
    fn of(endpoint: &Endpoint, call: &ResourceRequest) -> Self {
        let wants_answer = call.trail.reaches(Level::RequestResponse);
        let user = (wants_answer && call.info.is_read_only()).then(|| call.user.clone());
        Audited { catalog: endpoint.catalog, trail: wants_answer.then(|| call.trail.clone()), user }
    }

    /// Returns the response after it is recorded.
    fn answer(self, answer: impl Future<Output = Result<Response, Status>> + Send + 'static) -> ResponseFuture {
        let Audited { catalog, trail, user } = self;
        match trail {
            Some(trail) => {
                Box::pin(async move { audit::record_response(&trail, catalog, answer.await?, user.as_ref()).await })
            }
            None => Box::pin(answer),
        }
    }
}

async fn of_subresource(
    endpoint: &Arc<Endpoint>,
    def: &SubresourceDef,
    verb: &str,
    call: ResourceRequest,
) -> Result<Response, Status> {
    let own_kind = def.kind.2 == endpoint.kind.kind && def.kind.0 == endpoint.kind.group;
    if own_kind {
        call.warn_deprecated(endpoint.kind);
    }
    match verb {
        "get" if def.scale.is_some() => verbs::scale::get(endpoint, call).await,
        "update" if own_kind || def.scale.is_some() => verbs::update::update(endpoint, call).await,
        "patch" if own_kind || def.scale.is_some() => verbs::patch::patch(endpoint, call).await,
        "get" if own_kind => verbs::get::get(endpoint, call).await,
        "create" => verbs::create::create_special(endpoint, call).await,
        _ => Err(Status::not_implemented(&format!("{verb} of {}/{}", endpoint.resource.plural, def.name))),
    }
}

impl Handler for ApiServer {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.route(request))
    }
}
