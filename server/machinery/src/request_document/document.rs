//! The document of one request, decoded on demand.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// The document of one request. It is decoded once, and only if the request has errors, or if empty
/// values in it matter. Clones share it.
#[derive(Clone, Default)]
pub struct RequestDocument(Arc<Mutex<LazyDocument>>);

#[derive(Default)]
pub(super) enum LazyDocument {
    #[default]
    None,
    Unread(Box<dyn FnOnce() -> Option<Value> + Send>),
    Read(Value),
}

impl LazyDocument {
    pub(super) fn read(&mut self) -> Option<&Value> {
        if let LazyDocument::Unread(_) = self
            && let LazyDocument::Unread(read) = std::mem::take(self)
            && let Some(value) = read()
        {
            *self = LazyDocument::Read(value);
        }
        match self {
            LazyDocument::Read(value) => Some(value),
            _ => None,
        }
    }
}

impl RequestDocument {
    /// Sets the function that decodes the document.
    pub fn set(&self, read: impl FnOnce() -> Option<Value> + Send + 'static) {
        *self.document() = LazyDocument::Unread(Box::new(read));
    }

    pub(super) fn document(&self) -> MutexGuard<'_, LazyDocument> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
