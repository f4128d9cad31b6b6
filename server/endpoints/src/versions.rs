//! The order of version names (`version.CompareKubeAwareVersionStrings`).

use std::cmp::Ordering;

/// Compares versions: `v2` is greater than `v1`, which is greater than `v1beta1`. Other names are
/// smaller, in reverse alphabetical order.
pub fn compare(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (None, None) => b.cmp(a),
        (a, b) => a.cmp(&b),
    }
}

/// Parses a Kubernetes version name into stage, major and minor.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, tail) = rest.split_at(digits);
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let major = number(major)?;
    if tail.is_empty() {
        return Some((3, major, 0));
    }
    let (stage, minor) = match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
        (Some(minor), _) => (2, minor),
        (_, Some(minor)) => (1, minor),
        _ => return None,
    };
    Some((stage, major, number(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_stable_versions_first() {
        let order =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10", "v1x"];
        let mut shuffled = order;
        shuffled.reverse();
        shuffled.sort_by(|a, b| compare(b, a));
        assert_eq!(shuffled, order);
    }
}
