//! Connections to the members of an etcd cluster: which one is asked, and when another one is.
//!
//! One member is asked until it fails; then it is the next one's turn. A read is repeated as long as the cluster cannot be
//! reached, a write only when it is certain that it was not sent, because nobody can say whether one that was sent took
//! effect (etcd's own client draws the same line).

use std::{
    error::Error as _,
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use futures_core::Stream;
use futures_util::stream;
use http::uri::PathAndQuery;
use prost::Message;
use tokio::sync::mpsc;
use tonic::{
    Code, ConnectError, Request, Status, Streaming,
    client::Grpc,
    metadata::MetadataValue,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};
use tonic_prost::ProstCodec;

use super::{
    EtcdOptions,
    messages::{Empty, StatusResponse, WatchRequest, WatchResponse},
};
use crate::{Error, Result, error::Source};

/// As upstream's client: detects a dead member soon without much traffic.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a call goes on looking for a member that answers.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);
/// How much one stream may have under way, and all of them together: a watcher that does not read must not hold up the others.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// Whether a call may be made twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Always,
    /// Only when the first one was never sent.
    Unsent,
}

pub(super) struct Client {
    members: Vec<Member>,
    preferred: AtomicUsize,
}

struct Member {
    url: String,
    channel: Channel,
}

impl Client {
    /// Prepares connections; they are made when they are first used.
    pub(super) fn new(options: &EtcdOptions) -> Result<Self> {
        let tls = tls(options)?;
        let members = options.servers.iter().map(|url| Member::new(url, tls.as_ref())).collect::<Result<_>>()?;
        Ok(Self { members, preferred: AtomicUsize::new(0) })
    }

    /// The members' addresses.
    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &*member.url)
    }

    /// Calls a method of whichever member answers.
    pub(super) async fn call<Q, A>(&self, method: &'static str, request: Q, repeat: Repeat) -> Result<A, Status>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (index, member) = self.member();
            let status = match member.call(method, request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(status) => status,
            };
            if !may_repeat(&status, repeat) || Instant::now() > deadline {
                return Err(status);
            }
            self.avoid(index);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Opens a stream of watch responses from whichever member answers; requests are sent from the queue.
    pub(super) async fn watch(
        &self,
        requests: mpsc::Receiver<WatchRequest>,
    ) -> Result<Streaming<WatchResponse>, Status> {
        let (index, member) = self.member();
        let requests = stream::unfold(requests, |mut requests| async { Some((requests.recv().await?, requests)) });
        let outcome = member.watch(requests).await;
        if outcome.is_err() {
            self.avoid(index);
        }
        outcome
    }

    /// What each member says of itself.
    pub(super) async fn status(&self) -> Vec<(&str, Result<StatusResponse, Status>)> {
        let mut all = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let status = member.call("/etcdserverpb.Maintenance/Status", Empty {}).await;
            all.push((&*member.url, status));
        }
        all
    }

    fn member(&self) -> (usize, &Member) {
        let index = self.preferred.load(Ordering::Relaxed) % self.members.len();
        (index, &self.members[index])
    }

    /// Makes the next member the preferred one, unless another call has done so.
    fn avoid(&self, index: usize) {
        let next = (index + 1) % self.members.len();
        let _ = self.preferred.compare_exchange(index, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl Member {
    fn new(url: &str, tls: Option<&ClientTlsConfig>) -> Result<Self> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = if url.contains("://") { url.to_owned() } else { format!("{scheme}://{url}") };
        let refused = |why: &dyn fmt::Display| misconfigured(format!("etcd server {url:?}: {why}"));
        let mut endpoint = Endpoint::from_shared(url.clone())
            .map_err(|error| refused(&error))?
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        if url.starts_with("https://") {
            let tls = tls.ok_or_else(|| refused(&"https needs the authority of its certificate (--etcd-cafile)"))?;
            endpoint = endpoint.tls_config(tls.clone()).map_err(|error| refused(&error))?;
        }
        Ok(Self { url, channel: endpoint.connect_lazy() })
    }

    async fn call<Q, A>(&self, method: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let path = PathAndQuery::from_static(method);
        let answer = grpc.unary(Request::new(request), path, ProstCodec::<Q, A>::default()).await?;
        Ok(answer.into_inner())
    }

    async fn watch(
        &self,
        requests: impl Stream<Item = WatchRequest> + Send + 'static,
    ) -> Result<Streaming<WatchResponse>, Status> {
        let mut grpc = self.grpc().await?;
        let mut request = Request::new(requests);
        // Without a leader there are no events: the member is to say so, so that another one is asked (clientv3.WithRequireLeader).
        request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
        let path = PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
        Ok(grpc.streaming(request, path, ProstCodec::default()).await?.into_inner())
    }

    async fn grpc(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(usize::MAX);
        grpc.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
        Ok(grpc)
    }
}

/// The client's part of TLS, when there is one.
fn tls(options: &EtcdOptions) -> Result<Option<ClientTlsConfig>> {
    let EtcdOptions { ca_file, certificate, .. } = options;
    if ca_file.is_none() && certificate.is_none() {
        return Ok(None);
    }
    let read = |file: &std::path::Path| {
        std::fs::read(file).map_err(|error| misconfigured(format!("cannot read {}: {error}", file.display())))
    };
    let mut tls = ClientTlsConfig::new();
    if let Some(file) = ca_file {
        tls = tls.ca_certificate(Certificate::from_pem(read(file)?));
    }
    if let Some((certificate, key)) = certificate {
        tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
    }
    Ok(Some(tls))
}

/// Whether a call that failed may be made again, of this member or another one.
fn may_repeat(status: &Status, repeat: Repeat) -> bool {
    match repeat {
        Repeat::Always => is_passing(status),
        Repeat::Unsent => was_not_sent(status),
    }
}

/// Whether the failure says something about the connection or the cluster at this moment, and nothing about the request.
pub(super) fn is_passing(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        // How tonic reports a connection that broke.
        Code::Unknown | Code::Internal | Code::Cancelled => status.source().is_some(),
        _ => false,
    }
}

fn was_not_sent(status: &Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}

fn misconfigured(text: String) -> Error {
    Error::backend(Refusal(text))
}

/// What etcd said, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

/// The error of a call that failed for no reason that callers decide by.
pub(super) fn failure(status: Status) -> Error {
    let mut text = status.message().to_owned();
    let mut source = status.source();
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    Error::Backend(Source(std::sync::Arc::new(Refusal(text))))
}
