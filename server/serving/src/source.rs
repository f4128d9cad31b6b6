//! Where a request came from.

use std::net::IpAddr;
use std::sync::Arc;

use machinery::format::ip::parse_ip_sloppy;

use crate::handler::Request;
use crate::listener::Peer;

/// The addresses that a request came through, as far as its proxies say so, and last the one of its connection (`net.SourceIPs`).
pub(crate) fn source_addresses(request: &Request) -> Vec<IpAddr> {
    let said = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let forwarded = said("x-forwarded-for").split(',');
    let mut addresses: Vec<IpAddr> = forwarded.filter_map(|part| parse_ip_sloppy(part.trim())).collect();
    if let Some(real) = parse_ip_sloppy(said("x-real-ip")).filter(|real| !addresses.contains(real)) {
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
    use crate::filters::testing::request;

    #[test]
    fn addresses_of_a_request() {
        let check = |headers: &[(&'static str, &'static str)], expect: &[&str]| {
            let mut request = request("GET", "/");
            for (name, value) in headers {
                request.headers_mut().insert(*name, value.parse().unwrap());
            }
            let peer = Peer { address: "[::ffff:10.0.0.9]:443".parse().unwrap(), ..Peer::default() };
            request.extensions_mut().insert(Arc::new(peer));
            let addresses: Vec<String> = source_addresses(&request).iter().map(ToString::to_string).collect();
            assert_eq!(addresses, expect, "{headers:?}");
        };
        check(&[], &["10.0.0.9"]);
        check(&[("x-forwarded-for", "1.2.3.4, nobody, ::1")], &["1.2.3.4", "::1", "10.0.0.9"]);
        check(&[("x-forwarded-for", "1.2.3.4"), ("x-real-ip", "1.2.3.4")], &["1.2.3.4", "10.0.0.9"]);
        check(&[("x-real-ip", "10.0.0.9")], &["10.0.0.9"]);
    }
}
