//! The server: opens the store, listens, and stops on a signal.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use storage::{EmbeddedOptions, EmbeddedStore, Store};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinSet,
};

use crate::{
    Error, Options,
    alarms::Alarms,
    compactor,
    etcd::Etcd,
    listener::{Listener, ServedContent},
    member::Member,
    metrics::Metrics,
    tls::Tls,
    version::VERSION,
};

/// How long connections may take to end when the server stops.
const DRAIN: Duration = Duration::from_secs(2);
/// The folder of the store in the data directory, as with the API server.
const STORE: &str = "store";

/// Runs the server until a signal stops the process. Blocks.
///
/// # Errors
/// The store cannot be opened, or failed; an address or a certificate cannot be used.
pub fn run(options: &Options) -> Result<(), Error> {
    init_logging(options);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Runtime)?;
    let store = Arc::new(open(options)?);
    runtime.block_on(async {
        let server = EtcdServer::bind(Arc::clone(&store), options).await?;
        let addresses: Vec<_> = server.addresses().iter().map(ToString::to_string).collect();
        tracing::info!(version = VERSION, addresses = addresses.join(", "), "serving etcd's API");
        let mut terminated = signal(SignalKind::terminate()).map_err(Error::Runtime)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(Error::Runtime)?;
        let stop = async {
            tokio::select! {
                _ = terminated.recv() => Ok(()),
                _ = interrupted.recv() => Ok(()),
                error = store.failed() => Err(Error::from(error)),
            }
        };
        let outcome = server.serve_until(stop).await;
        tracing::info!("stopped");
        let closed = store.close().await.map_err(Error::from);
        outcome.and(closed)
    })
}

fn init_logging(options: &Options) {
    let builder = tracing_subscriber::fmt().with_max_level(options.log_level).with_ansi(false);
    // A second server of the process keeps the first one's logs.
    let _ = match options.log_to_stdout {
        true => builder.with_writer(std::io::stdout).try_init(),
        false => builder.with_writer(std::io::stderr).try_init(),
    };
}

fn open(options: &Options) -> Result<EmbeddedStore, Error> {
    refuse_etcd(&options.data_dir)?;
    let embedded = EmbeddedOptions {
        compaction_interval: None,
        // The service reports progress itself.
        progress_interval: Duration::from_secs(3600),
        durable: options.durable,
        ..EmbeddedOptions::default()
    };
    Ok(EmbeddedStore::open_with(options.data_dir.join(STORE), embedded)?)
}

/// Refuses the data of an etcd, which would be ignored.
fn refuse_etcd(dir: &Path) -> Result<(), Error> {
    if dir.join("member").exists() { Err(Error::DataOfEtcd { dir: dir.to_owned() }) } else { Ok(()) }
}

/// A server that listens at its addresses.
pub struct EtcdServer {
    etcd: Arc<Etcd>,
    listeners: Vec<Listener>,
    tls: Option<Arc<Tls>>,
    compaction: Option<crate::Compaction>,
}

impl EtcdServer {
    /// Listens at the addresses of the options, to serve a store.
    ///
    /// # Errors
    /// An address or a certificate cannot be used, or the store cannot be read.
    pub async fn bind(store: Arc<EmbeddedStore>, options: &Options) -> Result<Self, Error> {
        let tls = match options.tls.clone() {
            Some(tls) => {
                let reading = tokio::task::spawn_blocking(move || Tls::new(tls)).await;
                Some(Arc::new(reading.map_err(|error| Error::Runtime(error.into()))??))
            }
            None => None,
        };
        let of_clients = if options.listen_http.is_empty() { ServedContent::Everything } else { ServedContent::Grpc };
        let mut listeners = Vec::new();
        for (addresses, content) in [
            (&options.listen, of_clients),
            (&options.listen_http, ServedContent::Http),
            (&options.listen_metrics, ServedContent::Http),
        ] {
            for address in addresses {
                listeners.push(Listener::bind(address, content, tls.clone(), options.reuse_port).await?);
            }
        }
        let member =
            Member::new(options.name.clone(), options.peer_urls.clone(), options.client_urls.clone(), &options.token);
        let etcd = Etcd {
            alarms: Alarms::load(Arc::clone(&store), options.quota)?,
            metrics: Metrics::new(member.id)?,
            store,
            member,
            limits: options.limits.clone(),
            stopping: watch::Sender::new(false),
        };
        Ok(Self { etcd: Arc::new(etcd), listeners, tls, compaction: options.compaction })
    }

    /// Returns the addresses of the sockets, with the ports that the system chose.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(Listener::address).collect()
    }

    /// Serves until a future ends, then ends watches and connections, and returns its result. The store
    /// stays open.
    pub async fn serve_until<T>(self, stop: impl Future<Output = T>) -> T {
        let mut tasks = JoinSet::new();
        if let Some(compaction) = self.compaction {
            tasks.spawn(compactor::run(Arc::clone(&self.etcd), compaction));
        }
        if let Some(tls) = self.tls {
            tasks.spawn(tls.follow());
        }
        for listener in self.listeners {
            tasks.spawn(listener.serve(Arc::clone(&self.etcd)));
        }
        let outcome = stop.await;
        self.etcd.stopping.send_replace(true);
        // Every connection holds the state; the last one to end leaves only this reference.
        let end = tokio::time::Instant::now() + DRAIN;
        tasks.abort_all();
        while Arc::strong_count(&self.etcd) > 1 && tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        outcome
    }
}
