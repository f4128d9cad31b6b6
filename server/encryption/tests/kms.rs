//! A KMS plugin in its own process, behind the watch cache: reads while it runs, is stopped, and has
//! another key.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod kms_plugin;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use kms_plugin::Plugin;
use prometheus::Registry;
use storage::cache::{Cache, CacheOptions, Description, Entry, EntryDecoder, ResourceCache};
use storage::{EmbeddedStore, KeyValue, Revision, Store, Txn};

#[test]
#[ignore = "the plugin process of the other tests"]
fn serve_kms_plugin() {
    kms_plugin::serve_if_requested();
}

/// Decodes values unchanged.
struct Plain;

impl EntryDecoder for Plain {
    fn describe(&self, kv: &KeyValue) -> Description {
        Description { object: kv.value.clone(), ..Description::default() }
    }

    fn at_revision(&self, entry: &Entry, _: Revision) -> Description {
        Description { object: entry.object.clone(), ..Description::default() }
    }
}

struct Running {
    kept: Arc<EmbeddedStore>,
    store: Arc<EncryptedStore>,
    encryption: Arc<Encryption>,
    registry: Registry,
    cache: Arc<Cache>,
    secrets: Arc<ResourceCache>,
}

/// The reason why a value cannot be read.
#[derive(Debug, PartialEq)]
struct Damaged(String);

const SECRET: &str = "/registry/secrets/default/a";

impl Running {
    async fn start(folder: &Path) -> Running {
        let file = folder.join("encryption.yaml");
        let (endpoint, registry) = (Plugin::endpoint(folder), Registry::new());
        let kms = format!("{{kms: {{apiVersion: v2, name: test, endpoint: '{endpoint}'}}}}");
        let rule = format!("{{resources: [secrets], providers: [{kms}, {{identity: {{}}}}]}}");
        let head = "apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration";
        std::fs::write(&file, format!("{{{head}, resources: [{rule}]}}")).unwrap();
        let kept = Arc::new(EmbeddedStore::open(folder.join("store")).unwrap());
        let encryption = Encryption::open(&file, false, &registry, "apiserver-a").await.unwrap();
        let keys = KeySpace::new("/registry", [("secrets".to_owned(), GroupResource::parse("secrets"))]);
        let store = Arc::new(EncryptedStore::new(kept.clone(), encryption.clone(), Arc::new(keys)));
        let options = CacheOptions { prefix: "/registry/".into(), encodings: 0, queue: 100 };
        let cache = Cache::new(store.clone(), options);
        cache.start().await.unwrap();
        let secrets = cache.resource(&Bytes::from("/registry/secrets/"), || Arc::new(Plain));
        Running { kept, store, encryption, registry, cache, secrets }
    }

    async fn put(&self, value: &'static str) -> storage::Result<()> {
        let revision = self.store.commit(Txn::put(SECRET, value)).await?.revision();
        assert!(self.cache.wait_for(revision, Duration::from_secs(30)).await);
        Ok(())
    }

    /// Returns the secret in the cache, or why it cannot be read.
    fn cached(&self) -> Result<Bytes, Damaged> {
        let entry = self.secrets.get(SECRET.as_bytes()).unwrap();
        entry.damage.as_ref().map_or(Ok(entry.object.clone()), |damage| Err(Damaged(damage.why().to_owned())))
    }

    async fn is_stale(&self) -> bool {
        self.store.get(SECRET.as_bytes(), None).await.unwrap().kv.unwrap().stale
    }

    /// Returns the sum of a metric's samples with this label value.
    fn metric(&self, name: &str, label: &str) -> f64 {
        let family = self.registry.gather().into_iter().find(|family| family.name() == name);
        let metrics = family.map(|family| family.get_metric().to_vec()).unwrap_or_default();
        let labelled = metrics.iter().filter(|m| m.get_label().iter().any(|pair| pair.value() == label));
        labelled.map(|m| m.get_counter().get_value() + m.get_histogram().get_sample_count() as f64).sum()
    }

    async fn stop(self) {
        self.kept.close().await.unwrap();
    }
}

/// Waits until a condition is true.
async fn until(is: impl AsyncFn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while !is().await {
        assert!(tokio::time::Instant::now() < deadline, "the condition did not become true");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_survive_stop_restart_and_key_change_of_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(folder.path(), "key-1");
    let server = Running::start(folder.path()).await;
    server.put("in the clear").await.unwrap();
    assert_eq!(server.cached(), Ok("in the clear".into()));
    server.encryption.health().unwrap();
    let kept = server.kept.get(SECRET.as_bytes(), None).await.unwrap().kv.unwrap().value;
    assert!(kept.starts_with(b"k8s:enc:kms:v2:test:"), "{}", kept.escape_ascii());
    assert!(!kept.windows(9).any(|part| part == b"the clear"));
    assert_eq!(server.metric("apiserver_storage_transformation_operations_total", "to_storage"), 1.0);
    assert_eq!(
        server
            .metric("apiserver_envelope_encryption_kms_operations_latency_seconds", "/v2.KeyManagementService/Encrypt"),
        1.0
    );

    // Decrypted values and the seed in use stay usable without the plugin.
    drop(plugin);
    server.put("written without it").await.unwrap();
    assert_eq!(server.cached(), Ok("written without it".into()));
    server.stop().await;

    // A server that starts without the plugin serves unencrypted values, reports the failure, and recovers.
    let server = Running::start(folder.path()).await;
    assert_eq!(server.cached(), Err(Damaged("got unexpected nil transformer".into())));
    let why = server.put("refused").await.unwrap_err().to_string();
    assert_eq!(why, "got unexpected nil transformer");
    let why = server.encryption.health().unwrap_err().to_string();
    let expect = "kms-provider-0: failed to perform status section of the healthz check for KMS Provider test, error: rpc error: code = Unavailable";
    assert!(why.starts_with(expect), "{why}");
    let plugin = Plugin::start(folder.path(), "key-1");
    until(async || server.encryption.health().is_ok() && server.cached().is_ok()).await;
    assert_eq!(server.cached(), Ok("written without it".into()));
    assert!(!server.is_stale().await);
    server.stop().await;

    // After a key change, values of the old key are stale.
    drop(plugin);
    let _plugin = Plugin::start(folder.path(), "key-2");
    let server = Running::start(folder.path()).await;
    assert_eq!((server.cached(), server.is_stale().await), (Ok("written without it".into()), true));
    server.put("written again").await.unwrap();
    assert!(!server.is_stale().await);
    server.stop().await;
}
