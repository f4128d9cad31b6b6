//! A KMS plugin: the seed in use for writes, the plugin's health, and the seeds that it has decrypted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use machinery::scalar::Time;
use tokio::time::Instant;
use uuid::Uuid;

use super::client::Client;
use super::messages::StatusResponse;
use super::source::{Encrypted, KnownSources, check_key_id};
use crate::error::{Error, HealthError};
use crate::failure::TransformFailure;
use crate::metrics::{Metrics, hash};
use crate::random;
use crate::seed::{LENGTH, Seed};
use crate::transformer::Transformer;

/// Intervals of status requests to a healthy and to an unhealthy plugin (upstream's `kmsPluginHealthz*TTL`).
const HEALTHY_INTERVAL: Duration = Duration::from_secs(20);
const UNHEALTHY_INTERVAL: Duration = Duration::from_secs(3);
/// How long the seed may be used for writes after the plugin last confirmed its key
/// (`kmsv2PluginWriteDEKSourceMaxTTL`).
const WRITE_SEED_TTL: Duration = Duration::from_secs(3 * 60);

/// The name and the address of a plugin.
pub(crate) struct Settings<'a> {
    pub name: &'a str,
    pub endpoint: &'a str,
    pub timeout: Duration,
}

/// A KMS plugin.
pub(crate) struct KmsPlugin {
    pub name: String,
    client: Client,
    pub metrics: Metrics,
    current: RwLock<Option<Arc<Current>>>,
    known: Mutex<KnownSources>,
    /// The API version of its first response.
    version: Mutex<Option<String>>,
    /// The result of the last health check.
    health: Mutex<Result<(), HealthError>>,
}

/// The seed for writes.
pub(super) struct Current {
    pub seed: Arc<Seed>,
    pub source: Encrypted,
    expires: Instant,
}

impl Current {
    /// Checks whether the seed may still be used for writes; reads do not expire.
    pub fn check_expiry(&self) -> Result<(), TransformFailure> {
        let now = Instant::now();
        if now <= self.expires {
            return Ok(());
        }
        let clock = SystemTime::now();
        let text = |at: SystemTime| Time::from(at).to_string();
        let (key_id, expired) = (hash(&self.source.key_id), text(clock - (now - self.expires)));
        Err(TransformFailure::new(format!(
            "encryptedDEKSource with keyID hash {key_id:?} expired at {expired} (current time is {})",
            text(clock)
        )))
    }
}

impl KmsPlugin {
    /// Prepares the connection to a plugin. Values can be read and written after the first
    /// [`check`](Self::check). Needs a tokio runtime.
    ///
    /// # Errors
    /// When the endpoint is invalid.
    pub fn new(settings: &Settings<'_>, metrics: Metrics) -> Result<Self, Error> {
        let Settings { name, endpoint, timeout } = settings;
        let client = Client::new(name, endpoint, *timeout, metrics.clone());
        Ok(KmsPlugin {
            name: (*name).to_owned(),
            client: client?,
            metrics,
            current: RwLock::default(),
            known: Mutex::default(),
            version: Mutex::default(),
            health: Mutex::new(Err(HealthError::Unchecked)),
        })
    }

    /// Checks the plugin periodically until it is dropped.
    pub async fn watch(plugin: std::sync::Weak<Self>) {
        loop {
            let Some(strong) = plugin.upgrade() else { return };
            let pause = if strong.health().is_ok() { HEALTHY_INTERVAL } else { UNHEALTHY_INTERVAL };
            drop(strong);
            tokio::time::sleep(pause).await;
            let Some(strong) = plugin.upgrade() else { return };
            strong.check().await;
        }
    }

    /// Returns the result of the last health check.
    pub fn health(&self) -> Result<(), HealthError> {
        lock(&self.health).clone()
    }

    /// Requests the plugin's status, and creates a new seed when its key has changed.
    pub async fn check(&self) {
        let outcome = self.check_status().await;
        if let Err(why) = &outcome {
            tracing::warn!(name = self.name, %why, "KMS plugin is unhealthy");
        }
        *lock(&self.health) = outcome;
    }

    async fn check_status(&self) -> Result<(), HealthError> {
        let name = &self.name;
        let status = self.client.status().await;
        let status = status.map_err(|source| HealthError::NoStatus { name: name.clone(), source })?;
        let mut failures = self.wrong_status(&status);
        match check_key_id(&status.key_id) {
            Err(why) => {
                self.metrics.invalid_key_reported(name, why.label());
                let (key_id, why) = (hash(&status.key_id), why.text());
                failures.push(TransformFailure::new(format!("got invalid KMSv2 KeyID hash {key_id:?}: {why}")));
            }
            Ok(()) => {
                self.metrics.key_reported(name, &status.key_id);
                failures.extend(self.renew(&status.key_id).await.err());
            }
        }
        match TransformFailure::aggregate(failures) {
            Some(source) => Err(HealthError::Unhealthy { name: name.clone(), source }),
            None => Ok(()),
        }
    }

    fn wrong_status(&self, status: &StatusResponse) -> Vec<TransformFailure> {
        let mut failures = Vec::new();
        if status.healthz != "ok" {
            failures.push(TransformFailure::new(format!("got unexpected healthz status: {}", status.healthz)));
        }
        let reported = &status.version;
        if !matches!(reported.as_str(), "v2" | "v2beta1") {
            failures.push(TransformFailure::new(format!("expected KMSv2 API version v2, got {reported}")));
            return failures;
        }
        let mut version = lock(&self.version);
        let first = version.get_or_insert_with(|| reported.clone());
        if first != reported {
            failures.push(TransformFailure::new(format!(
                "KMSv2 API version should not change after the initial status response version {first}, got {reported}"
            )));
        }
        failures
    }

    /// Extends the use of the seed while the plugin's key is the same; otherwise creates a new seed.
    /// After a failure the previous seed stays in use until it expires.
    async fn renew(&self, key_id: &str) -> Result<(), TransformFailure> {
        let expires = Instant::now() + WRITE_SEED_TTL;
        let before = self.current().ok();
        if let Some(before) = before.as_ref().filter(|before| before.source.key_id == key_id) {
            let (seed, source) = (before.seed.clone(), before.source.clone());
            self.set_current(Current { seed, source, expires });
            return Ok(());
        }
        let uid = Uuid::new_v4().to_string();
        let (seed, source) = self.make_seed(&uid).await?;
        if source.key_id != key_id {
            let (reported, used) = (hash(key_id), hash(&source.key_id));
            let in_use = before.map(|before| hash(&before.source.key_id)).unwrap_or_default();
            return Err(TransformFailure::new(format!(
                "failed to rotate DEK uid={uid:?}, statusKeyIDHash={reported:?}, encryptKeyIDHash={used:?}, stateKeyIDHash={in_use:?}"
            )));
        }
        tracing::info!(name = self.name, uid, key = hash(key_id), "values are encrypted with a new seed");
        self.add_known(&source, seed.clone());
        self.set_current(Current { seed, source, expires });
        Ok(())
    }

    async fn make_seed(&self, uid: &str) -> Result<(Arc<Seed>, Encrypted), TransformFailure> {
        let begun = std::time::Instant::now();
        let bytes = random::bytes::<LENGTH>();
        self.metrics.generated(begun.elapsed(), bytes.is_ok());
        let bytes = bytes?;
        let answer = self.client.encrypt(uid, &bytes).await;
        let answer = answer.map_err(|why| why.during("failed to encrypt DEK, error"))?;
        Ok((Arc::new(Seed::new(&bytes)?), Encrypted::seed(answer)?))
    }

    /// Returns the seed in use.
    pub(super) fn current(&self) -> Result<Arc<Current>, TransformFailure> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        current.ok_or_else(|| TransformFailure::new("got unexpected nil transformer"))
    }

    fn set_current(&self, current: Current) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(current));
    }

    /// Returns the transformer that reads values encrypted with a source. Calls the plugin on the first
    /// use of a source.
    pub(super) async fn reader(&self, source: &Encrypted) -> Result<Arc<dyn Transformer>, TransformFailure> {
        let known = lock(&self.known).find(source);
        if let Some(known) = known {
            return Ok(known);
        }
        self.metrics.missed();
        let uid = Uuid::new_v4().to_string();
        let plaintext = self.client.decrypt(&uid, source).await;
        let reader = source.reader(&plaintext.map_err(|why| why.during("failed to decrypt DEK, error"))?)?;
        self.add_known(source, reader.clone());
        Ok(reader)
    }

    fn add_known(&self, source: &Encrypted, reader: Arc<dyn Transformer>) {
        let count = lock(&self.known).add(source, reader);
        self.metrics.known_sources(&self.name, count);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
