//! Headers of proxied requests and responses: hop-by-hop headers, CORS headers and
//! `X-Forwarded-For`.

use std::sync::Arc;

use http::header::{CONNECTION, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{Extensions, HeaderMap};
use request::Peer;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Hop-by-hop headers, which apply to a single connection.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    http::header::PROXY_AUTHENTICATE,
    http::header::PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// CORS headers of a backend, which would apply to this server's origin.
const CORS: [HeaderName; 4] = [
    http::header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    http::header::ACCESS_CONTROL_ALLOW_HEADERS,
    http::header::ACCESS_CONTROL_ALLOW_METHODS,
    http::header::ACCESS_CONTROL_ALLOW_ORIGIN,
];

/// Prepares request headers for the next connection. An upgrade request keeps its `Upgrade` header.
pub fn prepare_for_next_hop(headers: &mut HeaderMap, upgrade: bool) {
    let protocol = headers.get(UPGRADE).cloned();
    remove_hop_by_hop(headers);
    if let (true, Some(protocol)) = (upgrade, protocol) {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, protocol);
    }
}

/// Removes response headers that must not reach clients.
pub fn clean_response(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in CORS {
        headers.remove(name);
    }
}

/// Appends the address of the client to `X-Forwarded-For`.
pub fn add_forwarded_for(headers: &mut HeaderMap, extensions: &Extensions) {
    let Some(peer) = extensions.get::<Arc<Peer>>().map(|peer| peer.address.ip()) else { return };
    let before = headers.get(FORWARDED_FOR).and_then(|v| v.to_str().ok()).map(|v| format!("{v}, "));
    set(headers, FORWARDED_FOR, &format!("{}{peer}", before.unwrap_or_default()));
}

/// Sets a header, if the value is valid.
pub fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}
