//! What a client shows of itself in `Authorization`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderValue;

/// For how long a token of a file is sent before the file is read again: kubelets replace tokens of pods long before they expire
/// (client-go: `NewCachedFileTokenSource`).
const KEPT: Duration = Duration::from_secs(60);

/// A header, or the file in which its token stands. Clones share what was read.
#[derive(Clone)]
pub(crate) enum Authorization {
    Fixed(HeaderValue),
    File(Arc<TokenFile>),
}

/// A file with a token that somebody replaces now and then.
pub(crate) struct TokenFile {
    path: PathBuf,
    last: Mutex<Option<(Instant, HeaderValue)>>,
}

impl Authorization {
    /// A header that stays.
    pub fn fixed(text: &str) -> Option<Self> {
        sensitive(text).map(Authorization::Fixed)
    }

    /// The token of a file.
    pub fn file(path: PathBuf) -> Self {
        Authorization::File(Arc::new(TokenFile { path, last: Mutex::default() }))
    }

    /// What is sent now; nothing while there is no token.
    pub fn header(&self) -> Option<HeaderValue> {
        match self {
            Authorization::Fixed(value) => Some(value.clone()),
            Authorization::File(file) => file.header(),
        }
    }
}

impl TokenFile {
    fn header(&self) -> Option<HeaderValue> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read, value)) = &*last
            && read.elapsed() < KEPT
        {
            return Some(value.clone());
        }
        // A small file; while it cannot be read, the token that was there counts on.
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
