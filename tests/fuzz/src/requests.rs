//! Request lines, continue tokens, and what backends send to clients through this server.

use http::{Method, Uri};
use serving::RequestInfo;

/// The line that a request begins with.
pub fn requests(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (method, target) = text.split_once(' ').unwrap_or(("GET", text));
    let (Ok(method), Ok(uri)) = (method.parse::<Method>(), target.parse::<Uri>()) else { return };
    if let Ok(info) = RequestInfo::new(&method, &uri) {
        assert!(!info.is_resource_request || info.depth > 0);
    }
}

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

/// A page of a backend whose links are rewritten, in pieces whose length is the first byte.
pub fn html(bytes: &[u8]) {
    let Some((length, page)) = bytes.split_first() else { return };
    let rewritten = proxy::fuzzing::rewrite_page(page, usize::from(*length));
    assert!(rewritten.len() >= page.len() / 2, "bytes of the page are missing");
}

/// A runtime whose clock jumps to the next timer when every task waits.
pub(crate) fn paused_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime starts")
}
