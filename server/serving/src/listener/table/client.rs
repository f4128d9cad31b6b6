//! Identifies clients by address.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address, or the /64 network of an IPv6 address: a host owns all addresses of such a
/// network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ClientAddress(IpAddr);

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        ClientAddress(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
            address => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_host_are_one_client() {
        let is_one = |a: &str, b: &str| {
            ClientAddress::from(a.parse::<IpAddr>().unwrap()) == ClientAddress::from(b.parse::<IpAddr>().unwrap())
        };
        assert!(is_one("10.0.0.1", "::ffff:10.0.0.1") && is_one("2001:db8::1", "2001:db8::ffff:0:0:2"));
        assert!(!is_one("10.0.0.1", "10.0.0.2") && !is_one("2001:db8::1", "2001:db8:0:1::1"));
    }
}
