//! The service Watch: many watches on one stream.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_core::Stream;
use futures_util::{
    StreamExt,
    stream::{self, AbortHandle, BoxStream, SelectAll, abortable},
};
use prost::Message;
use rand::Rng;
use storage::{Error, Event, EventKind, KeyRange, Revision, WatchBatch, WatchHandle};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use crate::{
    answer::{Answer, of_store},
    convert::{self, positive, signed},
    etcd::Etcd,
    proto::{
        ResponseHeader, WatchCreateRequest, WatchRequest, WatchResponse, watch_create_request::FilterType,
        watch_request::RequestUnion,
    },
};

/// Responses that wait for the connection. More changes stay in the queues of the watches.
const RESPONSES: usize = 4;
/// The number of a watch that does not exist, or of all watches of a stream.
const NO_WATCH: i64 = -1;
/// How long a request for progress waits for watches that read the history, before it looks again.
const PROGRESS_RETRY: Duration = Duration::from_millis(50);
/// What etcd adds to the maximum size of a request for the size of a message.
pub(crate) const MESSAGE_OVERHEAD: usize = 512 << 10;

/// Serves a stream of requests.
pub(crate) fn serve(
    etcd: Arc<Etcd>,
    requests: Streaming<WatchRequest>,
) -> impl Stream<Item = Result<WatchResponse, Status>> {
    let (sender, receiver) = mpsc::channel(RESPONSES);
    let session = Session {
        etcd,
        sender,
        watches: HashMap::new(),
        batches: SelectAll::new(),
        next_id: 0,
        progress_wanted: false,
    };
    tokio::spawn(session.run(requests));
    stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) })
}

/// What a watch delivered, with its number.
type Batch = (i64, storage::Result<WatchBatch>);

/// Why a stream ends: the client is gone.
struct Gone;

/// A stream of requests and responses.
struct Session {
    etcd: Arc<Etcd>,
    sender: mpsc::Sender<Result<WatchResponse, Status>>,
    watches: HashMap<i64, Watch>,
    batches: SelectAll<BoxStream<'static, Batch>>,
    next_id: i64,
    /// Whether the client waits for the progress of all watches.
    progress_wanted: bool,
}

struct Watch {
    abort: AbortHandle,
    /// `None` after the watch ended by itself.
    handle: Option<WatchHandle>,
    no_put: bool,
    no_delete: bool,
    prev_kv: bool,
    fragment: bool,
    /// Whether the next tick reports progress; `None` for a watch that does not want it.
    progress: Option<bool>,
}

impl Session {
    async fn run(mut self, mut requests: Streaming<WatchRequest>) {
        let etcd = Arc::clone(&self.etcd);
        let stopped = etcd.stopped();
        tokio::pin!(stopped);
        let mut ticks = self.ticks();
        loop {
            let outcome = tokio::select! {
                request = requests.message() => match request {
                    Ok(Some(request)) => self.request(request).await,
                    Ok(None) | Err(_) => break, // the client is gone, or has closed its side
                },
                Some((id, batch)) = self.batches.next(), if !self.batches.is_empty() => self.deliver(id, batch).await,
                _ = ticks.tick() => self.tick().await,
                () = tokio::time::sleep(PROGRESS_RETRY), if self.progress_wanted => Ok(()),
                () = self.sender.closed() => break,
                () = &mut stopped => {
                    let _ = self.sender.send(Err(Answer::STOPPED.into())).await; // the client may be gone
                    break;
                }
            };
            if outcome.is_err() || self.progress_of_all().await.is_err() {
                break;
            }
        }
    }

    /// Ticks of periodic progress, at other times than those of other streams.
    fn ticks(&self) -> tokio::time::Interval {
        let interval = self.etcd.limits.progress_interval;
        let period = interval + interval.mul_f64(rand::rng().random_range(0.0..0.1));
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + period, period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks
    }

    async fn request(&mut self, request: WatchRequest) -> Result<(), Gone> {
        match request.request_union {
            Some(RequestUnion::Create(request)) => self.create(request).await,
            Some(RequestUnion::Cancel(request)) => self.cancel(request.watch_id).await,
            Some(RequestUnion::Progress(_)) => {
                self.progress_wanted = true;
                Ok(())
            }
            None => Ok(()),
        }
    }

    async fn create(&mut self, request: WatchCreateRequest) -> Result<(), Gone> {
        if request.start_revision < 0 {
            return self.refuse(Answer::COMPACTED.text()).await;
        }
        let range = range(&request);
        if range.end().is_some_and(|end| end <= range.start()) {
            return self.refuse("mvcc: watcher range is empty").await;
        }
        let Some(id) = self.choose_id(request.watch_id) else {
            return self.refuse("mvcc: duplicate watch ID provided on the WatchStream").await;
        };
        let from = positive(request.start_revision);
        let now = match self.etcd.revision().await {
            Ok(revision) => revision,
            Err(status) => return self.fail(status).await,
        };
        match self.etcd.store.watch_all(range, from).await {
            Ok(watch) => {
                // A client that resumes after this revision misses nothing.
                let revision = if from.is_some() { now } else { watch.start() - 1 };
                let handle = watch.handle();
                let (batches, abort) = abortable(watch.map(move |batch| (id, batch)));
                self.watches.insert(id, Watch::new(&request, abort, Some(handle)));
                self.batches.push(batches.boxed());
                self.send(WatchResponse { watch_id: id, created: true, ..self.response(revision) }).await
            }
            Err(error @ Error::Compacted { .. }) => {
                self.watches.insert(id, Watch::new(&request, AbortHandle::new_pair().0, None));
                self.send(WatchResponse { watch_id: id, created: true, ..self.response(now) }).await?;
                self.ended(id, error).await
            }
            Err(error) => self.fail(of_store(error)).await,
        }
    }

    /// Returns the number of a new watch; `None` when the requested one is in use. 0 lets the server choose.
    fn choose_id(&mut self, requested: i64) -> Option<i64> {
        if requested != 0 {
            return (!self.watches.contains_key(&requested)).then_some(requested);
        }
        while self.watches.contains_key(&self.next_id) {
            self.next_id += 1;
        }
        self.next_id += 1;
        Some(self.next_id - 1)
    }

    async fn refuse(&mut self, reason: &str) -> Result<(), Gone> {
        let revision = self.etcd.revision().await.unwrap_or_default();
        let refusal = WatchResponse {
            watch_id: NO_WATCH,
            created: true,
            canceled: true,
            cancel_reason: reason.to_owned(),
            ..self.response(revision)
        };
        self.send(refusal).await
    }

    async fn cancel(&mut self, id: i64) -> Result<(), Gone> {
        let Some(watch) = self.watches.remove(&id) else { return Ok(()) };
        watch.abort.abort();
        let revision = self.etcd.revision().await.unwrap_or_default();
        self.send(WatchResponse { watch_id: id, canceled: true, ..self.response(revision) }).await
    }

    /// Sends what a watch delivered.
    async fn deliver(&mut self, id: i64, batch: storage::Result<WatchBatch>) -> Result<(), Gone> {
        let (events, revision) = match batch {
            Ok(WatchBatch::Events { events, revision }) => (events, revision),
            Ok(WatchBatch::Progress { .. }) => return Ok(()),
            Err(error) => return self.ended(id, error).await,
        };
        let response = self.response(revision);
        let Some(watch) = self.watches.get_mut(&id) else { return Ok(()) }; // it was canceled meanwhile
        let wanted = events.iter().filter(|event| watch.wants(event));
        let events: Vec<_> = wanted.map(|event| convert::event(event, watch.prev_kv)).collect();
        if events.is_empty() {
            return Ok(());
        }
        if let Some(progress) = &mut watch.progress {
            *progress = false;
        }
        let fragment = watch.fragment;
        let response = WatchResponse { watch_id: id, events, ..response };
        match fragment {
            true => self.send_fragments(response).await,
            false => self.send(response).await,
        }
    }

    /// Reports that a watch ended by itself. The client may still cancel it.
    async fn ended(&mut self, id: i64, error: Error) -> Result<(), Gone> {
        if let Some(watch) = self.watches.get_mut(&id) {
            watch.handle = None;
        }
        let response = WatchResponse { watch_id: id, canceled: true, ..self.response(0) };
        match error {
            Error::Compacted { compacted, .. } => {
                self.send(WatchResponse { compact_revision: signed(compacted), ..response }).await
            }
            error => self.fail(of_store(error)).await,
        }
    }

    /// Reports the progress of the watches that want it and had no change since the last tick.
    async fn tick(&mut self) -> Result<(), Gone> {
        let mut due = Vec::new();
        for (id, watch) in &mut self.watches {
            if let (Some(progress), Some(handle)) = (&mut watch.progress, &watch.handle)
                && std::mem::replace(progress, true)
            {
                due.push((*id, handle.clone()));
            }
        }
        for (id, handle) in due {
            if let Some(revision) = self.etcd.store.caught_up([&handle]) {
                self.send(WatchResponse { watch_id: id, ..self.response(revision) }).await?;
            }
        }
        Ok(())
    }

    /// Answers a request for progress as soon as every watch of the stream has caught up.
    async fn progress_of_all(&mut self) -> Result<(), Gone> {
        if !self.progress_wanted {
            return Ok(());
        }
        let handles = self.watches.values().filter_map(|watch| watch.handle.as_ref());
        let caught_up = self.etcd.store.caught_up(handles);
        let is_empty = self.watches.values().all(|watch| watch.handle.is_none());
        match caught_up {
            _ if is_empty => self.progress_wanted = false,
            Some(revision) => {
                self.progress_wanted = false;
                return self.send(WatchResponse { watch_id: NO_WATCH, ..self.response(revision) }).await;
            }
            None => {}
        }
        Ok(())
    }

    /// Sends a response in parts that are not larger than a request may be.
    async fn send_fragments(&mut self, response: WatchResponse) -> Result<(), Gone> {
        let most = self.etcd.limits.max_request_bytes + MESSAGE_OVERHEAD;
        for part in fragments(response, most) {
            self.send(part).await?;
        }
        Ok(())
    }

    /// Ends the stream with an error.
    async fn fail(&mut self, status: Status) -> Result<(), Gone> {
        let _ = self.sender.send(Err(status)).await; // the client may be gone
        Err(Gone)
    }

    async fn send(&mut self, response: WatchResponse) -> Result<(), Gone> {
        self.sender.send(Ok(response)).await.map_err(|_| Gone)
    }

    /// A response with a revision. That of a watch which ended by compaction has none.
    fn response(&self, revision: Revision) -> WatchResponse {
        let header: ResponseHeader = self.etcd.header_at(revision);
        WatchResponse { header: Some(header), ..WatchResponse::default() }
    }
}

impl Watch {
    fn new(request: &WatchCreateRequest, abort: AbortHandle, handle: Option<WatchHandle>) -> Self {
        Self {
            abort,
            handle,
            no_put: request.filters().any(|filter| filter == FilterType::Noput),
            no_delete: request.filters().any(|filter| filter == FilterType::Nodelete),
            prev_kv: request.prev_kv,
            fragment: request.fragment,
            progress: request.progress_notify.then_some(true),
        }
    }

    fn wants(&self, event: &Event) -> bool {
        match event.kind {
            EventKind::Put => !self.no_put,
            EventKind::Delete => !self.no_delete,
        }
    }
}

/// The range of a watch. No key is the first possible one.
fn range(request: &WatchCreateRequest) -> KeyRange {
    let first = bytes::Bytes::from_static(&[0]);
    let key = if request.key.is_empty() { &first } else { &request.key };
    convert::range(key, &request.range_end)
}

/// Divides a response; each part has at least one change, and all but the last are marked.
fn fragments(response: WatchResponse, most: usize) -> Vec<WatchResponse> {
    if response.encoded_len() < most || response.events.len() < 2 {
        return vec![response];
    }
    let WatchResponse { events, .. } = response;
    let empty = WatchResponse { events: Vec::new(), fragment: true, ..response };
    let head = empty.encoded_len();
    let (mut parts, mut part, mut size) = (Vec::new(), empty.clone(), head);
    for event in events {
        let more = event.encoded_len() + 8;
        if !part.events.is_empty() && size + more >= most {
            parts.push(std::mem::replace(&mut part, empty.clone()));
            size = head;
        }
        size += more;
        part.events.push(event);
    }
    part.fragment = false;
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::mvccpb;

    #[test]
    fn divides_large_responses_between_changes() {
        let kv = |bytes: usize| mvccpb::KeyValue { value: vec![b'x'; bytes].into(), ..mvccpb::KeyValue::default() };
        let event = |bytes| mvccpb::Event { kv: Some(kv(bytes)), ..mvccpb::Event::default() };
        let response = |sizes: &[usize]| WatchResponse {
            watch_id: 7,
            events: sizes.iter().map(|&bytes| event(bytes)).collect(),
            ..WatchResponse::default()
        };
        let shape = |sizes: &[usize]| -> Vec<(usize, bool, i64)> {
            let parts = fragments(response(sizes), 1000);
            parts.iter().map(|part| (part.events.len(), part.fragment, part.watch_id)).collect()
        };
        assert_eq!(shape(&[100, 100]), [(2, false, 7)]);
        assert_eq!(shape(&[5000]), [(1, false, 7)], "one change is not divided");
        assert_eq!(shape(&[400, 400, 400]), [(2, true, 7), (1, false, 7)]);
        assert_eq!(shape(&[5000, 10, 5000]), [(1, true, 7), (1, true, 7), (1, false, 7)]);
    }

    #[test]
    fn an_empty_key_is_the_first_one() {
        let request = |key: &'static [u8], end: &'static [u8]| WatchCreateRequest {
            key: bytes::Bytes::from_static(key),
            range_end: bytes::Bytes::from_static(end),
            ..WatchCreateRequest::default()
        };
        assert!(range(&request(b"", b"\0")).contains(b"\xff\xff"));
        assert!(!range(&request(b"", b"")).contains(b"a"));
        assert!(range(&request(b"a", b"")).contains(b"a"));
    }
}
