//! An API server: routes requests to endpoints and documents, and what it does not know to the next server of the chain.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{Method, StatusCode};
use machinery::catalog::{Catalog, SubresourceDef};
use machinery::features;
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::Value;
use serving::audit::{AuditContext, Level};
use serving::respond::wants_pretty;
use serving::warnings::Warnings;
use serving::work::memory::Held;
use serving::work::{self, Work};
use serving::{Body, BoxFuture, Handler, Query, Request, RequestExt, RequestInfo, Response, User};

use crate::answer::{self, respond as send};
use crate::audit;
use crate::discovery::{Aggregated, Discovery, GroupVersions};
use crate::endpoint::Endpoint;
use crate::gzip;
use crate::media::{Encoding, Forms, Spoken};
use crate::openapi_docs::{Asked, OpenApi};
use crate::patching::PatchType;
use crate::route_table::{self, Route, Target};
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
        // Upstream answers requests of any method as reads.
        if let Some(openapi) = self.openapi.as_ref().filter(|_| self.root && info.path.starts_with("/openapi/")) {
            let remote = self.discovery.remote_openapi();
            let (method, headers) = (request.method().clone(), request.headers().clone());
            let asked = Asked { method, headers, hash: info.query.text("hash").to_string() };
            return match openapi.answer(&info.path, asked, remote).await {
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
        // The handlers of `/apis` and of groups answer requests of any method as reads (`apisHandler`, `apiGroupHandler`).
        let answers_any_method = parts[0] == "apis" && parts.len() < 3;
        if request.method() != Method::GET && !answers_any_method {
            return Some(refuse(request, &Status::method_not_allowed()));
        }
        Some(self.negotiated(request, document, aggregated, !self.open && !answers_any_method))
    }

    fn serves(&self, group: &str, version: Option<&str>) -> bool {
        self.routes().serves(group, version)
    }

    /// A discovery document in the encoding asked for; all groups at once where the client prefers that. Go-restful looks
    /// first at what its routes produce.
    fn negotiated(&self, request: &Request, document: Value, core: Option<bool>, is_route: bool) -> Response {
        let accept = request.headers().get(ACCEPT).and_then(|v| v.to_str().ok());
        if let Some(core) = core
            && let Some((encoding, alone)) = wants_aggregated(accept)
        {
            return aggregated_response(request, &self.discovery.aggregated(core, alone), encoding);
        }
        let pretty = wants_pretty(request.query(), request.headers());
        let sent = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let routed = if is_route { Spoken::BY_DEFAULT.check_document(sent, accept) } else { Ok(()) };
        match routed.and_then(|()| Spoken::BY_DEFAULT.accept_object(accept, pretty, Forms::Object)) {
            Ok(accepted) => {
                encode_document(&document, accepted.encoding, accepted.pretty).unwrap_or_else(|s| refuse(request, &s))
            }
            Err(status) => refuse(request, &status),
        }
    }
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
        Err(status) => return answer::failure(&status, Encoding::Json, false),
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
    // Those of the legacy group say no version, in protobuf neither.
    let kind = (said("apiVersion", ""), said("kind", ""));
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
    let pretty = wants_pretty(request.query(), request.headers());
    failure(request.headers().get(ACCEPT), Spoken::BY_DEFAULT, pretty, status)
}

/// A failure in the encoding that these headers ask for.
pub fn respond(headers: &http::HeaderMap, spoken: Spoken, status: &Status) -> Response {
    failure(headers.get(ACCEPT), spoken, wants_pretty(&Query::default(), headers), status)
}

fn failure(accept: Option<&HeaderValue>, spoken: Spoken, pretty: bool, status: &Status) -> Response {
    let accept = accept.and_then(|value| value.to_str().ok());
    match spoken.accept_object(accept, false, Forms::Object) {
        Ok(accepted) => answer::failure(status, accepted.encoding, pretty),
        // A failure has none of the forms that the header names: as upstream, it is indented JSON then.
        Err(_) => answer::failure(status, Encoding::Json, true),
    }
}

/// Answers a request for a resource.
async fn resource(endpoint: Arc<Endpoint>, info: Arc<RequestInfo>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).cloned();
    let pretty = wants_pretty(&info.query, &parts.headers);
    let spoken = Spoken::of(&endpoint.features, endpoint.open.is_some());
    let is_collection = info.verb_in_path || (info.depth == 1 && parts.method == Method::GET);
    let route = route_table::find(&endpoint, &info, &parts.method);
    let counted = route.as_ref().ok().map(|route| route_table::routed(&endpoint, route));
    let route = route.and_then(|route| {
        match &route {
            Route::Verb(..) => routed(&endpoint, &parts, spoken, is_collection)?,
            Route::Connect(handler) => {
                if let Some(media_type) = handler.produces() {
                    spoken.check_route_of(accept.as_ref().and_then(|value| value.to_str().ok()), media_type)?;
                }
                route_table::check_names(&endpoint, &info)?;
            }
        }
        Ok(route)
    });
    let answer = match route {
        Ok(Route::Connect(handler)) => {
            let call = call(&parts.extensions, info, spoken, parts.headers.clone(), Body::empty());
            verbs::connect::connect(&endpoint, &*handler, call, Request::from_parts(parts, body)).await
        }
        Ok(Route::Verb(target, verb)) => {
            let call = call(&parts.extensions, info, spoken, parts.headers, body);
            answered(endpoint, target, verb, call).await
        }
        Err(status) => Err(status),
    };
    let mut response = match answer {
        Ok(response) => response,
        Err(status) => {
            let mut response = failure(accept.as_ref(), spoken, pretty, &status);
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

/// What go-restful looks at before any handler: the media type of a patch, then that of the answer. Upstream has no routes
/// of go-restful for custom resources.
fn routed(
    endpoint: &Endpoint,
    parts: &http::request::Parts,
    spoken: Spoken,
    is_collection: bool,
) -> Result<(), Status> {
    if endpoint.open.is_some() {
        return Ok(());
    }
    let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
    if parts.method == Method::PATCH {
        PatchType::parse(endpoint, spoken, header(CONTENT_TYPE))?;
    }
    spoken.check_route(header(ACCEPT), is_collection)
}

fn call(
    extensions: &http::Extensions,
    info: Arc<RequestInfo>,
    spoken: Spoken,
    headers: http::HeaderMap,
    body: Body,
) -> Call {
    let user = extensions.user().cloned().unwrap_or_else(|| Arc::new(serving::User::anonymous()));
    Call {
        info,
        held: Held::default(),
        user,
        headers,
        body,
        warnings: extensions.get::<Warnings>().cloned().unwrap_or_default(),
        spoken,
        trail: extensions.trail(),
        watched: extensions.get().cloned(),
        detach: extensions.get().cloned(),
        seat: extensions.get().cloned(),
    }
}

/// Answers up to this many bytes that are there as a whole are not counted.
const LARGE_ANSWER: usize = 256 << 10;

/// Counts a large answer that is there as a whole until its client has read it.
///
/// # Errors
/// When there is no memory for it. The answer to a write is sent all the same: the write is done.
fn hold_large(response: Response, user: &Arc<User>, is_write: bool) -> Result<Response, Status> {
    let mut held = Held::default();
    let length = response.body().known().map_or(0, Bytes::len);
    if length <= LARGE_ANSWER {
        return Ok(response);
    }
    match held.add(user, length as u64) {
        Err(exceeded) if !is_write => Err(exceeded.into()),
        _ => Ok(response.map(|body| body.hold_until_sent(held))),
    }
}

/// Has the verb answer, records and compresses the answer. Streams of events stay as they are.
async fn answered(endpoint: Arc<Endpoint>, target: Target, verb: &'static str, call: Call) -> Result<Response, Status> {
    let compresses = gzip::is_accepted(&call.headers) && endpoint.features.enabled(features::APIResponseCompression);
    let (is_stream, is_write) = (call.info.verb == "watch", !call.info.is_read_only());
    let work = Work { user: call.user.clone(), seat: call.seat.clone() };
    let answer = work::run(&work, dispatch(endpoint, target, verb, call)).await;
    match answer.and_then(|response| hold_large(response, &work.user, is_write)) {
        Ok(response) if compresses && !is_stream => Ok(gzip::compress(response, &work.user)),
        answer => answer,
    }
}

type Answer = BoxFuture<'static, Result<Response, Status>>;

fn dispatch(endpoint: Arc<Endpoint>, target: Target, verb: &'static str, call: Call) -> Answer {
    if let Some(open) = &endpoint.open {
        call.warn(open.warnings());
    }
    if matches!(target, Target::Resource) {
        call.warn_deprecated(endpoint.kind);
    }
    if let Err(status) = route_table::check_names(&endpoint, &call.info) {
        return Box::pin(std::future::ready(Err(status)));
    }
    match target {
        Target::Resource => of_resource(endpoint, verb, call),
        Target::Subresource(def) => {
            let audited = Audited::of(&endpoint, &call);
            audited.answer(async move { of_subresource(&endpoint, def, verb, call).await })
        }
    }
}

/// Each verb has a future of its own: the largest is several times as large as that of a read.
fn of_resource(endpoint: Arc<Endpoint>, verb: &str, call: Call) -> Answer {
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
        // Streams of events are not recorded.
        "watch" => Box::pin(verbs::watch::watch(endpoint, call)),
        "update" => audited.answer(async move { verbs::update::update(&endpoint, call).await }),
        "patch" => audited.answer(async move { verbs::patch::patch(&endpoint, call).await }),
        "delete" => audited.answer(async move { verbs::delete::delete(&endpoint, call).await }),
        "deletecollection" => audited.answer(async move { verbs::delete::delete_collection(&endpoint, call).await }),
        _ => Box::pin(ready(Err(Status::method_not_allowed()))),
    }
}

/// What records an answer.
struct Audited {
    catalog: &'static Catalog,
    /// None where the audit policy wants no answers of the request.
    trail: Option<AuditContext>,
    /// The user whom the bytes of the answer of a read are counted for; a write that is done is recorded in any case.
    user: Option<Arc<User>>,
}

impl Audited {
    fn of(endpoint: &Endpoint, call: &Call) -> Self {
        let wants_answer = call.trail.reaches(Level::RequestResponse);
        let user = (wants_answer && call.info.is_read_only()).then(|| call.user.clone());
        Audited { catalog: endpoint.catalog, trail: wants_answer.then(|| call.trail.clone()), user }
    }

    /// The answer, once it has been recorded.
    fn answer(self, answer: impl Future<Output = Result<Response, Status>> + Send + 'static) -> Answer {
        let Audited { catalog, trail, user } = self;
        match trail {
            Some(trail) => {
                Box::pin(async move { audit::answered(&trail, catalog, answer.await?, user.as_ref()).await })
            }
            None => Box::pin(answer),
        }
    }
}

async fn of_subresource(
    endpoint: &Arc<Endpoint>,
    def: &SubresourceDef,
    verb: &str,
    call: Call,
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
