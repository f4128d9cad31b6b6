//! Entry points of the fuzz targets in `tests/fuzz`: continue tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use storage::KeyRange;

use crate::list::{Continue, starting_at};

/// Continues the list of one namespace with `token`; panics when the list leaves the namespace.
pub fn continue_token(token: &str) {
    const PREFIX: &str = "/registry/pods/team-a/";
    let namespace = KeyRange::prefix(PREFIX);
    let Ok(token) = Continue::decode(token) else { return };
    let rest = starting_at(&namespace, Some(format!("{PREFIX}{}", token.start.trim_start_matches('/'))));
    assert!(rest.start() >= namespace.start() && rest.end() == namespace.end(), "the token widens the list");
    let again = Continue::decode(&Continue::encode(token.revision, token.start.clone()));
    assert!(again.is_ok_and(|again| again.start == token.start), "a token that the server made is not read");
}

/// Continues a list with the content of a token before its encoding.
pub fn continue_content(content: &[u8]) {
    continue_token(&URL_SAFE_NO_PAD.encode(content));
}
