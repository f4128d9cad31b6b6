//! `/openapi/v2` and `/openapi/v3`: made at first use, served with an ETag in JSON or protobuf.
//!
//! Every group version is a v3 document of its own, whose hash is known before it is made, and which is made without the others. The v2 document is
//! made anew when it is asked for after something in it changed.

mod content;
mod custom;
mod declared;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use http::StatusCode;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, LOCATION, VARY};
use openapi::Options;
use openapi::custom::CustomResource;
use serde_json::{Value, json};
use serving::Response;
use serving::negotiation::{Clause, parse_accept};
use sha2::{Digest, Sha512};
use time::{Duration, OffsetDateTime};

use crate::compressed::Compressed;
use crate::discovery::RemoteDocument;
use crate::endpoint::Endpoint;
pub(crate) use content::Asked;
use content::{empty, insert};
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
    json: Compressed,
    protobuf: OnceLock<Compressed>,
}

impl Document {
    fn new(value: &Value) -> Self {
        Document { json: Compressed::new(value.to_string().as_bytes()), protobuf: OnceLock::new() }
    }

    fn protobuf(&self, encode: fn(&Value) -> Vec<u8>) -> Vec<u8> {
        let make = || serde_json::from_slice(&self.json.bytes()).map(|v| encode(&v)).unwrap_or_default();
        self.protobuf.get_or_init(|| Compressed::new(&make())).bytes()
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
    pub(crate) async fn answer(self: &Arc<Self>, path: &str, asked: Asked, remote: RemoteOpenApi) -> Option<Response> {
        match path {
            "/openapi/v2" => Some(self.v2(asked, remote.v2).await),
            "/openapi/v3" | "/openapi/v3/" => Some(self.v3_index(&asked, remote.v3)),
            _ => path.strip_prefix("/openapi/v3/").map(|name| self.v3_document(name, &asked)),
        }
    }

    /// The v2 document takes long to make where there are many custom resources: it is made beside what else the server does.
    async fn v2(self: &Arc<Self>, asked: Asked, remote: Vec<Arc<RemoteDocument>>) -> Response {
        let this = self.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let custom: Vec<_> = this.custom().values().cloned().collect();
            let latest = this.latest_v2(&custom, &remote);
            let make = || this.make_v2(&custom, &remote);
            let mut response = respond(&latest, make, &asked, (V2_PROTOBUF, V2_PROTOBUF_OLD), openapi::protobuf::v2);
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

    fn v3_index(&self, asked: &Asked, remote: BTreeMap<String, String>) -> Response {
        let url = |path: &String, hash: &str| (path.clone(), format!("/openapi/v3/{path}?hash={hash}"));
        let mut urls: BTreeMap<String, String> = self.custom().iter().map(|(path, d)| url(path, d.hash())).collect();
        urls.extend(self.v3.iter().map(|(path, document)| url(path, &document.hash)));
        urls.extend(remote);
        let paths: serde_json::Map<String, Value> =
            urls.into_iter().map(|(path, url)| (path, json!({ "serverRelativeURL": url }))).collect();
        // In JSON whatever the client accepts, and called text: net/http knows the type from the first bytes.
        let index = json!({ "paths": paths }).to_string();
        content::serve(asked, &etag(&hash(index.as_bytes())), "text/plain; charset=utf-8", || index.into_bytes())
    }

    fn v3_document(&self, name: &str, asked: &Asked) -> Response {
        let (declared, options, form) = (&self.declared, &self.options, (V3_PROTOBUF, V3_PROTOBUF_OLD));
        let custom = self.custom().get(name).cloned();
        let (mut response, hash) = match (self.v3.get(name), &custom) {
            (Some(document), _) => {
                let make = || declared.catalog().v3_of(options, name).unwrap_or_default();
                (respond(document, make, asked, form, openapi::protobuf::v3), &document.hash)
            }
            (None, Some(custom)) => {
                let make = || custom.make(&declared.catalog(), options);
                (respond(custom.document(), make, asked, form, openapi::protobuf::v3), &custom.document().hash)
            }
            (None, None) => return empty(StatusCode::NOT_FOUND),
        };
        // Upstream answers nothing to a header without a media range.
        let asks_nothing =
            asked.headers.get(ACCEPT).is_some_and(|accept| !accept.is_empty() && ranges(accept).is_empty());
        if asks_nothing {
            return empty(StatusCode::OK);
        }
        insert(&mut response, VARY, "Accept");
        let is_found = response.status() != StatusCode::NOT_ACCEPTABLE;
        if is_found && !asked.hash.is_empty() {
            answer_hash(&mut response, name, hash, &asked.hash);
        }
        response
    }
}

/// A document that is asked for by its hash can be kept for good; another hash leads to the one that there is
/// (kube-openapi: `HandleGroupVersion`).
fn answer_hash(response: &mut Response, name: &str, hash: &str, asked: &str) {
    if asked == hash {
        insert(response, CACHE_CONTROL, "public, immutable");
        insert(response, EXPIRES, &written(OffsetDateTime::now_utc() + Duration::days(365)));
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

/// A time as upstream writes it (`time.RFC1123`).
fn written(time: OffsetDateTime) -> String {
    let (weekday, month, (hour, minute, second)) =
        (time.weekday().to_string(), time.month().to_string(), time.to_hms());
    let date = format!("{}, {:02} {} {}", &weekday[..3], time.day(), &month[..3], time.year());
    format!("{date} {hour:02}:{minute:02}:{second:02} UTC")
}

fn etag(hash: &str) -> String {
    format!("\"{hash}\"")
}

/// JSON or protobuf by the Accept header, 406 otherwise.
fn respond(
    document: &Lazy,
    make: impl FnOnce() -> Value,
    asked: &Asked,
    protobuf: (&'static str, &'static str),
    encode: fn(&Value) -> Vec<u8>,
) -> Response {
    let clauses =
        asked.headers.get(ACCEPT).filter(|accept| !accept.is_empty()).map_or_else(|| parse_accept("*/*"), ranges);
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
    let mut response = content::serve(asked, &etag(&document.hash), media_type, body);
    insert(&mut response, CACHE_CONTROL, "no-cache, private");
    response
}

/// What the documents say of this server.
pub fn options(version: &str) -> Options {
    Options { version: version.into(), service_account_issuer: true, logs: false }
}
