//! Conversions in progress, shared between readers of the same entry. Otherwise each watcher of an
//! object would call the webhook for each of its changes.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use machinery::status::Status;
use storage::cache::Entry;

/// The future of one batch of conversions. It is dropped with its last reader.
type Batch = Shared<Converting>;
type Converting = BoxFuture<'static, Result<Arc<[Arc<Entry>]>, Status>>;

/// An entry with a conversion in progress. The key is its address; the weak reference prevents
/// reuse of that address.
struct Pending {
    _entry: Weak<Entry>,
    batch: WeakShared<Converting>,
    index: usize,
}

/// The conversions in progress, by address of the entry; see the module documentation.
#[derive(Clone, Default)]
pub struct PendingConversions(Arc<Mutex<HashMap<usize, Pending>>>);

impl PendingConversions {
    /// Returns the converted entries, in order. `convert` gets the entries that have no conversion
    /// in progress, each once.
    ///
    /// # Errors
    /// Returns the error of a conversion that includes one of the entries.
    pub async fn of<F>(
        &self,
        entries: &[Arc<Entry>],
        convert: impl FnOnce(Vec<Arc<Entry>>) -> F,
    ) -> Result<Vec<Arc<Entry>>, Status>
    where
        F: Future<Output = Result<Vec<Arc<Entry>>, Status>> + Send + 'static,
    {
        let mut converted = Vec::with_capacity(entries.len());
        for (batch, index) in self.find_or_begin(entries, convert) {
            converted.extend(batch.await?.get(index).cloned());
        }
        Ok(converted)
    }

    /// Returns the batch of each entry and its index there.
    fn find_or_begin<F>(
        &self,
        entries: &[Arc<Entry>],
        convert: impl FnOnce(Vec<Arc<Entry>>) -> F,
    ) -> Vec<(Batch, usize)>
    where
        F: Future<Output = Result<Vec<Arc<Entry>>, Status>> + Send + 'static,
    {
        let mut pending = self.lock();
        pending.retain(|_, known| known.batch.upgrade().is_some());
        let mut new: Vec<Arc<Entry>> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for entry in entries {
            let address = Arc::as_ptr(entry).addr();
            if let (false, Slot::Vacant(place)) = (pending.contains_key(&address), places.entry(address)) {
                place.insert(new.len());
                new.push(entry.clone());
            }
        }
        let conversion = convert(new.clone());
        let batch: Batch = async move { conversion.await.map(Arc::from) }.boxed().shared();
        let mut found = Vec::with_capacity(entries.len());
        for entry in entries {
            let address = Arc::as_ptr(entry).addr();
            let known = pending.get(&address).and_then(|known| Some((known.batch.upgrade()?, known.index)));
            found.push(known.unwrap_or_else(|| (batch.clone(), places.get(&address).copied().unwrap_or(usize::MAX))));
        }
        for (index, entry) in new.iter().enumerate() {
            let Some(batch) = batch.downgrade() else { break };
            pending.insert(Arc::as_ptr(entry).addr(), Pending { _entry: Arc::downgrade(entry), batch, index });
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Pending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    fn entry(text: &'static str) -> Arc<Entry> {
        Arc::new(Entry::detached(text.into()))
    }

    fn texts(entries: &[Arc<Entry>]) -> Vec<&str> {
        entries.iter().map(|entry| std::str::from_utf8(&entry.object).expect("a text")).collect()
    }

    #[tokio::test]
    async fn concurrent_readers_share_a_conversion() {
        let (conversions, converted, go) =
            (PendingConversions::default(), Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let convert = |entries: Vec<Arc<Entry>>| {
            converted.fetch_add(entries.len(), Ordering::Relaxed);
            let go = go.clone();
            async move {
                go.notified().await;
                Ok(entries)
            }
        };
        let (a, b) = (entry("a"), entry("b"));
        let (first, second) = ([a.clone(), a.clone()], [b.clone(), a.clone()]);
        let (mut first, mut second) =
            (Box::pin(conversions.of(&first, convert)), Box::pin(conversions.of(&second, convert)));
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        // Dropping the first reader does not cancel the batch of the second.
        drop(first);
        go.notify_waiters();
        let second = second.await.expect("entries");
        assert_eq!((texts(&second), converted.load(Ordering::Relaxed)), (vec!["b", "a"], 2));

        // A completed conversion runs again, also after a failure.
        let third = conversions.of(std::slice::from_ref(&a), |_| async { Err(Status::internal("no")) });
        assert_eq!(third.await.err(), Some(Status::internal("no")));
        let fourth = conversions.of(std::slice::from_ref(&a), |entries| async { Ok(entries) });
        assert_eq!(texts(&fourth.await.expect("entries")), ["a"]);
    }
}
