//! Ranges of addresses and ports in flags.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::error::ValueError;

/// A range of addresses: `10.0.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    /// The first address of the range.
    pub base: IpAddr,
    /// The length of the common prefix in bits.
    pub prefix: u8,
}

impl Cidr {
    /// The n-th address of the range, if it is in the range.
    pub fn nth(&self, n: u128) -> Option<IpAddr> {
        let bits = self.width() - self.prefix;
        if bits < 128 && n >> bits != 0 {
            return None;
        }
        match self.base {
            IpAddr::V4(base) => Some(IpAddr::V4(Ipv4Addr::from(u32::from(base).checked_add(n.try_into().ok()?)?))),
            IpAddr::V6(base) => Some(IpAddr::V6(Ipv6Addr::from(u128::from(base).checked_add(n)?))),
        }
    }

    /// Whether the address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.base.is_ipv4() && masked(address, self.prefix) == self.base
    }

    /// The bits of an address of this family.
    pub fn width(&self) -> u8 {
        if self.base.is_ipv4() { 32 } else { 128 }
    }
}

fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(a) => {
            IpAddr::V4(Ipv4Addr::from(u32::from(a) & u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)))
        }
        IpAddr::V6(a) => {
            IpAddr::V6(Ipv6Addr::from(u128::from(a) & u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0)))
        }
    }
}

impl FromStr for Cidr {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let invalid = || ValueError::Cidr { text: text.to_owned() };
        let (address, prefix) = text.split_once('/').ok_or_else(invalid)?;
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let prefix: u8 = prefix.parse().map_err(|_| invalid())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        if prefix > width {
            return Err(invalid());
        }
        Ok(Cidr { base: masked(address, prefix), prefix })
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.prefix)
    }
}

/// A range of ports: `30000-32767`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    pub first: u16,
    pub last: u16,
}

impl PortRange {
    pub fn contains(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl FromStr for PortRange {
    type Err = ValueError;

    /// Parses `from-to`, `from+count` or one port (`utilnet.ParsePortRange`).
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let invalid = || ValueError::PortRange { text: text.to_owned() };
        let port = |text: &str| text.trim().parse::<u16>().map_err(|_| invalid());
        let range = if let Some((first, last)) = text.split_once('-') {
            PortRange { first: port(first)?, last: port(last)? }
        } else if let Some((first, more)) = text.split_once('+') {
            let first = port(first)?;
            PortRange { first, last: first.checked_add(port(more)?).ok_or_else(invalid)? }
        } else {
            PortRange { first: port(text)?, last: port(text)? }
        };
        if range.first > range.last { Err(invalid()) } else { Ok(range) }
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_ranges() {
        let range: Cidr = "10.0.3.4/16".parse().unwrap();
        assert_eq!(range.to_string(), "10.0.0.0/16");
        assert_eq!(range.nth(1).unwrap().to_string(), "10.0.0.1");
        assert_eq!(range.nth(65535).unwrap().to_string(), "10.0.255.255");
        assert_eq!(range.nth(65536), None);
        assert!(range.contains("10.0.9.9".parse().unwrap()) && !range.contains("10.1.0.0".parse().unwrap()));
        let six: Cidr = "fd00:10::/112".parse().unwrap();
        assert_eq!(six.nth(1).unwrap().to_string(), "fd00:10::1");
        assert!("0.0.0.0/0".parse::<Cidr>().unwrap().contains("1.2.3.4".parse().unwrap()));
        assert_eq!("10.0.0.0".parse::<Cidr>().unwrap_err().to_string(), "invalid CIDR address: 10.0.0.0");
        assert!("10.0.0.0/33".parse::<Cidr>().is_err());
    }

    #[test]
    fn port_ranges() {
        let check = |text: &str| text.parse::<PortRange>().map(|r| r.to_string());
        assert_eq!(check("30000-32767").unwrap(), "30000-32767");
        assert_eq!(check("30000+10").unwrap(), "30000-30010");
        assert_eq!(check("80").unwrap(), "80-80");
        assert!(check("9-8").is_err() && check("x").is_err() && check("65535+1").is_err());
    }
}
