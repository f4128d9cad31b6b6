//! `/openapi/v2` and `/openapi/v3`: made from the catalog at first use, served with an ETag in JSON or protobuf.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, StatusCode};
use openapi::Options;
use serde_json::{Value, json};
use serving::{Body, Response};
use sha2::{Digest, Sha512};

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
        let hash = Sha512::digest(&json).iter().map(|b| format!("{b:02X}")).collect();
        Document { json, protobuf: OnceLock::new(), hash }
    }

    fn protobuf(&self, encode: fn(&Value) -> Vec<u8>) -> &[u8] {
        self.protobuf.get_or_init(|| serde_json::from_slice(&self.json).map(|v| encode(&v)).unwrap_or_default())
    }
}

/// The OpenAPI documents of what is served.
pub struct OpenApi {
    catalog: openapi::Catalog,
    options: Options,
    v2: OnceLock<Document>,
    v3: OnceLock<BTreeMap<String, Document>>,
}

impl OpenApi {
    /// Reads the generator's bundle and keeps what `served` (group, version, plural) says.
    pub fn new(bundle: &[u8], options: Options, served: &dyn Fn(&str, &str, &str) -> bool) -> Result<Self, String> {
        let mut text = Vec::new();
        GzDecoder::new(bundle)
            .read_to_end(&mut text)
            .map_err(|e| format!("the OpenAPI bundle cannot be unpacked: {e}"))?;
        let mut catalog: openapi::Catalog =
            serde_json::from_slice(&text).map_err(|e| format!("the OpenAPI bundle cannot be read: {e}"))?;
        catalog.retain(|version, resource| served(&version.group, &version.version, &resource.plural));
        Ok(OpenApi { catalog, options, v2: OnceLock::new(), v3: OnceLock::new() })
    }

    /// Answers a path below `/openapi/`, if there is such a document. `remote` are those of aggregated servers: path below `/openapi/v3/`,
    /// and URL with hash.
    pub fn answer(&self, path: &str, headers: &HeaderMap, remote: BTreeMap<String, String>) -> Option<Response> {
        match path {
            "/openapi/v2" => Some(self.v2(headers)),
            "/openapi/v3" | "/openapi/v3/" => Some(self.v3_index(headers, remote)),
            _ => path.strip_prefix("/openapi/v3/").map(|name| self.v3_document(name, headers)),
        }
    }

    fn v2(&self, headers: &HeaderMap) -> Response {
        let document = self.v2.get_or_init(|| Document::new(&self.catalog.v2(&self.options)));
        respond(document, headers, (V2_PROTOBUF, V2_PROTOBUF_OLD), openapi::protobuf::v2)
    }

    fn v3_documents(&self) -> &BTreeMap<String, Document> {
        self.v3.get_or_init(|| {
            self.catalog.v3(&self.options).into_iter().map(|(path, value)| (path, Document::new(&value))).collect()
        })
    }

    fn v3_index(&self, headers: &HeaderMap, remote: BTreeMap<String, String>) -> Response {
        let own =
            self.v3_documents().iter().map(|(path, d)| (path.clone(), format!("/openapi/v3/{path}?hash={}", d.hash)));
        let mut urls: BTreeMap<String, String> = own.collect();
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
        match self.v3_documents().get(name) {
            Some(document) => respond(document, headers, (V3_PROTOBUF, V3_PROTOBUF_OLD), openapi::protobuf::v3),
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
