//! Encryption of a server: the configuration in use, and its reload when the file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus::Registry;
use tokio::time::Instant;

use crate::config::{self, EncryptionConfiguration};
use crate::error::Error;
use crate::loaded::Loaded;
use crate::metrics::Metrics;

/// Interval of checks of the file. Upstream checks every minute; reading a small file is cheap.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the plugins of a new configuration may take to become healthy (`minKMSPluginCloseGracePeriod`).
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of health checks meanwhile.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Delay before another attempt with a file that could not be loaded.
const RETRY: Duration = Duration::from_secs(3);

/// Encryption of a server, with the configuration in use.
pub struct Encryption {
    loaded: RwLock<Arc<Loaded>>,
    metrics: Metrics,
}

impl Encryption {
    /// Without a configuration: values are stored unencrypted, and encrypted ones cannot be read.
    pub fn none() -> Arc<Self> {
        Self::with(Loaded::nothing(), Metrics::new(&Registry::new(), ""))
    }

    /// Loads a configuration file. `reload` reloads it whenever it changes. `server` is the identity of
    /// this server, for metrics. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the file cannot be read or is invalid. An unavailable plugin is not an error: see
    /// [`Encryption::health`].
    pub async fn open(file: &Path, reload: bool, registry: &Registry, server: &str) -> Result<Arc<Self>, Error> {
        let metrics = Metrics::new(registry, server);
        let loaded = load(file, reload, &metrics)?;
        loaded.start().await;
        metrics.configured(&loaded.hash);
        let encryption = Self::with(loaded, metrics);
        if reload {
            tokio::spawn(follow(Arc::downgrade(&encryption), file.to_owned()));
        }
        Ok(encryption)
    }

    fn with(loaded: Loaded, metrics: Metrics) -> Arc<Self> {
        Arc::new(Encryption { loaded: RwLock::new(Arc::new(loaded)), metrics })
    }

    /// Returns the configuration in use.
    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether there are KMS plugins, whose health is checked.
    pub fn has_plugins(&self) -> bool {
        self.loaded().has_plugins()
    }

    /// Checks whether all KMS plugins are healthy.
    ///
    /// # Errors
    /// The errors of the unhealthy plugins.
    pub fn health(&self) -> Result<(), Error> {
        self.loaded().health()
    }

    /// Loads the file if it has changed.
    async fn reload(&self, file: &Path) -> Result<(), Error> {
        if config::read(file)?.1 == self.loaded().hash {
            return Ok(());
        }
        let loaded = load(file, true, &self.metrics)?;
        loaded.start().await;
        wait_healthy(&loaded).await?;
        let hash = loaded.hash.clone();
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        self.metrics.reloaded(Some(&hash));
        tracing::info!(file = %file.display(), hash, "encryption configuration reloaded");
        Ok(())
    }
}

fn load(file: &Path, reload: bool, metrics: &Metrics) -> Result<Loaded, Error> {
    let (text, hash) = config::read(file).map_err(|why| Error::Load(why.into()))?;
    let config = EncryptionConfiguration::parse(&text, reload)
        .map_err(|why| Error::Parse { path: file.to_owned(), source: why.into() })?;
    Loaded::new(&config, hash, metrics).map_err(|why| Error::Build(why.into()))
}

/// Waits until the plugins of a new configuration are healthy. Otherwise values could be written that
/// cannot be read.
async fn wait_healthy(loaded: &Loaded) -> Result<(), Error> {
    let deadline = Instant::now() + HEALTH_TIMEOUT;
    loop {
        match loaded.health() {
            Ok(()) => return Ok(()),
            Err(why) if Instant::now() >= deadline => return Err(Error::NewUnhealthy(why.into())),
            Err(_) => tokio::time::sleep(HEALTH_CHECK_INTERVAL).await,
        }
        loaded.check().await;
    }
}

/// Checks the file for changes until the encryption is dropped. Logs a repeated failure once and retries.
async fn follow(encryption: std::sync::Weak<Encryption>, file: PathBuf) {
    let mut logged = String::new();
    loop {
        tokio::time::sleep(if logged.is_empty() { CHECK_INTERVAL } else { RETRY }).await;
        let Some(encryption) = encryption.upgrade() else { return };
        match encryption.reload(&file).await {
            Ok(()) => logged.clear(),
            Err(why) => {
                encryption.metrics.reloaded(None);
                let why = why.to_string();
                if why != logged {
                    tracing::error!(file = %file.display(), why, "error processing encryption config file");
                    logged = why;
                }
            }
        }
    }
}
