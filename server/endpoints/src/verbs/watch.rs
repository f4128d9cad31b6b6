//! GET of a stream of changes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{envelope, json};
use registry::{ListQuery, WatchEvent, WatchStream, meta_mut};
use serving::{Body, Response};
use tokio::sync::mpsc;

use super::Call;
use crate::answer::{self, Typed};
use crate::endpoint::Endpoint;
use crate::media::{self, Accepted, Encoding, Form};
use crate::query::{Query, refuse};
use crate::table;

/// How many encoded events may wait for a slow reader.
const QUEUE: usize = 128;
/// How often a bookmark is sent to who wants them (upstream: about once a minute).
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);

/// Watches a collection or one object.
pub async fn watch(endpoint: Arc<Endpoint>, call: Call) -> Result<Response, Status> {
    let accepted = media::accept_stream(call.header(&ACCEPT))?;
    let query = super::list::list_query(&call.query)?;
    let initial = call.query.optional_flag("sendInitialEvents");
    let bookmarks = call.query.flag("allowWatchBookmarks");
    check_watch(&query, &call.query)?;
    let predicate = super::list::predicate(&endpoint, &call)?;
    call.warn_deprecated(endpoint.kind);
    let timeout = call
        .query
        .number("timeoutSeconds")?
        .filter(|&s| s > 0)
        .map_or_else(default_timeout, |s| Duration::from_secs(s as u64));
    let stream = endpoint.store()?.watch(&call.info.namespace, predicate, &query, bookmarks, initial).await;
    let (sender, receiver) = mpsc::channel(QUEUE);
    match stream {
        Ok(stream) => {
            let encoder = Encoder { endpoint, accepted: accepted.clone(), query: call.query.clone(), first: true };
            tokio::spawn(feed(stream, encoder, sender, timeout, bookmarks));
        }
        Err(status) if status.reason == "Expired" => {
            let frame = error_frame(&status, accepted.encoding);
            tokio::spawn(async move { sender.send(frame).await });
        }
        Err(status) => return Err(status),
    }
    Ok(respond(receiver, &accepted))
}

/// Between 30 and 60 minutes, so that watchers do not come back all at once (`--min-request-timeout`).
fn default_timeout() -> Duration {
    let spread =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_millis() as u64);
    Duration::from_secs(1800 + spread * 1800 / 1000)
}

/// `ValidateListOptions` for watches.
fn check_watch(list: &ListQuery, query: &Query) -> Result<(), Status> {
    let mut errors = Vec::new();
    let path = Path::new("resourceVersionMatch");
    let matching = list.resource_version_match.as_str();
    match query.get("sendInitialEvents") {
        Some(_) => {
            if matching != "NotOlderThan" {
                errors.push(FieldError::forbidden(
                    &path,
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ));
            }
            if !matching.is_empty() && matching != "NotOlderThan" {
                errors.push(FieldError::not_supported(&path, BadValue::json_string(matching), &["NotOlderThan"]));
            }
        }
        None if !matching.is_empty() => {
            errors.push(FieldError::forbidden(
                &path,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        None => {}
    }
    refuse("ListOptions", &errors)
}

/// Carries events from the store to the response until either ends.
async fn feed(
    mut stream: WatchStream,
    mut encoder: Encoder,
    sender: mpsc::Sender<Bytes>,
    timeout: Duration,
    bookmarks: bool,
) {
    let deadline = tokio::time::sleep(timeout);
    tokio::pin!(deadline);
    let mut ticks = tokio::time::interval(BOOKMARK_INTERVAL);
    ticks.tick().await;
    loop {
        let frame = tokio::select! {
            biased;
            () = &mut deadline => return,
            () = sender.closed() => return,
            event = stream.next() => match event {
                Some(Ok(event)) => encoder.frame(event),
                Some(Err(status)) => {
                    let _ = sender.send(error_frame(&status, encoder.accepted.encoding)).await;
                    return;
                }
                None => return,
            },
            _ = ticks.tick(), if bookmarks => match stream.bookmark() {
                Some(event) => encoder.frame(event),
                None => continue,
            },
        };
        match frame {
            Ok(frame) => {
                if sender.send(frame).await.is_err() {
                    return;
                }
            }
            Err(status) => {
                let _ = sender.send(error_frame(&status, encoder.accepted.encoding)).await;
                return;
            }
        }
    }
}

/// Turns events into frames.
struct Encoder {
    endpoint: Arc<Endpoint>,
    accepted: Accepted,
    query: Query,
    /// Tables say their columns only once.
    first: bool,
}

impl Encoder {
    fn frame(&mut self, event: WatchEvent) -> Result<Bytes, Status> {
        let kind = event.kind.as_str();
        let object = self.object(event)?;
        Ok(frame(kind, &object, self.accepted.encoding))
    }

    /// The encoded object of an event.
    fn object(&mut self, event: WatchEvent) -> Result<Vec<u8>, Status> {
        let mut hub = event.object;
        if event.initial_events_end
            && let Some(meta) = meta_mut(&mut hub)
        {
            meta.annotations.insert("k8s.io/initial-events-end".into(), "true".into());
        }
        let kind = self.endpoint.kind;
        match &self.accepted.form {
            Form::Object => {
                encode_event_object(&kind.api_version(), kind.kind, answer::in_version(kind, hub), &self.accepted)
            }
            Form::Table(version) => {
                let first = std::mem::take(&mut self.first);
                table::of_event(&self.endpoint, hub, first, version, &self.query)
            }
            Form::PartialMetadata(version) | Form::PartialMetadataList(version) => {
                table::encode_partial_metadata(hub, version, &self.accepted)
            }
        }
    }
}

fn encode_event_object(api_version: &str, kind: &str, value: Owned, accepted: &Accepted) -> Result<Vec<u8>, Status> {
    let mut bytes = answer::encode(&Typed { api_version, kind, value: value.as_ref() }, accepted)?;
    if accepted.encoding == Encoding::Json && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(bytes)
}

/// One frame of the stream.
fn frame(kind: &str, object: &[u8], encoding: Encoding) -> Bytes {
    let mut out = Vec::with_capacity(object.len() + 48);
    match encoding {
        Encoding::Protobuf => envelope::watch_frame(kind, object, &mut out),
        Encoding::Json | Encoding::Yaml => {
            out.extend_from_slice(b"{\"type\":\"");
            out.extend_from_slice(kind.as_bytes());
            out.extend_from_slice(b"\",\"object\":");
            out.extend_from_slice(object);
            out.extend_from_slice(b"}\n");
        }
    }
    out.into()
}

/// An ERROR event.
fn error_frame(status: &Status, encoding: Encoding) -> Bytes {
    let mut text = status.to_json();
    text.pop();
    if encoding != Encoding::Protobuf {
        return frame("ERROR", &text, encoding);
    }
    let mut typed = apimachinery::meta::v1::Status::default();
    let decoded = json::decode(&text, machinery::reflect::Mut::of(&mut typed), &mut json::Issues::ignore());
    let mut object = Vec::new();
    if decoded.is_ok() {
        envelope::encode_object("v1", "Status", machinery::reflect::Ref::of(&typed), &mut object);
    }
    frame("ERROR", &object, encoding)
}

fn respond(receiver: mpsc::Receiver<Bytes>, accepted: &Accepted) -> Response {
    let mut response = Response::new(Body::stream(Frames(receiver)));
    *response.status_mut() = StatusCode::OK;
    let content_type = match accepted.encoding {
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        Encoding::Json | Encoding::Yaml => "application/json",
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Frames as a response body.
struct Frames(mpsc::Receiver<Bytes>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
