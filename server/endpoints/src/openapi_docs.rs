//! `/openapi/v2` and `/openapi/v3`: made at first use, served with an ETag in JSON or protobuf.
//!
//! Every group version is a v3 document of its own, whose hash is known before it is made, and which is made without the others. The v2 document is
//! made anew when it is asked for after something in it changed.

mod custom;
mod declared;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, StatusCode};
use openapi::Options;
use openapi::custom::CustomResource;
use serde_json::{Value, json};
use serving::{Body, Response};
use sha2::{Digest, Sha512};

use crate::discovery::RemoteDocument;
use crate::endpoint::Endpoint;
use crate::packed::Packed;
use custom::CustomDocument;
use declared::Declared;
pub use declared::Served;

const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const V3_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/// What older clients call the v2 protobuf form.
const V2_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const V3_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// A document in both forms, each packed: documents are large, and clients keep what they have once read.
struct Document {
    json: Packed,
    protobuf: OnceLock<Packed>,
}

impl Document {
    fn new(value: &Value) -> Self {
        Document { json: Packed::new(value.to_string().as_bytes()), protobuf: OnceLock::new() }
    }

    fn protobuf(&self, encode: fn(&Value) -> Vec<u8>) -> Vec<u8> {
        let make = || serde_json::from_slice(&self.json.bytes()).map(|v| encode(&v)).unwrap_or_default();
        self.protobuf.get_or_init(|| Packed::new(&make())).bytes()
    }
}

/// A document that is made when it is first asked for, and known by a hash of what it is made from before.
struct Lazy {
    hash: String,
    document: OnceLock<Document>,
}

impl Lazy {
    fn new(sources: &str) -> Self {
        Lazy { hash: hash(sources.as_bytes()), document: OnceLock::new() }
    }

    fn get(&self, make: impl FnOnce() -> Value) -> &Document {
        self.document.get_or_init(|| Document::new(&make()))
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|b| format!("{b:02X}")).collect()
}

/// The OpenAPI documents of what is served.
pub struct OpenApi {
    declared: Declared,
    options: Options,
    /// Of declared resources, by path below `/openapi/v3/`.
    v3: BTreeMap<String, Lazy>,
    /// Of custom resources.
    custom: RwLock<CustomDocuments>,
    /// A hash of what declared resources are documented from.
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

/// By path below `/openapi/v3/`.
type CustomDocuments = BTreeMap<String, Arc<CustomDocument>>;

impl OpenApi {
    /// The documents of what is served, from the generator's bundles.
    pub fn new(bundles: &'static [&'static [u8]], options: Options, served: Served) -> Self {
        let declared = Declared::new(bundles, served);
        // Each document's hash takes this in: it is long, and there are many.
        let sources = hash(format!("{options:?}{}", declared.sources()).as_bytes());
        let paths = declared.outline().v3_paths(&options).into_iter();
        let v3 = paths.map(|path| (path.clone(), Lazy::new(&format!("{path} {sources}")))).collect();
        let v2 = Mutex::new(Arc::new(Lazy::new("")));
        OpenApi { declared, options, v3, custom: RwLock::default(), sources, v2 }
    }

    /// Makes these all custom resources of a group version; none take its document away.
    pub(crate) fn set_custom(&self, group: &str, version: &str, served: Vec<Arc<Endpoint>>) {
        let document = (!served.is_empty()).then(|| Arc::new(CustomDocument::new(&self.options, served)));
        let mut custom = self.custom.write().unwrap_or_else(PoisonError::into_inner);
        match document {
            Some(document) => drop(custom.insert(format!("apis/{group}/{version}"), document)),
            None => drop(custom.remove(&format!("apis/{group}/{version}"))),
        }
    }

    /// Answers a path below `/openapi/`, if there is such a document.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        path: &str,
        headers: &HeaderMap,
        remote: RemoteOpenApi,
    ) -> Option<Response> {
        match path {
            "/openapi/v2" => Some(self.v2(headers, remote.v2).await),
            "/openapi/v3" | "/openapi/v3/" => Some(self.v3_index(headers, remote.v3)),
            _ => path.strip_prefix("/openapi/v3/").map(|name| self.v3_document(name, headers)),
        }
    }

    /// The v2 document takes long to make where there are many custom resources: it is made beside what else the server does.
    async fn v2(self: &Arc<Self>, headers: &HeaderMap, remote: Vec<Arc<RemoteDocument>>) -> Response {
        let (this, headers) = (self.clone(), headers.clone());
        let answer = tokio::task::spawn_blocking(move || {
            let custom: Vec<_> = this.custom().values().cloned().collect();
            let latest = this.latest_v2(&custom, &remote);
            let make = || this.make_v2(&custom, &remote);
            respond(&latest, make, &headers, (V2_PROTOBUF, V2_PROTOBUF_OLD), openapi::protobuf::v2)
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

    fn v3_index(&self, headers: &HeaderMap, remote: BTreeMap<String, String>) -> Response {
        let url = |path: &String, hash: &str| (path.clone(), format!("/openapi/v3/{path}?hash={hash}"));
        let mut urls: BTreeMap<String, String> = self.custom().iter().map(|(path, d)| url(path, d.hash())).collect();
        urls.extend(self.v3.iter().map(|(path, document)| url(path, &document.hash)));
        urls.extend(remote);
        let paths: serde_json::Map<String, Value> =
            urls.into_iter().map(|(path, url)| (path, json!({ "serverRelativeURL": url }))).collect();
        let index = json!({ "paths": paths });
        let mut response = respond(&Lazy::new(&index.to_string()), || index, headers, ("", ""), |_| Vec::new());
        response.headers_mut().remove(VARY);
        if response.status() == StatusCode::OK {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        response
    }

    fn v3_document(&self, name: &str, headers: &HeaderMap) -> Response {
        let (declared, options, form) = (&self.declared, &self.options, (V3_PROTOBUF, V3_PROTOBUF_OLD));
        if let Some(document) = self.v3.get(name) {
            let make = || declared.catalog().v3_of(options, name).unwrap_or_default();
            return respond(document, make, headers, form, openapi::protobuf::v3);
        }
        let custom = self.custom().get(name).cloned();
        match custom {
            Some(custom) => {
                let make = || custom.make(&declared.catalog(), options);
                respond(custom.document(), make, headers, form, openapi::protobuf::v3)
            }
            None => empty(StatusCode::NOT_FOUND),
        }
    }
}

fn empty(code: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

/// JSON or protobuf by the Accept header, 304 by the ETag, 406 otherwise.
fn respond(
    document: &Lazy,
    make: impl FnOnce() -> Value,
    headers: &HeaderMap,
    protobuf: (&'static str, &'static str),
    encode: fn(&Value) -> Vec<u8>,
) -> Response {
    let etag = format!("\"{}\"", document.hash);
    let same = |value: &HeaderValue| {
        value.to_str().is_ok_and(|v| v.split(',').any(|t| t.trim().trim_start_matches("W/") == etag))
    };
    if headers.get_all(IF_NONE_MATCH).iter().any(same) {
        let mut response = empty(StatusCode::NOT_MODIFIED);
        insert(&mut response, ETAG, &etag);
        return response;
    }
    let accept = headers.get(ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("*/*");
    let mut wanted = accept.split(',').map(|part| part.split(';').next().unwrap_or("").trim());
    let media_type = wanted.find_map(|media_type| match media_type {
        "*/*" | "application/*" | "application/json" | "" => Some("application/json"),
        m if m == protobuf.0 || m == protobuf.1 => Some(protobuf.0),
        _ => None,
    });
    let Some(media_type) = media_type else { return empty(StatusCode::NOT_ACCEPTABLE) };
    let made = document.get(make);
    let body = if media_type == protobuf.0 { made.protobuf(encode) } else { made.json.bytes() };
    let mut response = Response::new(Body::full(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response.headers_mut().remove(EXPIRES);
    insert(&mut response, ETAG, &etag);
    response
}

fn insert(response: &mut Response, name: http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// What the documents say of this server.
pub fn options(version: &str) -> Options {
    Options { version: version.into(), service_account_issuer: true, logs: false }
}
