//! The Kubernetes version of the server (`/version`).

use http::header::{ACCEPT, CONTENT_TYPE};
use machinery::status::Status;
use serde_json::{Value, json};

use crate::handler::{BoxFuture, Handler, Request, Response};
use crate::negotiation::{is_consumed, is_produced};
use crate::respond;

/// The Kubernetes release that is served.
pub const GIT_VERSION: &str = "v1.36.2";
pub const MAJOR: &str = "1";
pub const MINOR: &str = "36";

/// The release without the patch version: `1.36`.
pub fn release() -> String {
    format!("{MAJOR}.{MINOR}")
}

/// Handles `/version` (upstream: `routes.Version`).
pub struct VersionHandler {
    document: Vec<u8>,
}

impl Default for VersionHandler {
    fn default() -> Self {
        VersionHandler { document: document() }
    }
}

/// The document, indented as upstream.
fn document() -> Vec<u8> {
    format!("{:#}", info()).into_bytes()
}

/// The version info. `goVersion` is empty because the program is not written in Go.
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

impl Handler for VersionHandler {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if request.method() != http::Method::GET {
            let refused = respond::failure(&request, &Status::method_not_allowed());
            return Box::pin(std::future::ready(refused));
        }
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_types = &["application/json"];
        let response = match () {
            () if !is_consumed(header(CONTENT_TYPE), media_types) => {
                respond::failure(&request, &Status::media_type_without_route())
            }
            () if !is_produced(header(ACCEPT), media_types) => respond::not_acceptable(&request, "application/json"),
            () => respond::bytes(200, respond::JSON, self.document.clone()),
        };
        Box::pin(std::future::ready(response))
    }
}
