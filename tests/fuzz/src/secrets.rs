//! Signed tokens and encrypted values.

use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use authn::tokens::{Jws, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use storage::{
    CountResponse, Error, GetResponse, KeyRange, KeyValue, ListOptions, ListResponse, Op, Result, Revision, Store, Txn,
    TxnOutcome, Watch,
};

/// A key and a token that it signed.
fn signed() -> &'static (SigningKey, String) {
    static SIGNED: OnceLock<(SigningKey, String)> = OnceLock::new();
    SIGNED.get_or_init(|| {
        let pem = rcgen::KeyPair::generate().expect("a key can be made").serialize_pem();
        let key = SigningKey::from_pem(pem.as_bytes()).expect("the key can be read");
        let token = Jws::sign(&key, br#"{"sub":"system:serviceaccount:a:b","aud":["c"]}"#).expect("it signs");
        (key, token)
    })
}

/// Verifies JSON web tokens: only the token that the key signed is valid. A zero byte separates
/// header, payload and signature.
pub fn tokens(bytes: &[u8]) {
    let (key, genuine) = signed();
    let mut parts = bytes.split(|byte| *byte == 0).map(|part| URL_SAFE_NO_PAD.encode(part));
    let composed = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default).join(".");
    let (signed_part, signature) = genuine.rsplit_once('.').expect("a token has a signature");
    let payload = &composed[..composed.rfind('.').unwrap_or(0)];
    let borrowed = format!("{payload}.{signature}");
    let plain = String::from_utf8_lossy(bytes);
    for token in [composed.as_str(), borrowed.as_str(), plain.as_ref()] {
        let Some(jws) = Jws::parse(token) else { continue };
        let _ = jws.claims::<serde_json::Value>();
        if jws.is_signed_by(&key.public) {
            assert!(token.starts_with(signed_part), "a token that was never signed verifies");
        }
    }
}

/// Providers without a plugin: configuration, prefix of the values, and whether they are
/// authenticated. The keys are test keys.
const PROVIDERS: [(&str, &str, bool); 3] = [
    ("aesgcm: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODw==}]}", "k8s:enc:aesgcm:v1:a:", true),
    (
        "aescbc: {keys: [{name: b, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}",
        "k8s:enc:aescbc:v1:b:",
        false,
    ),
    (
        "secretbox: {keys: [{name: c, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}",
        "k8s:enc:secretbox:v1:c:",
        true,
    ),
];
/// The key of the value.
const KEY: &str = "/registry/secrets/default/a";

/// A store that writes with one provider and reads values of all.
struct Encrypted {
    prefix: &'static str,
    /// Whether a modified value cannot be decrypted.
    is_authenticated: bool,
    store: EncryptedStore,
    stored: Arc<OneValue>,
}

impl Encrypted {
    async fn open(writes_with: usize) -> Self {
        let (first, prefix, is_authenticated) = PROVIDERS[writes_with];
        let others = PROVIDERS.iter().enumerate().filter(|(at, _)| *at != writes_with).map(|(_, provider)| provider.0);
        let providers = std::iter::once(first).chain(others).map(|provider| format!("  - {provider}\n"));
        let configuration = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n\
             - resources: [secrets]\n  providers:\n{}  - identity: {{}}\n",
            providers.collect::<String>(),
        );
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("encryption.yaml");
        std::fs::write(&file, configuration).expect("the file can be written");
        let metrics = prometheus::Registry::new();
        let encryption = Encryption::open(&file, false, &metrics, "").await.expect("the configuration is valid");
        let keys = KeySpace::new("/registry", [("secrets".to_owned(), GroupResource::parse("secrets"))]);
        let stored = Arc::new(OneValue::default());
        let inner: Arc<dyn Store> = stored.clone();
        let store = EncryptedStore::new(inner, encryption, Arc::new(keys));
        Encrypted { prefix, is_authenticated, store, stored }
    }

    async fn read(&self) -> KeyValue {
        let read = self.store.get(KEY.as_bytes(), None).await.expect("the store answers");
        read.kv.expect("a value that cannot be decrypted is still listed")
    }
}

/// Reads a stored value, which is decrypted or reported as damaged.
///
/// A written value is decrypted; a modified one is not.
pub fn encrypted(bytes: &[u8]) {
    static STORES: OnceLock<(tokio::runtime::Runtime, Vec<Encrypted>)> = OnceLock::new();
    let (runtime, stores) = STORES.get_or_init(|| {
        let runtime = crate::requests::paused_runtime();
        let stores = (0..PROVIDERS.len()).map(|provider| runtime.block_on(Encrypted::open(provider))).collect();
        (runtime, stores)
    });
    runtime.block_on(async {
        for store in stores {
            read_forged(store, bytes).await;
            read_changed(store, bytes).await;
        }
    });
}

/// Reads bytes that no key has encrypted.
async fn read_forged(store: &Encrypted, bytes: &[u8]) {
    store.stored.set([store.prefix.as_bytes(), bytes].concat());
    let is_damaged = store.read().await.damage.is_some();
    assert!(is_damaged || !store.is_authenticated, "a value that was never encrypted is read");
    store.stored.set(bytes.to_vec());
    let read = store.read().await;
    let is_plain = !bytes.starts_with(b"k8s:enc:");
    assert!(!is_plain || (read.damage.is_none() && read.value == bytes), "a plain value is not read");
}

/// Reads encrypted bytes before and after the change of a byte. The first two bytes choose the byte
/// and its change.
async fn read_changed(store: &Encrypted, bytes: &[u8]) {
    let [place, change, value @ ..] = bytes else { return };
    store.store.commit(Txn::put(KEY, value.to_vec())).await.expect("the store takes the value");
    let written = store.stored.get();
    let read = store.read().await;
    assert!(written.starts_with(store.prefix.as_bytes()) && read.damage.is_none() && read.value == value);
    let mut changed = written.to_vec();
    let places = store.prefix.len()..changed.len();
    changed[places.start + usize::from(*place) % places.len()] ^= change;
    store.stored.set(changed);
    let is_damaged = store.read().await.damage.is_some();
    assert!(is_damaged || *change == 0 || !store.is_authenticated, "a value that was changed is read");
}

/// A store with one value.
#[derive(Default)]
struct OneValue(Mutex<Bytes>);

impl OneValue {
    fn get(&self) -> Bytes {
        self.0.lock().expect("no panic while locked").clone()
    }

    fn set(&self, value: impl Into<Bytes>) {
        *self.0.lock().expect("no panic while locked") = value.into();
    }
}

#[async_trait]
impl Store for OneValue {
    async fn get(&self, key: &[u8], _: Option<Revision>) -> Result<GetResponse> {
        let kv = KeyValue { key: key.to_vec().into(), value: self.get(), mod_revision: 2, ..KeyValue::default() };
        Ok(GetResponse { kv: Some(kv), revision: 2 })
    }
    async fn list(&self, _: KeyRange, _: ListOptions) -> Result<ListResponse> {
        Err(Error::Closed)
    }
    async fn count(&self, _: KeyRange) -> Result<CountResponse> {
        Err(Error::Closed)
    }
    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        if let Op::Put { value, .. } = txn.op {
            self.set(value);
        }
        Ok(TxnOutcome::Committed { revision: 2, deleted: None })
    }
    async fn watch(&self, _: KeyRange, _: Option<Revision>) -> Result<Watch> {
        Err(Error::Closed)
    }
    async fn request_progress(&self) -> Result<()> {
        Err(Error::Closed)
    }
    async fn compact(&self, _: Revision) -> Result<()> {
        Err(Error::Closed)
    }
    async fn current_revision(&self) -> Result<Revision> {
        Err(Error::Closed)
    }
    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
