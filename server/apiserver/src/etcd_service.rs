//! Serves the store of this API server over etcd's API, so that further API servers can join
//! (`--etcd-listen-client-urls`).

use std::ffi::OsString;
use std::sync::Arc;

use etcd_server::{Error, EtcdServer, Options, Parsed};
use options::EtcdListenOptions;
use storage::EmbeddedStore;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::RunError;

/// A store that is served, or none.
pub struct EtcdService(Option<Running>);

struct Running {
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl EtcdService {
    /// Listens and serves, if the options have URLs.
    ///
    /// # Errors
    /// An address or a certificate cannot be used, or the program has another store.
    pub async fn start(store: Option<Arc<EmbeddedStore>>, options: &EtcdListenOptions) -> Result<Self, RunError> {
        if options.urls.is_empty() {
            return Ok(Self(None));
        }
        let store = store.ok_or(RunError::NotEmbedded)?;
        let server = EtcdServer::bind(store, &etcd_options(options)?).await?;
        for address in server.addresses() {
            tracing::info!(%address, "serving the store over etcd's API");
        }
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_until(async {
            let _ = stopped.await; // a dropped service stops too
        }));
        Ok(Self(Some(Running { stop, serving })))
    }

    /// Ends watches and connections. The store stays open.
    pub async fn stop(self) {
        if let Some(Running { stop, serving }) = self.0 {
            let _ = stop.send(()); // fails when serving has ended
            let _ = serving.await; // fails when serving panicked; the store is closed next in any case
        }
    }
}

/// The options of the service, as flags of etcd. The free space on the disk limits the store, and this
/// API server compacts it.
fn etcd_options(options: &EtcdListenOptions) -> Result<Options, Error> {
    let mut flags: Vec<OsString> = vec!["--quota-backend-bytes=-1".into()];
    let mut flag = |name: &str, value: OsString| {
        let mut flag = OsString::from(format!("--{name}="));
        flag.push(value);
        flags.push(flag);
    };
    flag("listen-client-urls", options.urls.join(",").into());
    if let Some((certificate, key)) = &options.certificate {
        flag("cert-file", certificate.into());
        flag("key-file", key.into());
    }
    if let Some(client_ca) = &options.client_ca {
        flag("trusted-ca-file", client_ca.into());
    }
    match Options::parse("etcd", &flags, [])? {
        Parsed::Run(options) => Ok(*options),
        Parsed::Print(_) => Options::defaults(), // no flag above prints
    }
}
