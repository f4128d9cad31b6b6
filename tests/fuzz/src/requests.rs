//! Continue tokens, and what backends send to clients through this server.

/// Continue tokens: whatever a token contains, a list goes on within the range that was asked for.
pub fn continue_tokens(bytes: &[u8]) {
    if let Ok(token) = std::str::from_utf8(bytes) {
        registry::fuzzing::continue_token(token);
    }
    // The token's content, without the base64 around it.
    registry::fuzzing::continue_content(bytes);
}

/// Frames that a kubelet sends over SPDY, in answer to the streams of a command.
pub fn spdy(bytes: &[u8]) {
    paused_runtime().block_on(proxy::fuzzing::read_spdy(bytes));
}

/// A page of a backend whose links are rewritten, in pieces whose length is the first byte: as in one piece, and all but links stays.
pub fn html(bytes: &[u8]) {
    let Some((length, page)) = bytes.split_first() else { return };
    let rewritten = proxy::fuzzing::rewrite_page(page, usize::from(*length));
    let at_once = proxy::fuzzing::rewrite_page(page, page.len());
    assert_eq!(String::from_utf8_lossy(&rewritten), String::from_utf8_lossy(&at_once), "pieces change the page");
    // An address that is rewritten has a slash, or a character reference for one.
    assert!(page.contains(&b'/') || page.contains(&b'&') || rewritten == page, "a page without links is changed");
}

/// A runtime whose clock jumps to the next timer when every task waits.
pub(crate) fn paused_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts")
}
