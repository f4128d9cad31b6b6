//! Requests for another protocol (upstream: `httpstream`, `wsstream`).

use http::HeaderMap;
use http::header::{CONNECTION, HeaderValue, UPGRADE};

/// Whether a request is a protocol upgrade (upstream: `httpstream.IsUpgradeRequest`).
pub fn wants_upgrade(headers: &HeaderMap) -> bool {
    let upgrades = |value: &HeaderValue| value.to_str().is_ok_and(|v| v.to_ascii_lowercase().contains("upgrade"));
    headers.get_all(CONNECTION).iter().any(upgrades) && headers.contains_key(UPGRADE)
}

/// Whether a request is a WebSocket upgrade (upstream: `IsWebSocketRequest`).
pub fn wants_websocket(headers: &HeaderMap) -> bool {
    let wants_socket = headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    wants_socket && wants_upgrade(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn websocket_upgrade_requires_both_headers() {
        let check = |upgrade, connection, expect| {
            let headers = [(UPGRADE, upgrade), (CONNECTION, connection)];
            let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value))).into_iter().collect();
            assert_eq!(wants_websocket(&headers), expect);
        };
        check("WebSocket", "UPGRADE", true);
        check("websocket, foo", "upgrade", false);
        check("websocket", "keep-alive", false);
        check("", "upgrade", false);
    }
}
