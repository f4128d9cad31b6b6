//! Watch events as a stream of frames.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{ChangeKind, WatchEvent, WatchStream, meta_mut};
use request::Query;
use storage::cache::{EncodingId, Entry};
use telemetry::metrics::SentEvents;
use tokio::time::{Instant, Sleep};

use crate::frames::{Chunk, Framed, error_frame, frame, length_prefix};
use crate::media::{Accepted, Encoding, Representation};
use crate::partial::Partial;
use crate::render::Renderer;
use crate::response;
use crate::table::TableWriter;

/// Interval of bookmarks for clients that request them (upstream: about once a minute).
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(60);
/// How long before the end of a watch its last bookmark is sent, so that the client can resume from
/// it.
const LAST_BOOKMARK_MARGIN: Duration = Duration::from_secs(2);
/// Duration of a watch with an unrepresentable deadline.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 86_400);
/// Ready events are sent together up to about this many bytes.
const CHUNK: usize = 64 << 10;

/// Writes events in the negotiated form and encoding.
pub struct EventWriter {
    renderer: Renderer,
    form: EventForm,
    sent: Option<SentEvents>,
}

enum EventForm {
    Object,
    Partial(Partial),
    Table(Box<TableWriter>),
    /// The client requested a list, but no event is a list. Upstream ends the stream at the first
    /// event.
    List,
}

impl EventWriter {
    pub fn new(renderer: Renderer, accepted: &Accepted, query: &Query) -> Result<Self, Status> {
        let form = match &accepted.form {
            Representation::Object => EventForm::Object,
            Representation::PartialMetadata(version) => EventForm::Partial(Partial::new(version)),
            Representation::PartialMetadataList(_) => EventForm::List,
            Representation::Table(version) => {
                let renderer = Renderer::new(&renderer.endpoint, accepted)?;
                EventForm::Table(Box::new(TableWriter::new(renderer, version, query)?))
            }
        };
        Ok(EventWriter { renderer, form, sent: None })
    }

    /// Counts the written events in `sent`.
    pub fn counted(self, sent: Option<SentEvents>) -> Self {
        EventWriter { sent, ..self }
    }

    /// Whether the stream ends at the first event.
    fn sends_nothing(&self) -> bool {
        matches!(self.form, EventForm::List)
    }

    fn send(&self, frame: Framed, chunk: &mut Chunk) {
        if let Some(sent) = &self.sent {
            sent.count(frame.len());
        }
        chunk.push(frame);
    }

    /// Writes an event. If `is_shared`, all watchers get the event, so its frame is cached.
    fn event(
        &mut self,
        kind: ChangeKind,
        entry: &Arc<Entry>,
        is_shared: bool,
        chunk: &mut Chunk,
    ) -> Result<(), Status> {
        let id = self.frame_id(kind).filter(|_| is_shared);
        if let Some(known) = id.and_then(|id| entry.encoding(id)) {
            self.send(Framed::One(known), chunk);
            return Ok(());
        }
        let object = match &mut self.form {
            EventForm::Object => self.renderer.shared(entry)?,
            EventForm::Partial(partial) => partial.object(&self.renderer, entry)?.into(),
            EventForm::Table(table) => {
                table_event(table, self.renderer.source.object(entry)?, self.renderer.encoding)?.into()
            }
            EventForm::List => return Ok(()),
        };
        let kind = match kind {
            ChangeKind::Added => "ADDED",
            ChangeKind::Modified => "MODIFIED",
            ChangeKind::Deleted => "DELETED",
        };
        let frame = frame(kind, object, self.renderer.encoding);
        if let (Some(id), Framed::One(frame)) = (id, &frame) {
            entry.keep_encoding(id, frame);
        }
        self.send(frame, chunk);
        Ok(())
    }

    /// The cache key of a frame. `None` for forms whose frames differ between watchers.
    fn frame_id(&self, kind: ChangeKind) -> Option<EncodingId> {
        const FRAME: u64 = 1 << 63;
        let form = match &self.form {
            _ if self.renderer.pretty => return None,
            EventForm::Object => 0,
            EventForm::Partial(partial) => 1 + u64::from(partial.api_version.ends_with("/v1")),
            EventForm::Table(_) | EventForm::List => return None,
        };
        let version = std::ptr::from_ref(self.renderer.endpoint.kind) as u64;
        Some(FRAME | version << 6 | form << 4 | (self.renderer.encoding as u64) << 2 | kind as u64)
    }

    /// Writes a bookmark: an object with only a resourceVersion. The bookmark that ends the initial
    /// events has an annotation (KEP-3157).
    fn bookmark(&mut self, revision: u64, initial_events_end: bool, chunk: &mut Chunk) -> Result<(), Status> {
        let stored = self.renderer.source.storage_kind();
        let mut hub = stored.to_hub(Owned::new(stored.def));
        if let Some(meta) = meta_mut(&mut hub) {
            meta.resource_version = revision.to_string();
            if initial_events_end {
                if let Some(sent) = &mut self.sent {
                    sent.list_sent();
                }
                meta.annotations.insert("k8s.io/initial-events-end".into(), "true".into());
            }
        }
        let object = match &mut self.form {
            EventForm::Object => self.renderer.other(self.renderer.endpoint.kind.from_hub(hub).as_ref())?,
            EventForm::Partial(partial) => partial.other(hub.as_ref(), self.renderer.encoding)?,
            EventForm::Table(table) => table_event(table, hub, self.renderer.encoding)?,
            EventForm::List => return Ok(()),
        };
        self.send(frame("BOOKMARK", object.into(), self.renderer.encoding), chunk);
        Ok(())
    }
}

fn table_event(table: &mut TableWriter, hub: Owned, encoding: Encoding) -> Result<Bytes, Status> {
    let (text, mut out) = (table.table_of(hub)?, Vec::new());
    table.without_headers();
    response::rewrite(&text, encoding, &mut out)?;
    Ok(out.into())
}

/// A watch as a response body. Frames are encoded on poll, so a slow client fills only its own
/// queue.
pub struct Events {
    stream: WatchStream,
    writer: EventWriter,
    /// Encoded events that are not sent yet.
    chunk: Chunk,
    /// When the watch ends.
    deadline: Instant,
    /// Whether the client requested bookmarks.
    bookmarks: bool,
    /// The deadline or the next bookmark, whichever is first.
    timer: Pin<Box<Sleep>>,
    /// The waker that the timer is registered with.
    waiting: Option<Waker>,
    /// Whether each event is a separate message, and not part of a stream.
    are_messages: bool,
    ended: bool,
}

impl Events {
    pub fn new(stream: WatchStream, writer: EventWriter, timeout: Duration, bookmarks: bool) -> Self {
        let now = Instant::now();
        let deadline = now.checked_add(timeout).unwrap_or(now + FOREVER);
        let first = next_bookmark(now, deadline).filter(|_| bookmarks).unwrap_or(deadline);
        Events {
            stream,
            writer,
            chunk: Chunk::default(),
            deadline,
            bookmarks,
            timer: Box::pin(tokio::time::sleep_until(first)),
            waiting: None,
            are_messages: false,
            ended: false,
        }
    }

    /// Returns each event as a separate message.
    pub fn one_by_one(self) -> Self {
        Events { are_messages: true, ..self }
    }

    /// Collects ready events. Checks the timer when no event is ready or the chunk is full.
    fn fill(&mut self, context: &mut Context<'_>) {
        let at_once = if self.are_messages { 1 } else { CHUNK };
        if self.are_messages {
            self.tick(context);
        }
        while !self.ended && self.chunk.len() < at_once {
            let event = match self.stream.poll_next(context) {
                Poll::Pending if !self.chunk.is_empty() => return,
                Poll::Pending => break,
                Poll::Ready(None) => {
                    self.ended = true;
                    return;
                }
                Poll::Ready(Some(Ok(_))) if self.writer.sends_nothing() => {
                    self.ended = true;
                    return;
                }
                Poll::Ready(Some(event)) => event,
            };
            let is_shared = !self.stream.is_initial();
            let (writer, chunk) = (&mut self.writer, &mut self.chunk);
            let written = event.and_then(|event| match event {
                WatchEvent::Object(kind, entry) => writer.event(kind, &entry, is_shared, chunk),
                WatchEvent::InitialEventsEnd(revision) => writer.bookmark(revision, true, chunk),
            });
            if let Err(status) = written {
                self.chunk.push(Framed::One(error_frame(&status, self.writer.renderer.encoding)));
                self.ended = true;
            }
        }
        if !self.are_messages {
            self.tick(context);
        }
    }

    /// Returns the next bytes to send.
    fn take(&mut self) -> Option<Bytes> {
        if !self.are_messages {
            return self.chunk.take();
        }
        self.chunk.take_all().map(|frame| frame.slice(length_prefix(self.writer.renderer.encoding)..))
    }

    /// Ends the watch at the deadline, or sends a bookmark when nothing else is pending.
    fn tick(&mut self, context: &mut Context<'_>) {
        // Runs after each event: skips polling a timer that will already wake this task.
        let is_set = self.waiting.as_ref().is_some_and(|waiting| waiting.will_wake(context.waker()));
        if is_set && !self.timer.is_elapsed() {
            return;
        }
        self.waiting = Some(context.waker().clone());
        // A timer that was reset has to be polled again, or it does not wake this task.
        while !self.ended && self.timer.as_mut().poll(context).is_ready() {
            if self.timer.deadline() >= self.deadline {
                self.ended = true;
                return;
            }
            let next = next_bookmark(Instant::now(), self.deadline).filter(|_| self.bookmarks);
            self.timer.as_mut().reset(next.unwrap_or(self.deadline));
            if let Some(revision) = self.stream.progress() {
                let written = self.writer.bookmark(revision, false, &mut self.chunk);
                self.ended = written.is_err() || self.writer.sends_nothing();
            }
        }
    }
}

/// Returns the time of the next bookmark; none after the last one (`nextBookmarkTime`).
fn next_bookmark(now: Instant, deadline: Instant) -> Option<Instant> {
    let last = deadline.checked_sub(LAST_BOOKMARK_MARGIN)?;
    (now < last).then(|| last.min(now + BOOKMARK_INTERVAL))
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.chunk.is_empty() && !self.ended {
            self.fill(context);
        }
        match self.take() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None if self.ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_bookmarks_each_minute_and_before_deadline() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let deadline = after(150);
        let mut times = Vec::new();
        let mut now = begin;
        while let Some(next) = next_bookmark(now, deadline) {
            times.push((next - begin).as_secs());
            now = next;
        }
        assert_eq!(times, [60, 120, 148]);
        assert_eq!(next_bookmark(begin, after(2)), None);
        assert_eq!(next_bookmark(begin, after(3)), Some(after(1)));
    }
}
