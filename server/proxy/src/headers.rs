//! Headers of requests and answers that are passed on: those of one connection only, and those that say where a request came from.

use std::sync::Arc;

use http::header::{CONNECTION, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{Extensions, HeaderMap};
use serving::listener::Peer;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Headers of one connection, which mean nothing on the next.
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

/// Headers by which a backend would decide for this server which pages of other origins may call it.
const CORS: [HeaderName; 4] = [
    http::header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    http::header::ACCESS_CONTROL_ALLOW_HEADERS,
    http::header::ACCESS_CONTROL_ALLOW_METHODS,
    http::header::ACCESS_CONTROL_ALLOW_ORIGIN,
];

/// Makes the headers of a request those of the next connection. One that is to change protocols still says to which.
pub fn start_anew(headers: &mut HeaderMap, upgrade: bool) {
    let protocol = headers.get(UPGRADE).cloned();
    remove_hop_by_hop(headers);
    if let (true, Some(protocol)) = (upgrade, protocol) {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, protocol);
    }
}

/// Leaves of an answer's headers what a client of this server may see.
pub fn clean_answer(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    for name in CORS {
        headers.remove(name);
    }
}

/// Says on whose behalf a request is made: its peer's, after those that earlier proxies named.
pub fn add_peer(headers: &mut HeaderMap, extensions: &Extensions) {
    let Some(peer) = extensions.get::<Arc<Peer>>().map(|peer| peer.address.ip()) else { return };
    let before = headers.get(FORWARDED_FOR).and_then(|v| v.to_str().ok()).map(|v| format!("{v}, "));
    set(headers, FORWARDED_FOR, &format!("{}{peer}", before.unwrap_or_default()));
}

/// Sets a header, when the text can stand in one.
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
