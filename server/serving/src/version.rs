//! Which Kubernetes this is (`/version`).

use http::header;
use machinery::status::Status;
use serde_json::{Value, json};

use crate::handler::{BoxFuture, Handler, Request, Response};
use crate::respond;

/// The release whose API is served.
pub const GIT_VERSION: &str = "v1.36.2";
pub const MAJOR: &str = "1";
pub const MINOR: &str = "36";

/// Answers `/version` (upstream: `routes.Version`).
pub struct VersionHandler {
    document: Vec<u8>,
}

impl Default for VersionHandler {
    fn default() -> Self {
        VersionHandler { document: document() }
    }
}

/// The document, indented as upstream indents it.
fn document() -> Vec<u8> {
    format!("{:#}", info()).into_bytes()
}

/// What there is to know of this program. Nothing here is written in Go, so `goVersion` names no release of it.
pub(crate) fn info() -> Value {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    json!({
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": "35",
        "gitVersion": GIT_VERSION,
        "gitCommit": option_env!("GIT_COMMIT").unwrap_or(""),
        "gitTreeState": "",
        "buildDate": option_env!("BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{architecture}", std::env::consts::OS),
    })
}

/// Whether an Accept header leaves room for JSON.
fn accepts_json(request: &Request) -> bool {
    let Some(accept) = request.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()) else { return true };
    let types = accept.split(',').map(|clause| clause.split(';').next().unwrap_or("").trim());
    types.into_iter().any(|media| matches!(media, "" | "*/*" | "application/*" | "application/json"))
}

impl Handler for VersionHandler {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if request.method() != http::Method::GET {
            let refused = respond::failure(&request, &Status::method_not_allowed());
            return Box::pin(std::future::ready(refused));
        }
        let response = match accepts_json(&request) {
            true => respond::bytes(200, respond::JSON, self.document.clone()),
            false => respond::not_acceptable(&request, "application/json"),
        };
        Box::pin(std::future::ready(response))
    }
}
