//! One member of an etcd cluster: its connection, and the clients of the crate `etcd-client` on it.

use std::{fmt, path::Path, time::Duration};

use etcd_client::{ConnectOptions, KvClient, LeaseClient, MaintenanceClient, WatchClient};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use super::{EtcdOptions, failure::misconfigured};
use crate::Result;

/// As upstream's client: detects a dead member soon without much traffic.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// HTTP/2 flow-control windows of one stream and of the connection. A watcher that does not read must
/// not block the other streams.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// The clients of one member. Each call clones one of them; the clones share the connection.
pub(super) struct Member {
    pub(super) url: String,
    pub(super) kv: KvClient,
    pub(super) lease: LeaseClient,
    pub(super) maintenance: MaintenanceClient,
    /// Requires a leader (`clientv3.WithRequireLeader`): a member without one sends no events. When it
    /// reports that, the next call uses another member.
    pub(super) watch: WatchClient,
}

impl Member {
    /// Prepares the connection, which the first call opens.
    pub(super) async fn new(url: &str, tls: Option<&ClientTlsConfig>) -> Result<Self> {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = if url.contains("://") { url.to_owned() } else { format!("{scheme}://{url}") };
        let channel = endpoint(&url, tls)?.connect_lazy();
        let plain = connect(&channel, ConnectOptions::new()).await?;
        let with_leader = connect(&channel, ConnectOptions::new().with_require_leader(true)).await?;
        // A page of large objects and the events of one revision can exceed gRPC's limit of 4 MB.
        Ok(Self {
            url,
            kv: plain.kv_client().max_decoding_message_size(usize::MAX),
            lease: plain.lease_client(),
            maintenance: plain.maintenance_client(),
            watch: with_leader.watch_client().max_decoding_message_size(usize::MAX),
        })
    }
}

/// Creates a client on an existing channel, without a call.
async fn connect(channel: &Channel, options: ConnectOptions) -> Result<etcd_client::Client> {
    let channel = etcd_client::Channel::Tonic(channel.clone());
    etcd_client::Client::from_channel(channel, Some(options)).await.map_err(|error| misconfigured(error.to_string()))
}

fn endpoint(url: &str, tls: Option<&ClientTlsConfig>) -> Result<Endpoint> {
    let refused = |why: &dyn fmt::Display| misconfigured(format!("etcd server {url:?}: {why}"));
    let endpoint = Endpoint::from_shared(url.to_owned())
        .map_err(|error| refused(&error))?
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    if !url.starts_with("https://") {
        return Ok(endpoint);
    }
    let tls = tls.ok_or_else(|| refused(&"https needs the authority of its certificate (--etcd-cafile)"))?;
    endpoint.tls_config(tls.clone()).map_err(|error| refused(&error))
}

/// Returns the TLS configuration of the client, if any.
pub(super) fn tls(options: &EtcdOptions) -> Result<Option<ClientTlsConfig>> {
    let EtcdOptions { ca_file, certificate, .. } = options;
    if ca_file.is_none() && certificate.is_none() {
        return Ok(None);
    }
    let read = |file: &Path| {
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
