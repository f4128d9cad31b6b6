//! Continue tokens, and responses of backends that this server forwards to clients.

/// Continues a list with any token: the list stays within the requested range.
pub fn continue_tokens(bytes: &[u8]) {
    if let Ok(token) = std::str::from_utf8(bytes) {
        registry::fuzzing::continue_token(token);
    }
    // The token's content, without its base64 encoding.
    registry::fuzzing::continue_content(bytes);
}

/// Parses SPDY frames of a kubelet, in response to the streams of a command.
pub fn spdy(bytes: &[u8]) {
    paused_runtime().block_on(proxy::fuzzing::read_spdy(bytes));
}

/// Rewrites the links of a page in chunks, whose length is the first byte.
///
/// The result equals that of a single chunk, and everything but links is unchanged.
pub fn html(bytes: &[u8]) {
    let Some((length, page)) = bytes.split_first() else { return };
    let rewritten = proxy::fuzzing::rewrite_page(page, usize::from(*length));
    let at_once = proxy::fuzzing::rewrite_page(page, page.len());
    assert_eq!(String::from_utf8_lossy(&rewritten), String::from_utf8_lossy(&at_once), "pieces change the page");
    // A rewritten address has a slash, or a character reference for one.
    assert!(page.contains(&b'/') || page.contains(&b'&') || rewritten == page, "a page without links is changed");
}

/// Returns a runtime whose clock jumps to the next timer when every task waits.
pub(crate) fn paused_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts")
}
