//! Encryption as a server has it: the configuration in use, and the one that takes its place when the file changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus::Registry;
use tokio::time::Instant;

use crate::config::{self, EncryptionConfiguration};
use crate::loaded::Loaded;
use crate::metrics::Metrics;

/// How often the file is looked at. Upstream takes a minute; a small file is read in no time.
const LOOK: Duration = Duration::from_secs(1);
/// How long a new configuration's plugins have to become well before it is given up (`minKMSPluginCloseGracePeriod`).
const PATIENCE: Duration = Duration::from_secs(10);
/// How often they are asked meanwhile.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// How long to wait before a file that could not be taken over is tried again.
const RETRY: Duration = Duration::from_secs(3);

/// See the module.
pub struct Encryption {
    loaded: RwLock<Arc<Loaded>>,
    metrics: Metrics,
}

impl Encryption {
    /// Without a configuration: nothing is encrypted, and what is encrypted cannot be read.
    pub fn none() -> Arc<Self> {
        Self::with(Loaded::nothing(), Metrics::new(&Registry::new(), ""))
    }

    /// As a file says. `reload`: the file is read again whenever it changes. `server` is the identity of this server, in metrics. Needs a
    /// tokio runtime.
    ///
    /// # Errors
    /// When the file cannot be read, or says what is invalid. That a plugin does not answer is none: see [`Encryption::health`].
    pub async fn open(file: &Path, reload: bool, registry: &Registry, server: &str) -> Result<Arc<Self>, String> {
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

    /// The configuration in use.
    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether there are KMS plugins, whose health counts.
    pub fn has_plugins(&self) -> bool {
        self.loaded().has_plugins()
    }

    /// Whether all KMS plugins are well.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn health(&self) -> Result<(), String> {
        self.loaded().health()
    }

    /// Takes over what the file says now, if that is something new.
    async fn reload(&self, file: &Path) -> Result<(), String> {
        if config::read(file)?.1 == self.loaded().hash {
            return Ok(());
        }
        let loaded = load(file, true, &self.metrics)?;
        loaded.start().await;
        wait_healthy(&loaded).await?;
        let hash = loaded.hash.clone();
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        self.metrics.reloaded(Some(&hash));
        tracing::info!(file = %file.display(), hash, "a new configuration of encryption is in use");
        Ok(())
    }
}

fn load(file: &Path, reload: bool, metrics: &Metrics) -> Result<Loaded, String> {
    let (text, hash) =
        config::read(file).map_err(|why| format!("error while parsing file: error while loading file: {why}"))?;
    let config = EncryptionConfiguration::parse(&text, reload)
        .map_err(|why| format!("error while parsing file: {}: {why}", file.display()))?;
    Loaded::new(&config, hash, metrics).map_err(|why| format!("error while building transformers: {why}"))
}

/// Waits until the plugins of a new configuration are well: values must not be written with what nobody can read again.
async fn wait_healthy(loaded: &Loaded) -> Result<(), String> {
    let patience = Instant::now() + PATIENCE;
    loop {
        match loaded.health() {
            Ok(()) => return Ok(()),
            Err(why) if Instant::now() >= patience => {
                return Err(format!("health check for new transformers failed: {why}"));
            }
            Err(_) => tokio::time::sleep(ASK_AGAIN).await,
        }
        loaded.look().await;
    }
}

/// Looks at the file for as long as anybody uses the encryption. A failure is told once, and tried again.
async fn follow(encryption: std::sync::Weak<Encryption>, file: PathBuf) {
    let mut told = String::new();
    loop {
        tokio::time::sleep(if told.is_empty() { LOOK } else { RETRY }).await;
        let Some(encryption) = encryption.upgrade() else { return };
        match encryption.reload(&file).await {
            Ok(()) => told.clear(),
            Err(why) => {
                encryption.metrics.reloaded(None);
                if why != told {
                    tracing::error!(file = %file.display(), why, "error processing encryption config file");
                    told = why;
                }
            }
        }
    }
}
