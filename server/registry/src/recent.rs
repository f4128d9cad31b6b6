//! The objects that were decoded last.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storage::cache::Entry;

/// Maximum number of decoded objects per resource.
const MAX_DECODED: usize = 16;

type Decoded = (Arc<Entry>, Arc<dyn Any + Send + Sync>);

/// The objects decoded last, by their entries.
#[derive(Default)]
pub(crate) struct Recent(Mutex<VecDeque<Decoded>>);

impl Recent {
    pub fn get(&self, entry: &Arc<Entry>) -> Option<Arc<dyn Any + Send + Sync>> {
        let known = self.lock();
        known.iter().find(|(known, _)| Arc::ptr_eq(known, entry)).map(|(_, object)| object.clone())
    }

    pub fn keep(&self, entry: &Arc<Entry>, object: Arc<dyn Any + Send + Sync>) {
        let mut known = self.lock();
        known.retain(|(known, _)| known.key != entry.key);
        if known.len() == MAX_DECODED {
            known.pop_front();
        }
        known.push_back((entry.clone(), object));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Decoded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
