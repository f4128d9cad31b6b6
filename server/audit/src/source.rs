//! The source addresses of a request.

use std::net::IpAddr;
use std::sync::Arc;

use machinery::format::ip::parse_ip_sloppy;
use request::{Peer, Request};

/// The addresses in the forwarding headers, and last that of the connection (`net.SourceIPs`).
pub(super) fn source_addresses(request: &Request) -> Vec<IpAddr> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let forwarded = header("x-forwarded-for").split(',');
    let mut addresses: Vec<IpAddr> = forwarded.filter_map(|part| parse_ip_sloppy(part.trim())).collect();
    if let Some(real) = parse_ip_sloppy(header("x-real-ip")).filter(|real| !addresses.contains(real)) {
        addresses.push(real);
    }
    let peer = request.extensions().get::<Arc<Peer>>().map(|peer| peer.address.ip().to_canonical());
    if let Some(peer) = peer.filter(|peer| addresses.last() != Some(peer)) {
        addresses.push(peer);
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::request;

    #[test]
    fn source_addresses_from_headers_and_connection() {
        let check = |headers: &[(&'static str, &'static str)], expect: &[&str]| {
            let mut request = request("GET", "/");
            for (name, value) in headers {
                request.headers_mut().insert(*name, value.parse().unwrap());
            }
            let peer = Peer::at("[::ffff:10.0.0.9]:443".parse().unwrap());
            request.extensions_mut().insert(Arc::new(peer));
            let addresses: Vec<String> = source_addresses(&request).iter().map(ToString::to_string).collect();
            assert_eq!(addresses, expect, "{headers:?}");
        };
        check(&[], &["10.0.0.9"]);
        check(&[("x-forwarded-for", "1.2.3.4, unknown, ::1")], &["1.2.3.4", "::1", "10.0.0.9"]);
        check(&[("x-forwarded-for", "1.2.3.4"), ("x-real-ip", "1.2.3.4")], &["1.2.3.4", "10.0.0.9"]);
        check(&[("x-real-ip", "10.0.0.9")], &["10.0.0.9"]);
    }
}
