//! Bearer tokens of a request: in the Authorization header or in a WebSocket subprotocol.
//!
//! Browsers cannot set the Authorization header of a WebSocket request, so they send the token as a subprotocol.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};

use request::upgrade::wants_websocket;

use crate::Error;

/// The prefix of a subprotocol that is a token in base64url.
const PROTOCOL_PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// The bearer tokens of a request, in the order in which they are tried. An item is an error if the token is malformed.
pub(crate) fn tokens(headers: &HeaderMap) -> impl Iterator<Item = Result<String, Error>> {
    let first = from_authorization(headers).map(|token| Ok(token.to_owned()));
    first.into_iter().chain(std::iter::once_with(|| from_protocols(headers).transpose()).flatten())
}

/// Removes the Authorization header and every token subprotocol, valid or not.
pub(crate) fn remove(headers: &mut HeaderMap) {
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

/// Whether two spaces separate scheme and token. Upstream parses an empty token then, and adds a warning.
pub(crate) fn has_extra_space(headers: &HeaderMap) -> bool {
    let mut words = authorization(headers).splitn(3, ' ');
    words.next().is_some_and(|w| w.eq_ignore_ascii_case("bearer")) && words.next() == Some("") && words.next().is_some()
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).map(str::trim)
}

/// Returns the token in the subprotocols. A second subprotocol is required, because the server has to select one.
///
/// # Errors
/// Malformed subprotocols, with the texts of upstream's `ProtocolAuthenticator`.
fn from_protocols(headers: &HeaderMap) -> Result<Option<String>, Error> {
    if !wants_websocket(headers) {
        return Ok(None);
    }
    let mut tokens = protocols(headers).filter_map(|p| p.strip_prefix(PROTOCOL_PREFIX));
    let (Some(first), second) = (tokens.next(), tokens.next()) else { return Ok(None) };
    if second.is_some() {
        return Err(Error::SeveralProtocolTokens);
    }
    let bytes = URL_SAFE_NO_PAD.decode(first).map_err(|_| Error::ProtocolTokenEncoding)?;
    let token = String::from_utf8(bytes).map_err(|_| Error::ProtocolTokenText)?;
    if token.is_empty() {
        return Ok(None);
    }
    match protocols(headers).any(|protocol| !protocol.starts_with(PROTOCOL_PREFIX)) {
        true => Ok(Some(token)),
        false => Err(Error::LoneProtocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(k, v)| (k.parse().unwrap(), HeaderValue::from_static(v))).collect()
    }

    /// The tokens that are tried, and the errors of malformed ones.
    fn tried(pairs: &[(&'static str, &'static str)]) -> String {
        let headers = headers(pairs);
        let tokens = tokens(&headers).map(|token| token.unwrap_or_else(|why| format!("! {why}")));
        tokens.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn parses_authorization_headers() {
        for (value, expect) in [
            ("Bearer t", "t"),
            ("bearer t", "t"),
            (" BEARER t extra", "t"),
            ("Bearer", ""),
            ("Bearer ", ""),
            ("Bearer  t", ""),
            ("Bearer\tt", ""),
            ("Basic dDp0", ""),
            ("t", ""),
        ] {
            assert_eq!(tried(&[("authorization", value)]), expect, "{value:?}");
            assert_eq!(has_extra_space(&headers(&[("authorization", value)])), value == "Bearer  t");
        }
    }

    const ALICE: &str = "base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg";

    fn websocket_headers(protocol: &'static str) -> [(&'static str, &'static str); 3] {
        [("upgrade", "websocket"), ("connection", "upgrade"), ("sec-websocket-protocol", protocol)]
    }

    #[test]
    fn parses_websocket_subprotocols() {
        let protocol = "base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg, v4.channel.k8s.io";
        assert_eq!(tried(&websocket_headers(protocol)), "alicetoken");
        assert_eq!(
            tried(&[&websocket_headers(protocol)[..], &[("authorization", "Bearer t")]].concat()),
            "t; alicetoken"
        );
        assert_eq!(tried(&[("sec-websocket-protocol", protocol)]), "");
        assert_eq!(tried(&websocket_headers("a, base64url.bearer.authorization.k8s.io.")), "");
        for (protocol, why) in [
            (ALICE, "missing additional subprotocol"),
            ("a, base64url.bearer.authorization.k8s.io.***", "invalid base64.bearer.authorization token encoding"),
            ("a, base64url.bearer.authorization.k8s.io._w", "invalid base64.bearer.authorization token"),
            (
                "a, base64url.bearer.authorization.k8s.io.YQ, base64url.bearer.authorization.k8s.io.YQ",
                "multiple base64.bearer.authorization tokens specified",
            ),
        ] {
            assert_eq!(tried(&websocket_headers(protocol)), format!("! {why}"), "{protocol}");
        }
    }

    #[test]
    fn removes_tokens() {
        let mut both =
            headers(&websocket_headers("base64url.bearer.authorization.k8s.io.YWxpY2V0b2tlbg, v4.channel.k8s.io"));
        remove(&mut both);
        assert_eq!(both["sec-websocket-protocol"], "v4.channel.k8s.io");
        let mut alone = headers(&websocket_headers(ALICE));
        remove(&mut alone);
        assert!(!alone.contains_key("sec-websocket-protocol"), "an invalid token is removed as well");
    }
}
