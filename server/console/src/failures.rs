//! Limits failed sign-ins by client address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

/// Failures of one address in a window.
const MAX_FAILURES: u32 = 10;
/// The length of a window.
pub const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are counted; a further one replaces the one with the oldest window.
const MAX_ADDRESSES: usize = 1024;

/// Failed sign-ins by address (IPv6: by network of 64 bits).
#[derive(Default)]
pub struct Failures(HashMap<IpAddr, Window>);

struct Window {
    began: Instant,
    failures: u32,
}

impl Failures {
    /// Whether the address has to wait.
    pub fn is_limited(&self, address: IpAddr) -> bool {
        let window = self.0.get(&network(address));
        window.is_some_and(|window| window.began.elapsed() < WINDOW && window.failures >= MAX_FAILURES)
    }

    /// Counts a failure of the address.
    pub fn count(&mut self, address: IpAddr) {
        let (address, now) = (network(address), Instant::now());
        if self.0.len() >= MAX_ADDRESSES && !self.0.contains_key(&address) {
            self.0.retain(|_, window| window.began.elapsed() < WINDOW);
            let oldest = self.0.iter().min_by_key(|(_, window)| window.began).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| self.0.len() >= MAX_ADDRESSES) {
                self.0.remove(&oldest);
            }
        }
        let window = self.0.entry(address).or_insert(Window { began: now, failures: 0 });
        if window.began.elapsed() >= WINDOW {
            *window = Window { began: now, failures: 0 };
        }
        window.failures += 1;
    }
}

/// The address, or the network of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_of_an_address_are_limited() {
        let mut failures = Failures::default();
        let (here, there): (IpAddr, IpAddr) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        for _ in 0..MAX_FAILURES {
            assert!(!failures.is_limited(here));
            failures.count(here);
        }
        assert!(failures.is_limited(here) && !failures.is_limited(there));
        tokio::time::advance(WINDOW).await;
        assert!(!failures.is_limited(here));
        failures.count(here);
        assert!(!failures.is_limited(here));
    }

    #[tokio::test]
    async fn networks_share_a_limit_and_addresses_are_bounded() {
        let mut failures = Failures::default();
        for n in 0..MAX_FAILURES {
            failures.count(format!("2001:db8::{n}").parse().unwrap());
        }
        assert!(failures.is_limited("2001:db8::ffff".parse().unwrap()));
        assert!(!failures.is_limited("2001:db8:0:1::1".parse().unwrap()));
        for n in 0..3 * MAX_ADDRESSES as u32 {
            failures.count(IpAddr::V4(n.into()));
        }
        assert_eq!(failures.0.len(), MAX_ADDRESSES);
    }
}
