//! Lists as answers, written piece by piece: a long one never stands in memory as a whole.

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
use serving::{Body, Query, Response};
use storage::cache::Entry;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::answer;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Encoding, Form};
use crate::partial::Partial;
use crate::render::Renderer;
use crate::table::TableWriter;

/// How much is written before an answer begins: what is no longer leaves as a whole.
const FIRST: usize = 128 << 10;

/// How much is written at a time from then on. Others wait for as long as that takes.
const CHUNK: usize = 32 << 10;

/// A list in the form and encoding asked for: what stands before the items, each item, what stands after.
enum Writer {
    Objects(Renderer),
    Partials(Renderer, Partial),
    Table(Box<TableWriter>),
}

/// Answers with a list in the form asked for.
pub fn respond(
    endpoint: &Arc<Endpoint>,
    listed: Listed,
    accepted: &Accepted,
    query: &Query,
) -> Result<Response, Status> {
    let meta = answer::list_meta(listed.revision, listed.continue_token, listed.remaining);
    let renderer = Renderer::new(endpoint, accepted)?;
    let writer = match &accepted.form {
        Form::Object => Writer::Objects(renderer),
        Form::PartialMetadataList(version) => Writer::Partials(renderer, Partial::new(version)),
        Form::Table(version) => Writer::Table(Box::new(TableWriter::new(renderer, version, query)?)),
        Form::PartialMetadata(_) => {
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
            return Ok(answer::respond(StatusCode::OK, Encoding::Json, first));
        }
        chunks.next = first;
        Ok(stream(chunks, Encoding::Json))
    }

    /// What has to be read as a whole before it can be written: YAML, CBOR, and JSON for people.
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
            encoding => answer::rewrite(&chunks.next, encoding, &mut out)?,
        }
        Ok(answer::respond(StatusCode::OK, accepted.encoding, out))
    }

    fn protobuf(self) -> Result<Response, Status> {
        let (renderer, partial) = match &self.writer {
            Writer::Objects(renderer) if renderer.is_text => {
                return Err(answer::no_protobuf("unstructured.UnstructuredList"));
            }
            Writer::Objects(renderer) => (renderer, None),
            Writer::Partials(renderer, partial) => (renderer, Some(partial)),
            Writer::Table(_) => return Err(answer::no_protobuf("v1.Table")),
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
            return Ok(answer::respond(StatusCode::OK, Encoding::Protobuf, first));
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

    /// Appends what stands behind the items. Members of open lists are in order of their names.
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

    /// Upstream's list of nothing is nil in some forms.
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

/// A JSON list on its way out.
struct Chunks {
    /// What is to be sent next.
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

    /// The next chunk, for which twice as much is read at most: a row of a table is short, and takes as long as its object.
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

/// A protobuf list on its way out.
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

/// How many lists are written at one moment: by half of the processors, so that what is short finds another one.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new((processors / 2).max(1)))
});

type Turn = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

/// A body that is written in turns with those of other lists, and lets everybody else have theirs after every frame: it would have a worker
/// to itself for as long as its client reads.
struct InTurns<B> {
    body: B,
    had_its_turn: bool,
    /// What it waits for.
    turn: Option<Turn>,
}

impl<B: HttpBody + Unpin> HttpBody for InTurns<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if std::mem::take(&mut self.had_its_turn) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let turn = self.turn.get_or_insert_with(|| Box::pin(TURNS.clone().acquire_owned()));
        let _turn = ready!(turn.as_mut().poll(context));
        self.turn = None;
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.had_its_turn = true;
        Poll::Ready(frame)
    }
}

fn stream<B>(body: B, encoding: Encoding) -> Response
where
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<serving::body::BodyError>,
{
    let mut response = Response::new(Body::stream(InTurns { body, had_its_turn: false, turn: None }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(encoding.media_type()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_long_list_lets_others_have_their_turn() {
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
