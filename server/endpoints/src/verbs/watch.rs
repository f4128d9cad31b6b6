//! WATCH of a collection.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::status::Status;
use registry::ListQuery;
use request::upgrade::wants_websocket;
use request::{Body, Query, Response};
use serving::websocket::{self, WebSocketMessages};
use telemetry::metrics::PendingWatchMetrics;

use super::ResourceRequest;
use crate::endpoint::Endpoint;
use crate::events::{EventWriter, Events};
use crate::frames::{error_frame, length_prefix};
use crate::media::{Accepted, Encoding};
use crate::options::refuse;
use crate::render::Renderer;

/// Watches a collection or one object.
pub async fn watch(endpoint: Arc<Endpoint>, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.supported.accept_stream(call.header(&ACCEPT))?;
    let query = super::list::list_query(&call.info)?;
    let begins_with_state = query.resource_version_match.is_empty() && starts_at_present(&query);
    let initial = call.info.query.optional_flag("sendInitialEvents").or(begins_with_state.then_some(true));
    let bookmarks = call.info.query.flag("allowWatchBookmarks");
    check_watch(&query, &call.info.query)?;
    let predicate = super::list::predicate(&endpoint, &call)?;
    let timeout = match call.info.query.number("timeoutSeconds")? {
        // The watch ends before the first event.
        Some(seconds) if seconds < 0 => {
            registry::parse_resource_version(&query.resource_version)?;
            return Ok(respond(&call, Body::empty(), &accepted));
        }
        None | Some(0) => with_jitter(endpoint.min_request_timeout),
        Some(seconds) => Duration::from_secs(seconds.unsigned_abs()),
    };
    let writer = EventWriter::new(Renderer::new(&endpoint, &accepted)?, &accepted, &call.info.query)?;
    let writer = writer.counted(call.watched.as_ref().map(PendingWatchMetrics::begin));
    let store = endpoint.store()?;
    let body = match store.watch(&call.info.namespace, &predicate, &query, bookmarks, initial).await {
        Ok(stream) => {
            let events = Events::new(stream, writer, timeout, bookmarks);
            Body::stream(if wants_websocket(&call.headers) { events.one_by_one() } else { events })
        }
        // Upstream has already started the stream when it detects a compacted or future revision.
        Err(status) if matches!(status.reason, "Expired" | "Timeout") => {
            let (frame, is_message) = (error_frame(&status, accepted.encoding), wants_websocket(&call.headers));
            Body::full(if is_message { frame.slice(length_prefix(accepted.encoding)..) } else { frame })
        }
        Err(status) => return Err(status),
    };
    Ok(respond(&call, body, &accepted))
}

/// Returns a random duration between `least` and twice `least`, so that clients do not reconnect at
/// the same time.
fn with_jitter(least: Duration) -> Duration {
    let part = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_millis());
    least + least * part / 1000
}

/// Whether a watch starts with the current objects (`SetListOptionsDefaults`).
fn starts_at_present(list: &ListQuery) -> bool {
    matches!(list.resource_version.as_str(), "" | "0")
}

/// `ValidateListOptions` for watches.
fn check_watch(list: &ListQuery, query: &Query) -> Result<(), Status> {
    let mut errors = Vec::new();
    let path = Path::new("resourceVersionMatch");
    let mut matching = list.resource_version_match.as_str();
    let mut initial = query.get("sendInitialEvents").is_some();
    if !initial && matching.is_empty() && starts_at_present(list) {
        (matching, initial) = ("NotOlderThan", true);
    }
    let mut forbid = |why| errors.push(FieldError::forbidden(&path, why));
    if initial && matching != "NotOlderThan" {
        forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if !matching.is_empty() {
        if !initial {
            forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        if matching != "NotOlderThan" {
            errors.push(FieldError::not_supported(&path, BadValue::json_string(matching), &["NotOlderThan"]));
        }
        if !list.continue_token.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(&path, why));
        }
    }
    refuse("ListOptions", &errors)
}

fn respond(call: &ResourceRequest, body: Body, accepted: &Accepted) -> Response {
    if wants_websocket(&call.headers) {
        let is_text = matches!(accepted.encoding, Encoding::Json | Encoding::Yaml);
        return websocket::accept(
            &call.headers,
            if is_text { WebSocketMessages::Text } else { WebSocketMessages::Binary },
            body,
        );
    }
    let mut response = Response::new(body);
    let content_type = match accepted.encoding {
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        Encoding::Cbor => "application/cbor-seq",
        Encoding::Json | Encoding::Yaml => "application/json",
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
