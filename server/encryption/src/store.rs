//! A store that encrypts values on writes and decrypts them on reads.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use storage::{
    CountResponse, Error, Event, EventKind, GetResponse, KeyRange, KeyValue, ListOptions, ListResponse, Op, Result,
    Revision, Store, Txn, TxnOutcome, Watch, WatchBatch,
};

use crate::encryption::Encryption;
use crate::failure::TransformFailure;
use crate::identity::{ENCRYPTED, REFUSAL};
use crate::resources::KeySpace;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

/// Wraps a store with encryption. Undecryptable values are returned as damaged, so that their keys stay
/// visible.
pub struct EncryptedStore {
    inner: Arc<dyn Store>,
    values: Arc<Values>,
}

/// Encryption and decryption of values.
struct Values {
    encryption: Arc<Encryption>,
    keys: Arc<KeySpace>,
}

impl EncryptedStore {
    /// Wraps `inner`. `encryption` has the providers of each resource, and `keys` the resource of each key.
    pub fn new(inner: Arc<dyn Store>, encryption: Arc<Encryption>, keys: Arc<KeySpace>) -> Self {
        EncryptedStore { inner, values: Arc::new(Values { encryption, keys }) }
    }
}

#[async_trait]
impl Store for EncryptedStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        let GetResponse { kv, revision } = self.inner.get(key, revision).await?;
        Ok(GetResponse { kv: self.values.decrypt_any(kv).await, revision })
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        let mut response = self.inner.list(range, options).await?;
        for kv in &mut response.kvs {
            *kv = self.values.decrypt(std::mem::take(kv)).await;
        }
        Ok(response)
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.inner.count(range).await
    }

    async fn commit(&self, mut txn: Txn) -> Result<TxnOutcome> {
        if let Op::Put { value, .. } = &mut txn.op {
            *value = self.values.encrypt(&txn.key, std::mem::take(value))?;
        }
        Ok(match self.inner.commit(txn).await? {
            TxnOutcome::Committed { revision, deleted } => {
                TxnOutcome::Committed { revision, deleted: self.values.decrypt_any(deleted).await }
            }
            TxnOutcome::Conflict { revision, current } => {
                TxnOutcome::Conflict { revision, current: self.values.decrypt_any(current).await }
            }
        })
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        let (watch, values) = (self.inner.watch(range, from).await?, self.values.clone());
        Ok(Watch::new(stream::unfold((watch, values), |(mut watch, values)| async {
            let batch = match watch.next().await? {
                Ok(batch) => Ok(values.decrypt_batch(batch).await),
                Err(error) => Err(error),
            };
            Some((batch, (watch, values)))
        })))
    }

    async fn request_progress(&self) -> Result<()> {
        self.inner.request_progress().await
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        self.inner.compact(revision).await
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.inner.current_revision().await
    }

    fn check_writable(&self) -> Result<()> {
        self.inner.check_writable()
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

impl Values {
    /// Returns the resource of a key and its transformer; `None` when values of the key are not encrypted.
    fn transformer(&self, key: &[u8]) -> Option<(Cow<'_, str>, Arc<dyn Transformer>)> {
        let resource = self.keys.resource(key)?;
        let transformer = self.encryption.loaded().rules.find(&resource)?.clone();
        Some((resource, transformer))
    }

    /// Encrypts a value for storage.
    fn encrypt(&self, key: &Bytes, value: Bytes) -> Result<Bytes> {
        let Some((resource, transformer)) = self.transformer(key) else { return Ok(value) };
        let stored = transformer.write(&value, ValueContext { key, resource: &resource });
        let refused = |why: TransformFailure| {
            let key = String::from_utf8_lossy(key).into_owned();
            Error::Untransformable { key, reason: why.to_string() }
        };
        stored.map(Bytes::from).map_err(refused)
    }

    async fn decrypt(&self, mut kv: KeyValue) -> KeyValue {
        let Some((resource, transformer)) = self.transformer(&kv.key) else {
            kv.damage = kv.value.starts_with(ENCRYPTED).then(|| REFUSAL.into());
            return kv;
        };
        match transformer.read(&kv.value, ValueContext { key: &kv.key, resource: &resource }).await {
            Ok(DecryptedValue { value, stale }) => KeyValue { value: value.into(), stale, ..kv },
            Err(why) => KeyValue { damage: Some(why.to_string().into()), ..kv },
        }
    }

    async fn decrypt_any(&self, kv: Option<KeyValue>) -> Option<KeyValue> {
        match kv {
            Some(kv) => Some(self.decrypt(kv).await),
            None => None,
        }
    }

    async fn decrypt_batch(&self, batch: WatchBatch) -> WatchBatch {
        let WatchBatch::Events { mut events, revision } = batch else { return batch };
        for event in &mut events {
            if !self.leaves_alone(event) {
                *event = Arc::new(self.decrypt_event(event).await);
            }
        }
        WatchBatch::Events { events, revision }
    }

    /// Returns whether an event needs no decryption, as most do.
    fn leaves_alone(&self, event: &Event) -> bool {
        let mut values = std::iter::once(&event.kv).chain(&event.prev).map(|kv| &kv.value);
        !values.any(|value| value.starts_with(ENCRYPTED)) && self.transformer(&event.kv.key).is_none()
    }

    async fn decrypt_event(&self, event: &Event) -> Event {
        let kv = match event.kind {
            EventKind::Put => self.decrypt(event.kv.clone()).await,
            EventKind::Delete => event.kv.clone(),
        };
        Event { kind: event.kind, kv, prev: self.decrypt_any(event.prev.clone()).await }
    }
}
