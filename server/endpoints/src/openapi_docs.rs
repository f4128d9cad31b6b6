//! `/openapi/v2` and `/openapi/v3`: built on first use, served with an ETag in JSON or protobuf.
//!
//! Every group version has its own v3 document. Its hash is known before it is built, and it is
//! built without the others. The v2 document is rebuilt on the first request after a change.

mod content;
mod custom;
mod declared;
mod lazy;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use http::StatusCode;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, LOCATION, VARY};
use openapi::OpenApiOptions;
use openapi::custom::CustomResource;
use request::Response;
use request::negotiation::{Clause, parse_accept};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::discovery::RemoteDocument;
use crate::endpoint::Endpoint;
pub(crate) use content::DocumentRequest;
use content::{empty, insert};
use custom::CustomDocument;
use declared::DeclaredDocuments;
pub use declared::Served;
use lazy::{Lazy, hash};

const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const V3_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/// The media types of the protobuf forms in older clients.
const V2_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const V3_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// The OpenAPI documents of the served resources.
pub struct OpenApi {
    declared: DeclaredDocuments,
    options: OpenApiOptions,
    /// Documents of declared resources, by path below `/openapi/v3/`.
    v3: BTreeMap<String, Lazy>,
    /// Documents of custom resources.
    custom: RwLock<CustomDocuments>,
    /// A hash of the sources of declared resources.
    sources: String,
    /// The last v2 document.
    v2: Mutex<Arc<Lazy>>,
}

/// OpenAPI documents of aggregated servers.
#[derive(Default)]
pub(crate) struct RemoteOpenApi {
    /// Path below `/openapi/v3/`, and URL with hash.
    pub v3: BTreeMap<String, String>,
    /// The v2 document of each server.
    pub v2: Vec<Arc<RemoteDocument>>,
}

/// Documents by path below `/openapi/v3/`.
type CustomDocuments = BTreeMap<String, Arc<CustomDocument>>;

impl OpenApi {
    /// Creates the documents of the served resources, from the generated bundles.
    pub fn new(bundles: &'static [&'static [u8]], options: OpenApiOptions, served: Served) -> Self {
        let declared = DeclaredDocuments::new(bundles, served);
        // Hashed once, because it is long and part of the hash of each document.
        let sources = hash(format!("{options:?}{}", declared.sources()).as_bytes());
        let paths = declared.outline().v3_paths(&options).into_iter();
        let v3 = paths.map(|path| (path.clone(), Lazy::new(&format!("{path} {sources}")))).collect();
        let v2 = Mutex::new(Arc::new(Lazy::new("")));
        OpenApi { declared, options, v3, custom: RwLock::default(), sources, v2 }
    }

    /// Sets the custom resources of a group version. An empty list removes its document.
    pub(crate) fn set_custom(&self, group: &str, version: &str, served: Vec<Arc<Endpoint>>) {
        let document = (!served.is_empty()).then(|| Arc::new(CustomDocument::new(&self.options, served)));
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        match document {
            Some(document) => drop(custom.insert(format!("apis/{group}/{version}"), document)),
            None => drop(custom.remove(&format!("apis/{group}/{version}"))),
        }
    }

    /// Responds to a path below `/openapi/`, if the document exists.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        path: &str,
        requested: DocumentRequest,
        remote: RemoteOpenApi,
    ) -> Option<Response> {
        match path {
            "/openapi/v2" => Some(self.v2(requested, remote.v2).await),
            "/openapi/v3" | "/openapi/v3/" => Some(self.v3_index(&requested, remote.v3)),
            _ => path.strip_prefix("/openapi/v3/").map(|name| self.v3_document(name, &requested)),
        }
    }

    /// Serves the v2 document. With many custom resources it takes long to build, so it is built on
    /// a blocking thread.
    async fn v2(self: &Arc<Self>, requested: DocumentRequest, remote: Vec<Arc<RemoteDocument>>) -> Response {
        let this = self.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let custom: Vec<_> = this.custom().values().cloned().collect();
            let latest = this.latest_v2(&custom, &remote);
            let make = || this.make_v2(&custom, &remote);
            let mut response =
                respond(&latest, make, &requested, (V2_PROTOBUF, V2_PROTOBUF_OLD), openapi::protobuf::v2);
            insert(&mut response, VARY, "Accept-Encoding, Accept");
            response
        });
        answer.await.unwrap_or_else(|_| empty(StatusCode::INTERNAL_SERVER_ERROR))
    }

    fn latest_v2(&self, custom: &[Arc<CustomDocument>], remote: &[Arc<RemoteDocument>]) -> Arc<Lazy> {
        let hashes = custom.iter().map(|document| document.hash()).chain(remote.iter().map(|r| r.hash.as_str()));
        let sources = hashes.fold(self.sources.clone(), |sources, hash| sources + "\n" + hash);
        let now = Lazy::new(&sources);
        let mut last = self.v2.lock().unwrap_or_else(PoisonError::into_inner);
        if last.hash != now.hash {
            *last = Arc::new(now);
        }
        last.clone()
    }

    fn make_v2(&self, custom: &[Arc<CustomDocument>], remote: &[Arc<RemoteDocument>]) -> Value {
        let catalog = self.declared.catalog();
        let mut document = catalog.v2(&self.options);
        let resources: Vec<CustomResource> = custom.iter().flat_map(|document| document.resources()).collect();
        if !resources.is_empty() {
            openapi::merge_v2(&mut document, catalog.custom_v2(&self.options, &resources), "/");
        }
        for other in remote.iter().filter_map(|remote| serde_json::from_slice(&remote.text).ok()) {
            openapi::merge_v2(&mut document, other, "/apis/");
        }
        document
    }

    fn custom(&self) -> RwLockReadGuard<'_, CustomDocuments> {
        self.custom.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn v3_index(&self, requested: &DocumentRequest, remote: BTreeMap<String, String>) -> Response {
        let url = |path: &String, hash: &str| (path.clone(), format!("/openapi/v3/{path}?hash={hash}"));
        let mut urls: BTreeMap<String, String> = self.custom().iter().map(|(path, d)| url(path, d.hash())).collect();
        urls.extend(self.v3.iter().map(|(path, document)| url(path, &document.hash)));
        urls.extend(remote);
        let paths: serde_json::Map<String, Value> =
            urls.into_iter().map(|(path, url)| (path, json!({ "serverRelativeURL": url }))).collect();
        // JSON for any Accept header, with a text media type: net/http sniffs the type from the
        // first bytes.
        let index = json!({ "paths": paths }).to_string();
        content::serve(requested, &etag(&hash(index.as_bytes())), "text/plain; charset=utf-8", || index.into_bytes())
    }

    fn v3_document(&self, name: &str, requested: &DocumentRequest) -> Response {
        let (declared, options, form) = (&self.declared, &self.options, (V3_PROTOBUF, V3_PROTOBUF_OLD));
        let custom = self.custom().get(name).cloned();
        let (mut response, hash) = match (self.v3.get(name), &custom) {
            (Some(document), _) => {
                let make = || declared.catalog().v3_of(options, name).unwrap_or_default();
                (respond(document, make, requested, form, openapi::protobuf::v3), &document.hash)
            }
            (None, Some(custom)) => {
                let make = || custom.make(&declared.catalog(), options);
                (respond(custom.document(), make, requested, form, openapi::protobuf::v3), &custom.document().hash)
            }
            (None, None) => return empty(StatusCode::NOT_FOUND),
        };
        // Upstream sends an empty response to a header without a media range.
        let has_no_range =
            requested.headers.get(ACCEPT).is_some_and(|accept| !accept.is_empty() && ranges(accept).is_empty());
        if has_no_range {
            return empty(StatusCode::OK);
        }
        insert(&mut response, VARY, "Accept");
        let is_found = response.status() != StatusCode::NOT_ACCEPTABLE;
        if is_found && !requested.hash.is_empty() {
            set_hash_headers(&mut response, name, hash, &requested.hash);
        }
        response
    }
}

/// Sets headers of a document that was requested by hash. A matching hash can be cached
/// permanently; another hash redirects to the current one (kube-openapi: `HandleGroupVersion`).
fn set_hash_headers(response: &mut Response, name: &str, hash: &str, requested: &str) {
    if requested == hash {
        insert(response, CACHE_CONTROL, "public, immutable");
        insert(response, EXPIRES, &rfc1123(OffsetDateTime::now_utc() + Duration::days(365)));
        return;
    }
    let content_type = response.headers().get(CONTENT_TYPE).cloned();
    let mut moved = empty(StatusCode::MOVED_PERMANENTLY);
    moved.headers_mut().extend(content_type.map(|value| (CONTENT_TYPE, value)));
    insert(&mut moved, ETAG, &etag(hash));
    insert(&mut moved, VARY, "Accept");
    insert(&mut moved, LOCATION, &format!("/openapi/v3/{name}?hash={hash}"));
    *response = moved;
}

/// The media ranges of a header.
fn ranges(accept: &HeaderValue) -> Vec<Clause<'_>> {
    parse_accept(accept.to_str().unwrap_or_default())
}

/// Formats a time as upstream does (`time.RFC1123`).
fn rfc1123(time: OffsetDateTime) -> String {
    let (weekday, month, (hour, minute, second)) =
        (time.weekday().to_string(), time.month().to_string(), time.to_hms());
    let date = format!("{}, {:02} {} {}", &weekday[..3], time.day(), &month[..3], time.year());
    format!("{date} {hour:02}:{minute:02}:{second:02} UTC")
}

fn etag(hash: &str) -> String {
    format!("\"{hash}\"")
}

/// Responds in JSON or protobuf, depending on the Accept header; otherwise with 406.
fn respond(
    document: &Lazy,
    make: impl FnOnce() -> Value,
    requested: &DocumentRequest,
    protobuf: (&'static str, &'static str),
    encode: fn(&Value) -> Vec<u8>,
) -> Response {
    let clauses =
        requested.headers.get(ACCEPT).filter(|accept| !accept.is_empty()).map_or_else(|| parse_accept("*/*"), ranges);
    let json = "application/json";
    let form = |clause: &Clause<'_>| match () {
        () if clause.matches(json) => Some(json),
        () if clause.matches(protobuf.0) || clause.matches(protobuf.1) => Some(protobuf.0),
        () => None,
    };
    let Some(media_type) = clauses.iter().find_map(form) else { return empty(StatusCode::NOT_ACCEPTABLE) };
    let body = || {
        let made = document.get(make);
        if media_type == protobuf.0 { made.protobuf(encode) } else { made.json.bytes() }
    };
    let mut response = content::serve(requested, &etag(&document.hash), media_type, body);
    insert(&mut response, CACHE_CONTROL, "no-cache, private");
    response
}

/// The options of this server's documents.
pub fn options(version: &str) -> OpenApiOptions {
    OpenApiOptions { version: version.into(), service_account_issuer: true, logs: false }
}
