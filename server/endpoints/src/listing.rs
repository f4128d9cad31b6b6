//! List responses, encoded in chunks: a long list is never in memory as a whole.

use std::num::NonZero;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};

use apimachinery::meta::v1::ListMeta;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http_body::{Body as HttpBody, Frame};
use machinery::reflect::Ref;
use machinery::status::Status;
use machinery::{envelope, json};
use registry::Listed;
use request::{Body, Query, Response};
use storage::cache::Entry;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::endpoint::Endpoint;
use crate::media::{Accepted, Encoding, Representation};
use crate::partial::Partial;
use crate::render::Renderer;
use crate::response;
use crate::table::TableWriter;

/// Bytes to encode before the response starts. A shorter list is sent as a whole.
const FIRST: usize = 128 << 10;

/// Bytes per chunk after the first. Encoding a chunk blocks the worker thread.
const CHUNK: usize = 32 << 10;

/// Encodes a list in the negotiated form: the head, each item, the tail.
enum Writer {
    Objects(Renderer),
    Partials(Renderer, Partial),
    Table(Box<TableWriter>),
}

/// Responds with a list in the negotiated form.
pub fn respond(
    endpoint: &Arc<Endpoint>,
    listed: Listed,
    accepted: &Accepted,
    query: &Query,
) -> Result<Response, Status> {
    let meta = response::list_meta(listed.revision, listed.continue_token, listed.remaining);
    let renderer = Renderer::new(endpoint, accepted)?;
    let writer = match &accepted.form {
        Representation::Object => Writer::Objects(renderer),
        Representation::PartialMetadataList(version) => Writer::Partials(renderer, Partial::new(version)),
        Representation::Table(version) => Writer::Table(Box::new(TableWriter::new(renderer, version, query)?)),
        Representation::PartialMetadata(_) => {
            let message = format!(
                "you requested PartialObjectMetadata, but the requested object is a list (*{}.{})",
                endpoint.internal_package(),
                if renderer.is_text { "UnstructuredList" } else { endpoint.kind.list_kind }
            );
            return Err(Status::new(406, "NotAcceptable", message));
        }
    };
    let entries = match &writer {
        Writer::Table(table) => table.in_order(listed.entries)?,
        Writer::Objects(_) | Writer::Partials(..) => listed.entries,
    };
    let items = Items { writer, meta, entries };
    match accepted.encoding {
        Encoding::Protobuf => items.protobuf(),
        Encoding::Json if !accepted.pretty => items.json(),
        Encoding::Json | Encoding::Yaml | Encoding::Cbor => items.rewritten(accepted),
    }
}

struct Items {
    writer: Writer,
    meta: ListMeta,
    entries: Vec<Arc<Entry>>,
}

impl Items {
    fn json(self) -> Result<Response, Status> {
        let mut head = Vec::with_capacity(1024);
        self.writer.write_head(&self.meta, self.entries.is_empty(), &mut head)?;
        let mut chunks = Chunks {
            next: head,
            entries: self.entries.into_iter(),
            writer: self.writer,
            meta: self.meta,
            state: State::First,
        };
        let first = chunks.fill(FIRST)?;
        if chunks.state == State::Ended {
            return Ok(response::respond(StatusCode::OK, Encoding::Json, first));
        }
        chunks.next = first;
        Ok(stream(chunks, Encoding::Json))
    }

    /// Encodes a list whose JSON text is needed as a whole: YAML, CBOR, and indented JSON.
    fn rewritten(self, accepted: &Accepted) -> Result<Response, Status> {
        let mut text = Vec::new();
        self.writer.write_head(&self.meta, self.entries.is_empty(), &mut text)?;
        let mut chunks = Chunks {
            next: text,
            entries: self.entries.into_iter(),
            writer: self.writer,
            meta: self.meta,
            state: State::First,
        };
        while let Some(entry) = chunks.entries.next() {
            chunks.write(&entry)?;
        }
        chunks.end();
        let mut out = Vec::new();
        match accepted.encoding {
            Encoding::Json => json::pretty(&chunks.next, &mut out),
            encoding => response::rewrite(&chunks.next, encoding, &mut out)?,
        }
        Ok(response::respond(StatusCode::OK, accepted.encoding, out))
    }

    fn protobuf(self) -> Result<Response, Status> {
        let (renderer, partial) = match &self.writer {
            Writer::Objects(renderer) if renderer.is_text => {
                return Err(response::no_protobuf("unstructured.UnstructuredList"));
            }
            Writer::Objects(renderer) => (renderer, None),
            Writer::Partials(renderer, partial) => (renderer, Some(partial)),
            Writer::Table(_) => return Err(response::no_protobuf("v1.Table")),
        };
        let (api_version, kind) = match partial {
            None => (renderer.endpoint.kind.api_version(), renderer.endpoint.kind.list_kind),
            Some(partial) => (partial.api_version.clone(), "PartialObjectMetadataList"),
        };
        let message = |entry: &Arc<Entry>| match partial {
            None => renderer.message(entry),
            Some(partial) => partial.message(renderer, entry),
        };
        let messages: Vec<Bytes> = self.entries.iter().map(message).collect::<Result<_, _>>()?;
        let length = messages.iter().map(|raw| envelope::item_len(raw.len())).sum();
        let mut head = Vec::new();
        envelope::list_head(&api_version, kind, Ref::of(&self.meta), length, &mut head);
        let mut pieces = Pieces { next: head, messages: messages.into_iter(), ended: false };
        let first = pieces.fill(FIRST);
        if pieces.ended {
            return Ok(response::respond(StatusCode::OK, Encoding::Protobuf, first));
        }
        pieces.next = first;
        Ok(stream(pieces, Encoding::Protobuf))
    }
}

impl Writer {
    fn write_head(&self, meta: &ListMeta, is_empty: bool, out: &mut Vec<u8>) -> Result<(), Status> {
        let (kind, api_version) = match self {
            Writer::Table(table) => return table.write_head(meta, is_empty, out),
            Writer::Objects(renderer) if renderer.is_text => {
                let api_version = renderer.endpoint.kind.api_version();
                out.extend_from_slice(format!("{{\"apiVersion\":\"{api_version}\",\"items\":[").as_bytes());
                return Ok(());
            }
            Writer::Objects(renderer) => (renderer.endpoint.kind.list_kind, renderer.endpoint.kind.api_version()),
            Writer::Partials(_, partial) => ("PartialObjectMetadataList", partial.api_version.clone()),
        };
        out.extend_from_slice(
            format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":").as_bytes(),
        );
        json::encode(Ref::of(meta), out);
        let items: &[u8] = if is_empty && self.is_null_when_empty() { b",\"items\":null" } else { b",\"items\":[" };
        out.extend_from_slice(items);
        Ok(())
    }

    fn write_item(&self, entry: &Entry, out: &mut Vec<u8>) -> Result<(), Status> {
        match self {
            Writer::Objects(renderer) => renderer.write_json_item(entry, out),
            Writer::Partials(renderer, partial) => partial.write_json(renderer, entry, out),
            Writer::Table(table) => table.write_row(entry, out),
        }
    }

    /// Appends the bytes after the items. Fields of unstructured lists are sorted by name.
    fn write_tail(&self, meta: &ListMeta, is_empty: bool, out: &mut Vec<u8>) {
        if let Writer::Objects(renderer) = self
            && renderer.is_text
        {
            let kind = renderer.endpoint.kind.list_kind;
            out.extend_from_slice(format!("],\"kind\":\"{kind}\",\"metadata\":{{").as_bytes());
            // Upstream sets the token of unstructured lists even when it is empty.
            let token = json::Value::from(meta.r#continue.as_str());
            out.extend_from_slice(format!("\"continue\":{token},").as_bytes());
            if let Some(remaining) = meta.remaining_item_count {
                out.extend_from_slice(format!("\"remainingItemCount\":{remaining},").as_bytes());
            }
            out.extend_from_slice(format!("\"resourceVersion\":\"{}\"}}}}\n", meta.resource_version).as_bytes());
            return;
        }
        let tail: &[u8] = if is_empty && self.is_null_when_empty() { b"}\n" } else { b"]}\n" };
        out.extend_from_slice(tail);
    }

    /// Whether an empty list has `items: null`. Upstream's empty slice is nil in some forms.
    fn is_null_when_empty(&self) -> bool {
        match self {
            Writer::Table(table) => table.is_null_when_empty(),
            Writer::Partials(..) => true,
            Writer::Objects(_) => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No item has been written.
    First,
    Later,
    Ended,
}

/// The body of a JSON list.
struct Chunks {
    /// Encoded bytes that are not sent yet.
    next: Vec<u8>,
    entries: std::vec::IntoIter<Arc<Entry>>,
    writer: Writer,
    meta: ListMeta,
    state: State,
}

impl Chunks {
    fn write(&mut self, entry: &Entry) -> Result<(), Status> {
        if self.state == State::Later {
            self.next.push(b',');
        }
        self.state = State::Later;
        self.writer.write_item(entry, &mut self.next)
    }

    fn end(&mut self) {
        self.writer.write_tail(&self.meta, self.state == State::First, &mut self.next);
        self.state = State::Ended;
    }

    /// Encodes the next chunk. It reads at most twice as many object bytes: a table row is short,
    /// but takes as long as its object.
    fn fill(&mut self, size: usize) -> Result<Vec<u8>, Status> {
        let mut read = 0;
        while self.next.len() < size && read < 2 * size && self.state != State::Ended {
            match self.entries.next() {
                Some(entry) => {
                    self.write(&entry)?;
                    read += entry.object.len();
                }
                None => self.end(),
            }
        }
        Ok(std::mem::take(&mut self.next))
    }
}

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.next.is_empty() {
            if self.state == State::Ended {
                return Poll::Ready(None);
            }
            self.next.reserve(CHUNK + CHUNK / 8);
        }
        let chunk = self.fill(CHUNK).map_err(|status| std::io::Error::other(status.message));
        Poll::Ready(Some(chunk.map(|chunk| Frame::data(chunk.into()))))
    }
}

/// The body of a protobuf list.
struct Pieces {
    next: Vec<u8>,
    messages: std::vec::IntoIter<Bytes>,
    ended: bool,
}

impl Pieces {
    fn fill(&mut self, size: usize) -> Vec<u8> {
        while self.next.len() < size && !self.ended {
            match self.messages.next() {
                Some(message) => {
                    envelope::item_head(message.len(), &mut self.next);
                    self.next.extend_from_slice(&message);
                }
                None => {
                    self.next.extend_from_slice(&envelope::TAIL);
                    self.ended = true;
                }
            }
        }
        std::mem::take(&mut self.next)
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.next.is_empty() {
            if self.ended {
                return Poll::Ready(None);
            }
            self.next.reserve(CHUNK + CHUNK / 8);
        }
        Poll::Ready(Some(Ok(Frame::data(self.fill(CHUNK).into()))))
    }
}

/// Limits concurrent encoding of lists to half of the processors, so that short requests find a
/// free one.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new((processors / 2).max(1)))
});

type Acquisition = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

/// A body of a list that shares permits with other lists and yields after each frame. Without that
/// it would occupy a worker for as long as its client reads.
struct ThrottledBody<B> {
    body: B,
    must_yield: bool,
    /// The pending acquisition of a permit.
    permit: Option<Acquisition>,
}

impl<B: HttpBody + Unpin> HttpBody for ThrottledBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if std::mem::take(&mut self.must_yield) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let permit = self.permit.get_or_insert_with(|| Box::pin(PERMITS.clone().acquire_owned()));
        let _permit = ready!(permit.as_mut().poll(context));
        self.permit = None;
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.must_yield = true;
        Poll::Ready(frame)
    }
}

fn stream<B>(body: B, encoding: Encoding) -> Response
where
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<request::BodyError>,
{
    let mut response = Response::new(Body::stream(ThrottledBody { body, must_yield: false, permit: None }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(encoding.media_type()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn long_list_yields_after_each_frame() {
        let messages: Vec<Bytes> = vec![Bytes::from(vec![7; CHUNK]); 8];
        let pieces = Pieces { next: Vec::new(), messages: messages.into_iter(), ended: false };
        let mut body = stream(pieces, Encoding::Protobuf).into_body();
        let mut lengths = Vec::new();
        while let Some(frame) = body.frame().await {
            let other = tokio::spawn(std::future::ready(()));
            lengths.push(frame.unwrap().into_data().unwrap().len());
            if body.frame().await.is_some() {
                assert!(other.is_finished(), "after {lengths:?}");
            }
        }
        assert!(lengths.len() > 2);
    }
}
