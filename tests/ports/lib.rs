//! Free ports for programs of tests whose flags must name a port, such as etcd.
//!
//! A port of the system's choice (`bind` to port 0) is one of those that the system also gives to
//! outgoing connections. Another test may use the port for a connection before the program binds
//! it. Ports of this crate lie below that range, and below the usual range of node ports.

use std::net::{IpAddr, TcpListener};
use std::ops::Range;
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the range of node ports (30000 to 32767), and below the range of Linux for outgoing
/// connections (32768 to 60999).
const RANGE: Range<u16> = 10_000..30_000;
/// Number of ports between the first ports that two consecutive processes try.
const STEP: u32 = 37;
/// Number of ports that this process has tried.
static TRIED: AtomicU16 = AtomicU16::new(0);

/// Returns a port that no program listens on at `address`, and that this process has not returned
/// before.
///
/// # Panics
///
/// Panics if no port of the range is free.
#[must_use]
pub fn free_port(address: impl Into<IpAddr>) -> u16 {
    let address = address.into();
    let size = u32::from(RANGE.end - RANGE.start);
    let first = process::id().wrapping_mul(STEP) % size;
    for _ in RANGE {
        let tried = TRIED.fetch_add(1, Ordering::Relaxed);
        let offset = (first + u32::from(tried)) % size;
        let port = RANGE.start + u16::try_from(offset).expect("the range has fewer than 65536 ports");
        if TcpListener::bind((address, port)).is_ok() {
            return port;
        }
    }
    panic!("no port from {} to {} is free at {address}", RANGE.start, RANGE.end - 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn returns_different_ports_below_those_of_outgoing_connections() {
        let first = free_port(Ipv4Addr::LOCALHOST);
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).unwrap();
        let second = free_port(Ipv4Addr::LOCALHOST);
        assert_ne!(first, second);
        assert!(RANGE.contains(&first) && RANGE.contains(&second));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!RANGE.contains(&listener.local_addr().unwrap().port()), "the system's choice");
    }
}
