//! Where a request carries a bearer token: the Authorization header or, since browsers cannot set that on a WebSocket, its subprotocols.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};

/// A subprotocol with this prefix is a token in base64url.
const PROTOCOL_PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// The token of a request, if it has one.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    from_authorization(headers).map(String::from).or_else(|| from_protocols(headers))
}

/// Removes the Authorization header and every subprotocol that is a token, valid or not.
pub(super) fn remove(headers: &mut HeaderMap) {
    headers.remove(header::AUTHORIZATION);
    if !protocols(headers).any(|protocol| protocol.starts_with(PROTOCOL_PREFIX)) {
        return;
    }
    let kept = protocols(headers).filter(|p| !p.starts_with(PROTOCOL_PREFIX)).collect::<Vec<_>>().join(",");
    match HeaderValue::from_str(&kept) {
        Ok(kept) if !kept.is_empty() => drop(headers.insert(header::SEC_WEBSOCKET_PROTOCOL, kept)),
        _ => drop(headers.remove(header::SEC_WEBSOCKET_PROTOCOL)),
    }
}

fn authorization(headers: &HeaderMap) -> &str {
    headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).unwrap_or("").trim()
}

fn from_authorization(headers: &HeaderMap) -> Option<&str> {
    let mut words = authorization(headers).split(' ');
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|token| is_bearer && !token.is_empty())
}

/// Whether there are two spaces between scheme and token: upstream sees an empty token then, and says so.
pub(super) fn has_extra_space(headers: &HeaderMap) -> bool {
    let mut words = authorization(headers).splitn(3, ' ');
    words.next().is_some_and(|w| w.eq_ignore_ascii_case("bearer")) && words.next() == Some("") && words.next().is_some()
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).map(str::trim)
}

/// The token among the subprotocols; there has to be another one, for the server to choose.
fn from_protocols(headers: &HeaderMap) -> Option<String> {
    let is_websocket = headers.get(header::UPGRADE).is_some_and(|v| v.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let mut tokens = protocols(headers).filter_map(|p| p.strip_prefix(PROTOCOL_PREFIX));
    let (first, second) = (tokens.next()?, tokens.next());
    let another = protocols(headers).any(|p| !p.is_empty() && !p.starts_with(PROTOCOL_PREFIX));
    if !is_websocket || second.is_some() || !another {
        return None;
    }
    String::from_utf8(URL_SAFE_NO_PAD.decode(first).ok()?).ok().filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(k, v)| (k.parse().unwrap(), HeaderValue::from_static(v))).collect()
    }

    #[test]
    fn authorization_headers() {
        for (value, expect) in [
            ("Bearer t", Some("t")),
            ("bearer t", Some("t")),
            (" BEARER t extra", Some("t")),
            ("Bearer", None),
            ("Bearer ", None),
            ("Bearer  t", None),
            ("Bearer\tt", None),
            ("Basic dDp0", None),
            ("t", None),
        ] {
            assert_eq!(token(&headers(&[("authorization", value)])).as_deref(), expect, "{value:?}");
            assert_eq!(has_extra_space(&headers(&[("authorization", value)])), value == "Bearer  t");
        }
    }

    #[test]
    fn websocket_subprotocols() {
        let protocol = "base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg, v4.channel.k8s.io";
        let mut h = headers(&[("upgrade", "websocket"), ("sec-websocket-protocol", protocol)]);
        assert_eq!(token(&h).as_deref(), Some("alicetoken"));
        remove(&mut h);
        assert_eq!(h["sec-websocket-protocol"], "v4.channel.k8s.io");
        assert_eq!(token(&headers(&[("sec-websocket-protocol", protocol)])), None);
        let alone = "base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg";
        let mut alone = headers(&[("upgrade", "websocket"), ("sec-websocket-protocol", alone)]);
        assert_eq!(token(&alone), None);
        remove(&mut alone);
        assert!(!alone.contains_key("sec-websocket-protocol"), "a token that does not count is removed as well");
    }
}
