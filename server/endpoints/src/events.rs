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
use storage::cache::{EncodingId, Entry};
use tokio::time::{Instant, Sleep};

use crate::answer;
use crate::media::{Accepted, Encoding, Form};
use crate::partial::Partial;
use crate::query::Query;
use crate::render::Renderer;
use crate::table::TableWriter;

/// How often a bookmark is sent to who wants them (upstream: about once a minute).
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// Longer than anybody watches.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 86_400);
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

    fn sent(&self, frame: Bytes) -> Bytes {
        if let Some(sent) = &self.sent {
            sent.count(frame.len());
        }
        frame
    }

    /// The frame of an event. `is_news`: all watchers are told, so it is made once.
    fn event(&mut self, kind: ChangeKind, entry: &Arc<Entry>, is_news: bool) -> Result<Bytes, Status> {
        let id = self.frame_id(kind).filter(|_| is_news);
        if let Some(known) = id.and_then(|id| entry.encoding(id)) {
            return Ok(self.sent(known));
        }
        let object = match &mut self.form {
            EventForm::Object => self.renderer.object(entry)?,
            EventForm::Partial(partial) => partial.object(&self.renderer, entry)?,
            EventForm::Table(table) => table_event(table, self.renderer.store.object(entry)?, self.renderer.encoding)?,
        };
        let kind = match kind {
            ChangeKind::Added => "ADDED",
            ChangeKind::Modified => "MODIFIED",
            ChangeKind::Deleted => "DELETED",
        };
        let frame = frame(kind, &object, self.renderer.encoding);
        if let Some(id) = id {
            entry.keep_encoding(id, &frame);
        }
        Ok(self.sent(frame))
    }

    /// What a frame is called among the encodings of its object; nothing when other watchers are told in other words.
    fn frame_id(&self, kind: ChangeKind) -> Option<EncodingId> {
        const FRAME: u64 = 1 << 63;
        let form = match &self.form {
            _ if self.renderer.pretty => return None,
            EventForm::Object => 0,
            EventForm::Partial(partial) => 1 + u64::from(partial.api_version.ends_with("/v1")),
            EventForm::Table(_) => return None,
        };
        let version = std::ptr::from_ref(self.renderer.endpoint.kind) as u64;
        Some(FRAME | version << 6 | form << 4 | (self.renderer.encoding as u64) << 2 | kind as u64)
    }

    /// An object of the kind with nothing but a resourceVersion; one that ends the initial events says so (KEP-3157).
    fn bookmark(&mut self, revision: u64, initial_events_end: bool) -> Result<Bytes, Status> {
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
        Ok(self.sent(frame("BOOKMARK", &object, self.renderer.encoding)))
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

/// One frame of the stream; JSON objects may end with a line break.
fn frame(kind: &str, object: &[u8], encoding: Encoding) -> Bytes {
    let mut out = Vec::with_capacity(object.len() + 48);
    match encoding {
        Encoding::Protobuf => envelope::watch_frame(kind, object, &mut out),
        Encoding::Cbor => cbor_frame(kind, object, &mut out),
        Encoding::Json | Encoding::Yaml => {
            out.extend_from_slice(b"{\"type\":\"");
            out.extend_from_slice(kind.as_bytes());
            out.extend_from_slice(b"\",\"object\":");
            out.extend_from_slice(object.strip_suffix(b"\n").unwrap_or(object));
            out.extend_from_slice(b"}\n");
        }
    }
    out.into()
}

/// An ERROR event.
pub fn error_frame(status: &Status, encoding: Encoding) -> Bytes {
    let (text, mut object) = (status.to_json(), Vec::new());
    if encoding != Encoding::Protobuf {
        // JSON that was just written can be read again.
        let _ = answer::rewrite(&text, encoding, &mut object);
        return frame("ERROR", &object, encoding);
    }
    let mut typed = apimachinery::meta::v1::Status::default();
    if json::decode(&text, Mut::of(&mut typed), &mut json::Issues::ignore()).is_ok() {
        envelope::encode_object("v1", "Status", Ref::of(&typed), &mut object);
    }
    frame("ERROR", &object, encoding)
}

/// Frames that are sent together. One alone is sent as it is, shared with the other watchers.
#[derive(Default)]
struct Chunk {
    one: Bytes,
    more: Vec<u8>,
}

impl Chunk {
    fn push(&mut self, frame: Bytes) {
        if self.one.is_empty() {
            self.one = frame;
            return;
        }
        if self.more.is_empty() {
            self.more.extend_from_slice(&self.one);
        }
        self.more.extend_from_slice(&frame);
    }

    fn len(&self) -> usize {
        self.one.len().max(self.more.len())
    }

    fn into_bytes(self) -> Bytes {
        if self.more.is_empty() { self.one } else { self.more.into() }
    }
}

/// A watch as the body of an answer. It is written as it is read: a client that does not read costs its own queue only.
pub struct Events {
    stream: WatchStream,
    writer: EventWriter,
    /// When the watch ends.
    deadline: Instant,
    /// The deadline or the next bookmark, whichever comes first.
    timer: Pin<Box<Sleep>>,
    ended: bool,
}

impl Events {
    pub fn new(stream: WatchStream, writer: EventWriter, timeout: Duration, bookmarks: bool) -> Self {
        let now = Instant::now();
        let deadline = now.checked_add(timeout).unwrap_or(now + FOREVER);
        let first = if bookmarks { deadline.min(now + BOOKMARK_INTERVAL) } else { deadline };
        Events { stream, writer, deadline, timer: Box::pin(tokio::time::sleep_until(first)), ended: false }
    }

    /// Takes what is ready, and looks at the time when nothing is, or more than is sent at once.
    fn fill(&mut self, context: &mut Context<'_>) -> Chunk {
        let mut chunk = Chunk::default();
        while !self.ended && chunk.len() < CHUNK {
            let event = match self.stream.poll_next(context) {
                Poll::Pending if chunk.len() > 0 => return chunk,
                Poll::Pending => break,
                Poll::Ready(None) => {
                    self.ended = true;
                    return chunk;
                }
                Poll::Ready(Some(event)) => event,
            };
            let is_news = !self.stream.is_initial();
            let frame = event.and_then(|event| match event {
                WatchEvent::Object(kind, entry) => self.writer.event(kind, &entry, is_news),
                WatchEvent::InitialEventsEnd(revision) => self.writer.bookmark(revision, true),
            });
            self.ended = frame.is_err();
            chunk.push(frame.unwrap_or_else(|status| error_frame(&status, self.writer.renderer.encoding)));
        }
        self.tick(context, &mut chunk);
        chunk
    }

    /// Ends the watch when it is time, or sends a bookmark when nothing else waits to be sent.
    fn tick(&mut self, context: &mut Context<'_>, chunk: &mut Chunk) {
        // A timer that was set anew has to be asked once more, or it would not wake this task.
        while !self.ended && self.timer.as_mut().poll(context).is_ready() {
            if self.timer.deadline() >= self.deadline {
                self.ended = true;
                return;
            }
            self.timer.as_mut().reset(self.deadline.min(Instant::now() + BOOKMARK_INTERVAL));
            if let Some(revision) = self.stream.progress() {
                match self.writer.bookmark(revision, false) {
                    Ok(frame) => chunk.push(frame),
                    Err(_) => self.ended = true,
                }
            }
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
        if self.ended {
            return Poll::Ready(None);
        }
        let chunk = self.fill(context);
        match (chunk.len(), self.ended) {
            (0, true) => Poll::Ready(None),
            (0, false) => Poll::Pending,
            _ => Poll::Ready(Some(Ok(Frame::data(chunk.into_bytes())))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_is_sent_as_it_is_and_several_as_one() {
        let frames = ["one ", "two ", "three"].map(Bytes::from);
        let chunk = |count: usize| {
            let mut chunk = Chunk::default();
            frames[..count].iter().cloned().for_each(|frame| chunk.push(frame));
            chunk
        };
        for (count, expect) in [(0, ""), (1, "one "), (2, "one two "), (3, "one two three")] {
            assert_eq!((chunk(count).len(), chunk(count).into_bytes()), (expect.len(), Bytes::from(expect)));
        }
        assert_eq!(chunk(1).into_bytes().as_ptr(), frames[0].as_ptr(), "shared with other watchers");
    }
}
