//! Names made from `metadata.generateName` (`k8s.io/apiserver/pkg/storage/names`).

use rand::Rng;

/// Letters and digits without vowels and look-alikes, so that no words result.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// Longest prefix that leaves space for the suffix in 63 characters.
const MAX_PREFIX: usize = 58;
const SUFFIX_LENGTH: usize = 5;

/// Returns `prefix` and five random characters (`SimpleNameGenerator`).
///
/// A prefix of more than 58 bytes is truncated, so that the name has at most 63.
///
/// ```
/// let name = registry::random_suffix("web-");
/// assert!(name.starts_with("web-") && name.len() == 9);
/// ```
pub fn random_suffix(prefix: &str) -> String {
    let mut end = prefix.len().min(MAX_PREFIX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut random = rand::rng();
    let suffix = (0..SUFFIX_LENGTH).map(|_| ALPHABET[random.random_range(0..ALPHABET.len())] as char);
    prefix[..end].chars().chain(suffix).collect()
}

#[cfg(test)]
mod tests {
    use super::random_suffix;

    #[test]
    fn names_fit_and_keep_their_prefix() {
        let name = random_suffix(&"a".repeat(80));
        assert_eq!(name.len(), 63);
        assert!(name.starts_with(&"a".repeat(58)));
        assert_ne!(random_suffix("web-"), random_suffix("web-"));
    }
}
