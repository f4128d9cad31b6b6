//! `/openapi/v2` and `/openapi/v3`: made at first use, served with an ETag in JSON or protobuf.
//!
//! Of custom resources every group version is a document of its own, whose hash is known before it is made. The v2 document is made anew when it
//! is asked for after something in it changed.

mod custom;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use flate2::read::GzDecoder;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, StatusCode};
use openapi::Options;
use openapi::custom::CustomResource;
use serde_json::{Value, json};
use serving::{Body, Response};
use sha2::{Digest, Sha512};

use crate::discovery::RemoteDocument;
use crate::endpoint::Endpoint;
use custom::CustomDocument;

const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const V3_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
/// What older clients call the v2 protobuf form.
const V2_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const V3_PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";

/// A document in both forms.
struct Document {
    json: Vec<u8>,
    protobuf: OnceLock<Vec<u8>>,
    hash: String,
}

impl Document {
    fn new(value: &Value) -> Self {
        let json = value.to_string().into_bytes();
        let hash = hash(&json);
        Document { json, protobuf: OnceLock::new(), hash }
    }

    fn protobuf(&self, encode: fn(&Value) -> Vec<u8>) -> &[u8] {
        self.protobuf.get_or_init(|| serde_json::from_slice(&self.json).map(|v| encode(&v)).unwrap_or_default())
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|b| format!("{b:02X}")).collect()
}

/// The OpenAPI documents of what is served.
pub struct OpenApi {
    catalog: openapi::Catalog,
    options: Options,
    /// Of declared resources.
    v3: OnceLock<BTreeMap<String, Document>>,
    /// Of custom resources.
    custom: RwLock<CustomDocuments>,
    /// The last v2 document, and what it was made from.
    v2: Mutex<Option<(Sources, Arc<Document>)>>,
}

/// OpenAPI documents of aggregated servers.
#[derive(Default)]
pub(crate) struct RemoteOpenApi {
    /// Path below `/openapi/v3/`, and URL with hash.
    pub v3: BTreeMap<String, String>,
    /// The v2 document of each server.
    pub v2: Vec<Arc<RemoteDocument>>,
}

/// Hashes of all that a v2 document is made from and that may change.
type Sources = Vec<String>;

/// By path below `/openapi/v3/`.
type CustomDocuments = BTreeMap<String, Arc<CustomDocument>>;

impl OpenApi {
    /// Reads the generator's bundle and keeps what `served` (group, version, plural) says.
    ///
    /// # Errors
    /// When the bundle cannot be read.
    pub fn new(bundle: &[u8], options: Options, served: &dyn Fn(&str, &str, &str) -> bool) -> Result<Self, String> {
        let mut text = Vec::new();
        GzDecoder::new(bundle)
            .read_to_end(&mut text)
            .map_err(|e| format!("the OpenAPI bundle cannot be unpacked: {e}"))?;
        let mut catalog: openapi::Catalog =
            serde_json::from_slice(&text).map_err(|e| format!("the OpenAPI bundle cannot be read: {e}"))?;
        catalog.retain(|version, resource| served(&version.group, &version.version, &resource.plural));
        Ok(OpenApi { catalog, options, v3: OnceLock::new(), custom: RwLock::default(), v2: Mutex::default() })
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
        let this = self.clone();
        match tokio::task::spawn_blocking(move || this.latest_v2(&remote)).await {
            Ok(document) => respond(&document, headers, (V2_PROTOBUF, V2_PROTOBUF_OLD), openapi::protobuf::v2),
            Err(_) => empty(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    fn latest_v2(&self, remote: &[Arc<RemoteDocument>]) -> Arc<Document> {
        let custom: Vec<_> = self.custom().values().cloned().collect();
        let hashes = custom.iter().map(|document| &document.hash).chain(remote.iter().map(|document| &document.hash));
        let sources: Sources = hashes.cloned().collect();
        let mut last = self.v2.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, document)) if *known == sources => document.clone(),
            _ => {
                let document = self.make_v2(&custom, remote);
                *last = Some((sources, document.clone()));
                document
            }
        }
    }

    fn make_v2(&self, custom: &[Arc<CustomDocument>], remote: &[Arc<RemoteDocument>]) -> Arc<Document> {
        let mut document = self.catalog.v2(&self.options);
        let resources: Vec<CustomResource> = custom.iter().flat_map(|document| document.resources()).collect();
        if !resources.is_empty() {
            openapi::merge_v2(&mut document, self.catalog.custom_v2(&self.options, &resources), "/");
        }
        for other in remote.iter().filter_map(|remote| serde_json::from_slice(&remote.text).ok()) {
            openapi::merge_v2(&mut document, other, "/apis/");
        }
        Arc::new(Document::new(&document))
    }

    fn custom(&self) -> RwLockReadGuard<'_, CustomDocuments> {
        self.custom.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn v3_documents(&self) -> &BTreeMap<String, Document> {
        self.v3.get_or_init(|| {
            self.catalog.v3(&self.options).into_iter().map(|(path, value)| (path, Document::new(&value))).collect()
        })
    }

    fn v3_index(&self, headers: &HeaderMap, remote: BTreeMap<String, String>) -> Response {
        let url = |path: &String, hash: &str| (path.clone(), format!("/openapi/v3/{path}?hash={hash}"));
        let custom = self.custom();
        let mut urls: BTreeMap<String, String> = custom.iter().map(|(path, d)| url(path, &d.hash)).collect();
        urls.extend(self.v3_documents().iter().map(|(path, d)| url(path, &d.hash)));
        urls.extend(remote);
        let paths: serde_json::Map<String, Value> =
            urls.into_iter().map(|(path, url)| (path, json!({ "serverRelativeURL": url }))).collect();
        let index = Document::new(&json!({ "paths": paths }));
        let mut response = respond(&index, headers, ("", ""), |_| Vec::new());
        if response.status() == StatusCode::OK {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        response
    }

    fn v3_document(&self, name: &str, headers: &HeaderMap) -> Response {
        let respond =
            |document: &Document| respond(document, headers, (V3_PROTOBUF, V3_PROTOBUF_OLD), openapi::protobuf::v3);
        if let Some(document) = self.v3_documents().get(name) {
            return respond(document);
        }
        let custom = self.custom().get(name).cloned();
        match custom {
            Some(custom) => respond(custom.document(&self.catalog, &self.options)),
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
    document: &Document,
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
    let wanted = accept.split(',').map(|part| part.split(';').next().unwrap_or("").trim());
    let mut response = None;
    for media_type in wanted {
        response = match media_type {
            "*/*" | "application/*" | "application/json" | "" => Some(("application/json", document.json.clone())),
            m if !m.is_empty() && (m == protobuf.0 || m == protobuf.1) => {
                Some((protobuf.0, document.protobuf(encode).to_vec()))
            }
            _ => None,
        };
        if response.is_some() {
            break;
        }
    }
    let Some((media_type, body)) = response else { return empty(StatusCode::NOT_ACCEPTABLE) };
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
