//! IP addresses and CIDRs.

use std::any::Any;
use std::net::IpAddr;

use machinery::format::ip::canonical_ip;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

const IP_TEST: &[&str] = &["net.IP.() -> bool"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("ip", &["(string) -> net.IP", "net.CIDR.() -> net.IP"], to_ip, Cost::Address),
    Function::new("isIP", &["(string) -> bool"], |a| Ok(Value::Bool(parse_ip(text(&a[0])?).is_ok())), Cost::Scan(0)),
    Function::new("ip.isCanonical", &["(string) -> bool"], is_canonical, Cost::ScanTwice(0)),
    Function::new(
        "family",
        &["net.IP.() -> int"],
        |a| Ok(Value::Int(if ip(&a[0])?.is_ipv4() { 4 } else { 6 })),
        Cost::Fixed(1),
    ),
    Function::new("isUnspecified", IP_TEST, |a| Ok(Value::Bool(ip(&a[0])?.is_unspecified())), Cost::Fixed(1)),
    Function::new("isLoopback", IP_TEST, |a| Ok(Value::Bool(ip(&a[0])?.is_loopback())), Cost::Fixed(1)),
    Function::new(
        "isLinkLocalMulticast",
        IP_TEST,
        |a| Ok(Value::Bool(is_link_local_multicast(ip(&a[0])?))),
        Cost::Fixed(1),
    ),
    Function::new(
        "isLinkLocalUnicast",
        IP_TEST,
        |a| Ok(Value::Bool(is_link_local_unicast(ip(&a[0])?))),
        Cost::Fixed(1),
    ),
    Function::new("isGlobalUnicast", IP_TEST, |a| Ok(Value::Bool(is_global_unicast(ip(&a[0])?))), Cost::Fixed(1)),
    Function::new("cidr", &["(string) -> net.CIDR"], |a| Ok(Value::opaque(parse_cidr(text(&a[0])?)?)), Cost::Scan(0)),
    Function::new(
        "isCIDR",
        &["(string) -> bool"],
        |a| Ok(Value::Bool(parse_cidr(text(&a[0])?).is_ok())),
        Cost::Scan(0),
    ),
    Function::new("containsIP", &["net.CIDR.(string) -> bool", "net.CIDR.(net.IP) -> bool"], contains_ip, Cost::Within),
    Function::new(
        "containsCIDR",
        &["net.CIDR.(string) -> bool", "net.CIDR.(net.CIDR) -> bool"],
        contains_cidr,
        Cost::Within,
    ),
    Function::new(
        "prefixLength",
        &["net.CIDR.() -> int"],
        |a| Ok(Value::Int(i64::from(cidr(&a[0])?.length))),
        Cost::Fixed(1),
    ),
    Function::new("masked", &["net.CIDR.() -> net.CIDR"], |a| Ok(Value::opaque(cidr(&a[0])?.masked())), Cost::Fixed(1)),
];

#[derive(Debug, PartialEq)]
struct Ip(IpAddr);

#[derive(Debug, PartialEq)]
struct Cidr {
    address: IpAddr,
    length: u8,
}

impl Opaque for Ip {
    fn type_name(&self) -> &'static str {
        "net.IP"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Ip>() == Some(self)
    }
}

impl Opaque for Cidr {
    fn type_name(&self) -> &'static str {
        "net.CIDR"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Cidr>() == Some(self)
    }
}

impl Cidr {
    fn masked(&self) -> Cidr {
        Cidr { address: mask(self.address, self.length), length: self.length }
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && mask(address, self.length) == mask(self.address, self.length)
    }
}

fn mask(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() & u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)).into()),
        IpAddr::V6(v6) => {
            IpAddr::V6((v6.to_bits() & u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)).into())
        }
    }
}

pub(super) fn display(value: &Value<'_>) -> Option<String> {
    let ip = value.as_opaque::<Ip>().map(|ip| canonical_ip(ip.0));
    ip.or_else(|| value.as_opaque::<Cidr>().map(|c| format!("{}/{}", canonical_ip(c.address), c.length)))
}

fn parse_ip(input: &str) -> Result<IpAddr, Error> {
    if input.contains('%') {
        return Err(Error::failed(format!("IP address {input:?} with zone value is not allowed")));
    }
    let refused = |_| {
        let why = if input.contains(['.', ':']) { "unexpected character" } else { "unable to parse IP" };
        Error::failed(format!(
            "IP Address {input:?} parse error during conversion from string: ParseAddr({input:?}): {why}"
        ))
    };
    match input.parse().map_err(refused)? {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => {
            Err(Error::failed(format!("IPv4-mapped IPv6 address {input:?} is not allowed")))
        }
        address => Ok(address),
    }
}

fn parse_cidr(input: &str) -> Result<Cidr, Error> {
    let refused = |why: &str| {
        Error::failed(format!(
            "network address parse error during conversion from string: netip.ParsePrefix({input:?}): {why}"
        ))
    };
    let (address, length) = input.rsplit_once('/').ok_or_else(|| refused("no '/'"))?;
    let address: IpAddr =
        address.parse().map_err(|_| refused(&format!("ParseAddr({address:?}): unable to parse IP")))?;
    if matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some()) {
        return Err(Error::failed(format!("IPv4-mapped IPv6 address {input:?} is not allowed")));
    }
    let well_formed = length.bytes().all(|b| b.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
    let length = well_formed
        .then(|| length.parse::<u8>().ok())
        .flatten()
        .ok_or_else(|| refused(&format!("bad bits after slash: {length:?}")))?;
    if length > if address.is_ipv4() { 32 } else { 128 } {
        return Err(refused("prefix length out of range"));
    }
    Ok(Cidr { address, length })
}

fn ip(value: &Value<'_>) -> Result<IpAddr, Error> {
    value.as_opaque::<Ip>().map(|ip| ip.0).ok_or_else(Error::no_such_overload)
}

fn cidr<'v>(value: &'v Value<'_>) -> Result<&'v Cidr, Error> {
    value.as_opaque().ok_or_else(Error::no_such_overload)
}

fn to_ip<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args[0].as_opaque::<Cidr>() {
        Some(cidr) => Ok(Value::opaque(Ip(cidr.address))),
        None => Ok(Value::opaque(Ip(parse_ip(text(&args[0])?)?))),
    }
}

fn is_canonical<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let input = text(&args[0])?;
    Ok(Value::Bool(canonical_ip(parse_ip(input)?) == input))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

fn is_global_unicast(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !(broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address))
}

fn contains_ip<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let address = match &args[1] {
        Value::String(input) => parse_ip(input)?,
        other => ip(other)?,
    };
    Ok(Value::Bool(cidr(&args[0])?.contains(address)))
}

fn contains_cidr<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let outer = cidr(&args[0])?;
    let parsed = match &args[1] {
        Value::String(input) => Some(parse_cidr(input)?),
        _ => None,
    };
    let inner = match &parsed {
        Some(inner) => inner,
        None => cidr(&args[1])?,
    };
    Ok(Value::Bool(outer.length <= inner.length && outer.contains(inner.address)))
}
