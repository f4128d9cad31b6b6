//! Flags of storage (upstream: `apiserver/pkg/server/options/etcd.go`).

use std::path::PathBuf;
use std::time::Duration;

use crate::error::{FlagError, ValueError};
use crate::values::FlagValues;
use crate::words::{JSON, PROTOBUF};

/// Options of storage.
#[derive(Clone, Debug)]
pub struct StorageOptions {
    /// Starts with a slash and does not end with one.
    pub prefix: String,
    /// 0 means a default chosen by the server.
    pub default_watch_cache_size: usize,
    /// Resource (`deployments.apps`) and size.
    pub watch_cache_sizes: Vec<(String, usize)>,
    pub etcd: EtcdOptions,
    pub listen: EtcdListenOptions,
    pub encryption: Option<EncryptionOptions>,
    /// Whether objects of built-in kinds are stored as JSON instead of protobuf.
    pub as_json: bool,
    /// Whether a garbage collector runs; enables foreground and orphan deletion.
    pub collects_garbage: bool,
    /// How many objects of a collection are deleted concurrently.
    pub delete_workers: usize,
    /// Whether acknowledged writes to the data directory survive a power failure.
    pub durable: bool,
    /// The interval of compaction, which also is how much history is kept; `None` disables
    /// compaction.
    pub compaction_interval: Option<Duration>,
    /// The timeouts of the health check and the readiness check of the store.
    pub health_timeout: Duration,
    pub ready_timeout: Duration,
    /// The intervals of counting objects and of querying the size of the store, for the metrics.
    pub count_interval: Option<Duration>,
    pub size_interval: Option<Duration>,
}

/// Options of encryption at rest.
#[derive(Clone, Debug)]
pub struct EncryptionOptions {
    /// An EncryptionConfiguration file.
    pub file: PathBuf,
    /// Whether changes of the file are applied while the server runs.
    pub reload: bool,
}

/// Options of etcd.
#[derive(Clone, Debug)]
pub struct EtcdOptions {
    /// Addresses of etcd; empty when objects are stored in the data directory.
    pub servers: Vec<String>,
    pub overrides: Vec<EtcdOverride>,
    pub ca_file: Option<PathBuf>,
    /// Client certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How long keys with a TTL share a lease.
    pub lease_reuse: Duration,
}

/// How the store of the data directory is served to other API servers, over etcd's API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdListenOptions {
    /// URLs to listen at; empty when the store is not served.
    pub urls: Vec<String>,
    /// The certificate and its key, for `https`.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The authorities of client certificates, for `https`.
    pub client_ca: Option<PathBuf>,
}

/// The etcd servers of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdOverride {
    pub group: String,
    /// The plural name.
    pub resource: String,
    pub servers: Vec<String>,
}

impl FlagValues {
    pub(super) fn storage(&self) -> Result<StorageOptions, FlagError> {
        let media_type = self.text("storage-media-type");
        if !matches!(media_type, JSON | PROTOBUF) {
            return Err(FlagError::StorageMediaType { media_type: media_type.to_owned() });
        }
        Ok(StorageOptions {
            prefix: format!("/{}", self.text("etcd-prefix").trim_matches('/')),
            default_watch_cache_size: self.number("default-watch-cache-size")?,
            watch_cache_sizes: self
                .list("watch-cache-sizes")
                .into_iter()
                .map(|text| self.sized(text))
                .collect::<Result<_, _>>()?,
            etcd: self.etcd()?,
            listen: self.etcd_listen()?,
            encryption: self.encryption()?,
            as_json: media_type == JSON,
            collects_garbage: self.bool("enable-garbage-collector")?,
            // As upstream, values below one mean one.
            delete_workers: usize::try_from(self.number::<i64>("delete-collection-workers")?).unwrap_or(1).max(1),
            durable: !self.bool("test-server")?,
            compaction_interval: self.interval("etcd-compaction-interval")?,
            health_timeout: self.duration("etcd-healthcheck-timeout")?,
            ready_timeout: self.duration("etcd-readycheck-timeout")?,
            count_interval: self.interval("etcd-count-metric-poll-period")?,
            size_interval: self.interval("etcd-db-metric-poll-interval")?,
        })
    }

    fn sized(&self, text: &str) -> Result<(String, usize), FlagError> {
        let flag = "watch-cache-sizes";
        let wrong = || self.invalid(flag, ValueError::CacheSize { text: text.to_owned() });
        let (resource, size) = text.split_once('#').ok_or_else(wrong)?;
        Ok((resource.to_owned(), self.parsed(flag, size)?))
    }

    fn encryption(&self) -> Result<Option<EncryptionOptions>, FlagError> {
        match (self.path("encryption-provider-config"), self.bool("encryption-provider-config-automatic-reload")?) {
            (Some(file), reload) => Ok(Some(EncryptionOptions { file, reload })),
            (None, false) => Ok(None),
            (None, true) => Err(FlagError::EncryptionReload),
        }
    }

    fn etcd(&self) -> Result<EtcdOptions, FlagError> {
        let servers: Vec<_> = self.list("etcd-servers").into_iter().map(str::to_owned).collect();
        match self.text("storage-backend") {
            "" => {}
            "etcd3" if servers.is_empty() => return Err(FlagError::NoEtcdServers),
            "etcd3" => {}
            other => return Err(FlagError::StorageBackend { backend: other.to_owned() }),
        }
        let certificate = match (self.path("etcd-certfile"), self.path("etcd-keyfile")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(FlagError::Together { first: "etcd-certfile", second: "etcd-keyfile" }),
        };
        let wrong = |text: &str| FlagError::EtcdOverride { text: text.to_owned() };
        let each = |text| etcd_override(text).ok_or_else(|| wrong(text));
        let overrides = self.list("etcd-servers-overrides").into_iter().map(each);
        Ok(EtcdOptions {
            servers,
            overrides: overrides.collect::<Result<_, _>>()?,
            ca_file: self.path("etcd-cafile"),
            certificate,
            lease_reuse: Duration::from_secs(self.number("lease-reuse-duration-seconds")?),
        })
    }

    /// The store has secrets: it is served to clients with certificates, or on loopback.
    fn etcd_listen(&self) -> Result<EtcdListenOptions, FlagError> {
        let urls: Vec<_> = self.list("etcd-listen-client-urls").into_iter().map(str::to_owned).collect();
        let certificate = match (self.path("etcd-listen-cert-file"), self.path("etcd-listen-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(FlagError::Together { first: "etcd-listen-cert-file", second: "etcd-listen-key-file" }),
        };
        let client_ca = self.path("etcd-listen-trusted-ca-file");
        if !urls.is_empty() && !self.list("etcd-servers").is_empty() {
            return Err(FlagError::EtcdListenOfServers);
        }
        let has_tls = certificate.is_some() && client_ca.is_some();
        match urls.iter().find(|url| !is_loopback(url) && (!url.starts_with("https://") || !has_tls)) {
            Some(url) => Err(FlagError::EtcdListen { url: url.clone() }),
            None => Ok(EtcdListenOptions { urls, certificate, client_ca }),
        }
    }

    /// A duration; 0 means never.
    fn interval(&self, flag: &str) -> Result<Option<Duration>, FlagError> {
        Ok(Some(self.duration(flag)?).filter(|interval| !interval.is_zero()))
    }
}

/// Whether a URL is one of plain HTTP on this host.
fn is_loopback(url: &str) -> bool {
    let host = url.strip_prefix("http://").and_then(|rest| rest.rsplit_once(':')).map(|(host, _)| host);
    let host = host.unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `group/resource#url;url`
fn etcd_override(text: &str) -> Option<EtcdOverride> {
    let (name, servers) = text.split_once('#')?;
    let (group, resource) = name.split_once('/')?;
    let servers: Vec<_> = servers.split(';').map(str::to_owned).collect();
    let well_formed = !resource.contains('/') && servers.iter().all(|url| !url.is_empty() && !url.contains('#'));
    well_formed.then(|| EtcdOverride { group: group.to_owned(), resource: resource.to_owned(), servers })
}
