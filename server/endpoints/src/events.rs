//! Watch events as a stream of frames.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use machinery::reflect::{Mut, Owned, Ref};
use machinery::status::Status;
use machinery::{cbor, envelope, json};
use registry::{ChangeKind, WatchEvent, WatchStream, meta_mut};
use serving::metrics::SentEvents;
use storage::cache::Entry;
use tokio::time::{Interval, Sleep};

use crate::answer;
use crate::media::{Accepted, Encoding, Form};
use crate::partial::Partial;
use crate::query::Query;
use crate::render::Renderer;
use crate::table::TableWriter;

/// How often a bookmark is sent to who wants them (upstream: about once a minute).
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// Events that are ready are sent together up to about so many bytes.
const CHUNK: usize = 64 << 10;

/// Writes events in the form and encoding asked for.
pub struct EventWriter {
    renderer: Renderer,
    form: EventForm,
    sent: Option<SentEvents>,
}

enum EventForm {
    Object,
    Partial(Partial),
    Table(Box<TableWriter>),
}

impl EventWriter {
    pub fn new(renderer: Renderer, accepted: &Accepted, query: &Query) -> Result<Self, Status> {
        let form = match &accepted.form {
            Form::Object => EventForm::Object,
            Form::PartialMetadata(version) | Form::PartialMetadataList(version) => {
                EventForm::Partial(Partial::new(version))
            }
            Form::Table(version) => {
                let renderer = Renderer::new(&renderer.endpoint, accepted)?;
                EventForm::Table(Box::new(TableWriter::new(renderer, version, query)?))
            }
        };
        Ok(EventWriter { renderer, form, sent: None })
    }

    /// Counts here what is written.
    pub fn counted(self, sent: Option<SentEvents>) -> Self {
        EventWriter { sent, ..self }
    }

    fn write(&self, kind: &str, object: &[u8], out: &mut Vec<u8>) {
        let before = out.len();
        frame(kind, object, self.renderer.encoding, out);
        if let Some(sent) = &self.sent {
            sent.count(out.len() - before);
        }
    }

    fn event(&mut self, kind: ChangeKind, entry: &Arc<Entry>, out: &mut Vec<u8>) -> Result<(), Status> {
        let kind = match kind {
            ChangeKind::Added => "ADDED",
            ChangeKind::Modified => "MODIFIED",
            ChangeKind::Deleted => "DELETED",
        };
        let object = match &mut self.form {
            EventForm::Object => self.renderer.object(entry)?,
            EventForm::Partial(partial) => partial.object(&self.renderer, entry)?,
            EventForm::Table(table) => table_event(table, self.renderer.store.object(entry)?, self.renderer.encoding)?,
        };
        self.write(kind, &object, out);
        Ok(())
    }

    /// An object of the kind with nothing but a resourceVersion; one that ends the initial events says so (KEP-3157).
    fn bookmark(&mut self, revision: u64, initial_events_end: bool, out: &mut Vec<u8>) -> Result<(), Status> {
        let store = &self.renderer.store;
        let mut hub = store.storage_kind.to_hub(Owned::new(store.storage_kind.def));
        if let Some(meta) = meta_mut(&mut hub) {
            meta.resource_version = revision.to_string();
            if initial_events_end {
                meta.annotations.insert("k8s.io/initial-events-end".into(), "true".into());
            }
        }
        let object = match &mut self.form {
            EventForm::Object => self.renderer.other(self.renderer.endpoint.kind.from_hub(hub).as_ref())?,
            EventForm::Partial(partial) => partial.other(hub.as_ref(), self.renderer.encoding)?,
            EventForm::Table(table) => table_event(table, hub, self.renderer.encoding)?,
        };
        self.write("BOOKMARK", &object, out);
        Ok(())
    }
}

fn table_event(table: &mut TableWriter, hub: Owned, encoding: Encoding) -> Result<Bytes, Status> {
    let (text, mut out) = (table.table_of(hub)?, Vec::new());
    table.without_headers();
    answer::rewrite(&text, encoding, &mut out)?;
    Ok(out.into())
}

/// Appends an event as a map of `type` and `object`, tagged; `object` is encoded already.
fn cbor_frame(kind: &str, object: &[u8], out: &mut Vec<u8>) {
    const MAP_OF_TWO: u8 = 0xa2;
    /// A byte string of fewer than 24 bytes, of which there are as many as is added.
    const BYTES: u8 = 0x40;
    out.extend_from_slice(&cbor::MAGIC);
    out.push(MAP_OF_TWO);
    for text in ["type", kind, "object"] {
        out.push(BYTES + text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(object);
}

/// Appends one frame of the stream; JSON objects may end with a line break.
fn frame(kind: &str, object: &[u8], encoding: Encoding, out: &mut Vec<u8>) {
    match encoding {
        Encoding::Protobuf => envelope::watch_frame(kind, object, out),
        Encoding::Cbor => cbor_frame(kind, object, out),
        Encoding::Json | Encoding::Yaml => {
            out.reserve(object.len() + 48);
            out.extend_from_slice(b"{\"type\":\"");
            out.extend_from_slice(kind.as_bytes());
            out.extend_from_slice(b"\",\"object\":");
            out.extend_from_slice(object.strip_suffix(b"\n").unwrap_or(object));
            out.extend_from_slice(b"}\n");
        }
    }
}

/// An ERROR event.
pub fn error_frame(status: &Status, encoding: Encoding) -> Vec<u8> {
    let (text, mut out) = (status.to_json(), Vec::new());
    if encoding != Encoding::Protobuf {
        let mut object = Vec::new();
        // JSON that was just written can be read again.
        let _ = answer::rewrite(&text, encoding, &mut object);
        frame("ERROR", &object, encoding, &mut out);
        return out;
    }
    let mut typed = apimachinery::meta::v1::Status::default();
    let mut object = Vec::new();
    if json::decode(&text, Mut::of(&mut typed), &mut json::Issues::ignore()).is_ok() {
        envelope::encode_object("v1", "Status", Ref::of(&typed), &mut object);
    }
    frame("ERROR", &object, encoding, &mut out);
    out
}

/// A watch as the body of an answer. It is written as it is read: a client that does not read costs its own queue only.
pub struct Events {
    stream: WatchStream,
    writer: EventWriter,
    deadline: Pin<Box<Sleep>>,
    bookmarks: Option<Interval>,
    ended: bool,
}

impl Events {
    pub fn new(stream: WatchStream, writer: EventWriter, timeout: Duration, bookmarks: bool) -> Self {
        let first = tokio::time::Instant::now() + BOOKMARK_INTERVAL;
        Events {
            stream,
            writer,
            deadline: Box::pin(tokio::time::sleep(timeout)),
            bookmarks: bookmarks.then(|| tokio::time::interval_at(first, BOOKMARK_INTERVAL)),
            ended: false,
        }
    }

    /// Appends what is ready; whether more may come.
    fn fill(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> bool {
        while out.len() < CHUNK {
            let event = match self.stream.poll_next(context) {
                Poll::Pending => return self.tick(context, out),
                Poll::Ready(None) => return false,
                Poll::Ready(Some(event)) => event,
            };
            let written = event.and_then(|event| match event {
                WatchEvent::Object(kind, entry) => self.writer.event(kind, &entry, out),
                WatchEvent::InitialEventsEnd(revision) => self.writer.bookmark(revision, true, out),
            });
            if let Err(status) = written {
                out.extend_from_slice(&error_frame(&status, self.writer.renderer.encoding));
                return false;
            }
        }
        true
    }

    /// Sends a bookmark when it is time and nothing else waits to be sent.
    fn tick(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> bool {
        let is_time = self.bookmarks.as_mut().is_some_and(|interval| interval.poll_tick(context).is_ready());
        match self.stream.progress().filter(|_| is_time) {
            Some(revision) => {
                // The interval has to be asked once more, or it would not wake this task again.
                let _ = self.bookmarks.as_mut().map(|interval| interval.poll_tick(context));
                self.writer.bookmark(revision, false, out).is_ok()
            }
            None => true,
        }
    }
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.ended || self.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        let mut out = Vec::new();
        self.ended = !self.fill(context, &mut out);
        match (out.is_empty(), self.ended) {
            (false, _) => Poll::Ready(Some(Ok(Frame::data(out.into())))),
            (true, true) => Poll::Ready(None),
            (true, false) => Poll::Pending,
        }
    }
}
