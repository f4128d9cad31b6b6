//! Credentials of a client in the `Authorization` header.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderValue;

/// How long the token of a file is cached. Kubelets rotate tokens of pods long before they expire
/// (client-go: `NewCachedFileTokenSource`).
const CACHE_TTL: Duration = Duration::from_secs(60);

/// A fixed header, or a file with a token. Clones share the cached token.
#[derive(Clone)]
pub(crate) enum Authorization {
    Fixed(HeaderValue),
    File(Arc<RotatedTokenFile>),
}

/// A file with a token that is rotated.
pub(crate) struct RotatedTokenFile {
    path: PathBuf,
    last: Mutex<Option<(Instant, HeaderValue)>>,
}

impl Authorization {
    /// Creates a fixed header.
    pub fn fixed(text: &str) -> Option<Self> {
        sensitive(text).map(Authorization::Fixed)
    }

    /// Creates a header from the token of a file.
    pub fn file(path: PathBuf) -> Self {
        Authorization::File(Arc::new(RotatedTokenFile { path, last: Mutex::default() }))
    }

    /// Returns the current header; nothing if there is no token.
    pub fn header(&self) -> Option<HeaderValue> {
        match self {
            Authorization::Fixed(value) => Some(value.clone()),
            Authorization::File(file) => file.header(),
        }
    }
}

impl RotatedTokenFile {
    fn header(&self) -> Option<HeaderValue> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, value)) = &*last
            && read.elapsed() < CACHE_TTL
        {
            return Some(value.clone());
        }
        // The file is small. If it is unreadable, the cached token stays in use.
        let text = std::fs::read_to_string(&self.path).ok();
        if let Some(value) = text.and_then(|text| sensitive(&format!("Bearer {}", text.trim()))) {
            *last = Some((Instant::now(), value));
        }
        last.as_ref().map(|(_, value)| value.clone())
    }
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
