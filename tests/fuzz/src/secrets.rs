//! Signed tokens and encrypted values.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use encryption::{EncryptedStore, Encryption, GroupResource, KeySpace};
use serving::tokens::{Jws, SigningKey};
use storage::{
    CountResponse, Error, GetResponse, KeyRange, KeyValue, ListOptions, ListResponse, Result, Revision, Store, Txn,
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

/// JSON web tokens: only the token that the key signed verifies. A zero byte parts header, payload and signature.
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

/// Every provider whose values are read without a plugin; the keys are of this test.
const CONFIGURATION: &str = r#"
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODw==}]}
  - aescbc: {keys: [{name: b, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - secretbox: {keys: [{name: c, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - identity: {}
"#;

/// A stored value, perhaps encrypted: it is read, or reported as damaged.
pub fn encrypted(bytes: &[u8]) {
    static STORE: OnceLock<(tokio::runtime::Runtime, EncryptedStore, Arc<OneValue>)> = OnceLock::new();
    let (runtime, store, value) = STORE.get_or_init(|| {
        let runtime = crate::requests::paused_runtime();
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("encryption.yaml");
        std::fs::write(&file, CONFIGURATION).expect("the file can be written");
        let registry = prometheus::Registry::new();
        let encryption = runtime.block_on(Encryption::open(&file, false, &registry, "")).expect("it is right");
        let keys = KeySpace::new("/registry", [("/secrets/".to_owned(), GroupResource::parse("secrets"))]);
        let value = Arc::new(OneValue::default());
        let inner: Arc<dyn Store> = value.clone();
        (runtime, EncryptedStore::new(inner, encryption, Arc::new(keys)), value)
    });
    for prefix in ["", "k8s:enc:aesgcm:v1:a:", "k8s:enc:aescbc:v1:b:", "k8s:enc:secretbox:v1:c:", "k8s:enc:kms:v2:"] {
        let stored = [prefix.as_bytes(), bytes].concat();
        *value.0.lock().expect("no panic while locked") = stored.into();
        let read = runtime.block_on(store.get(b"/registry/secrets/default/a", None)).expect("the store answers");
        assert!(read.kv.is_some(), "a value that cannot be decrypted is still listed");
    }
}

/// A store of one value.
#[derive(Default)]
struct OneValue(std::sync::Mutex<Bytes>);

#[async_trait]
impl Store for OneValue {
    async fn get(&self, key: &[u8], _: Option<Revision>) -> Result<GetResponse> {
        let value = self.0.lock().expect("no panic while locked").clone();
        let kv = KeyValue { key: key.to_vec().into(), value, mod_revision: 2, ..KeyValue::default() };
        Ok(GetResponse { kv: Some(kv), revision: 2 })
    }
    async fn list(&self, _: KeyRange, _: ListOptions) -> Result<ListResponse> {
        Err(Error::Closed)
    }
    async fn count(&self, _: KeyRange) -> Result<CountResponse> {
        Err(Error::Closed)
    }
    async fn commit(&self, _: Txn) -> Result<TxnOutcome> {
        Err(Error::Closed)
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
