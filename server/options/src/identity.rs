//! The identity of an API server among the servers of its cluster.

use sha2::{Digest, Sha256};

/// Returns the name of this host; empty if the system has none.
pub fn hostname() -> String {
    hostname::get().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the identity of the server on a host: `apiserver-` and a hash of the host name (`server.NewConfig`).
pub fn of_host(hostname: &str) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = Sha256::digest(hostname);
    let bit = |i: usize| hash[..16].get(i / 8).is_some_and(|byte| byte >> (7 - i % 8) & 1 == 1);
    let digit = |from: usize| ALPHABET[(from..from + 5).fold(0, |digit, i| digit << 1 | usize::from(bit(i)))];
    std::iter::once("apiserver-".to_owned())
        .chain((0..128).step_by(5).map(|i| char::from(digit(i)).to_string()))
        .collect()
}

/// Returns the hash of an identity for metric labels.
pub fn hash(identity: &str) -> String {
    format!("sha256:{:x}", Sha256::digest(identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_identity_from_host_name() {
        // Upstream's result for this host name.
        assert_eq!(of_host(""), "apiserver-4oymiquy7qobjgx36tejs35zeq");
        assert_ne!(of_host("a"), of_host("b"));
    }
}
