//! The error of this crate.

use std::borrow::Cow;

use scalar::go_text::quote;

/// Why a text is rejected. The texts are those that clients of upstream see.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A malformed URL, worded as Go's `url.Error`.
    #[error("parse {}: {why}", quote(.url))]
    Url {
        /// The URL.
        url: String,
        /// Go's reason.
        why: Cow<'static, str>,
    },
}

impl Error {
    /// Makes the error of a malformed URL.
    pub(crate) fn url(url: &str) -> impl FnOnce(Cow<'static, str>) -> Self {
        move |why| Error::Url { url: url.to_owned(), why }
    }
}
