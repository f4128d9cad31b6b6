//! Serves the Kubernetes version of the server (`/version`).

use http::header::{ACCEPT, CONTENT_TYPE};
use machinery::status::Status;
use options::version;
use request::negotiation::{is_consumed, is_produced};
use request::{BoxFuture, Handler, Request, Response, respond};

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
    format!("{:#}", version::info()).into_bytes()
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
