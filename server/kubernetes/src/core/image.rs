//! Image references, as far as defaulting needs them (upstream `parsers.ParseImageName`, which follows
//! the `distribution` grammar).

use generated::core::v1::pull_policy;

/// Maximum length of a reference without tag and digest (`distribution/reference.NameTotalLengthMax`).
const MOST_NAME: usize = 255;

/// Default pull policy of an image: `Always` for the tag `latest`. An invalid reference counts as
/// pinned; validation reports it.
pub fn default_pull_policy(image: &str) -> String {
    let policy = if is_latest(image) { pull_policy::ALWAYS } else { pull_policy::IF_NOT_PRESENT };
    policy.to_owned()
}

/// Whether the image is a reference with the tag `latest`, which a reference without tag and digest
/// implies. Most references have another tag, and are not parsed further.
fn is_latest(image: &str) -> bool {
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (image, None),
    };
    let path_at = rest.rfind('/').map_or(0, |i| i + 1);
    let (name, tag) = match rest[path_at..].split_once(':') {
        Some((last, tag)) => (&rest[..path_at + last.len()], Some(tag)),
        None => (rest, None),
    };
    let is_id = image.len() == 64 && image.bytes().all(is_lower_hex);
    let is_latest = tag.map_or(digest.is_none() && !is_id, |tag| tag == "latest");
    is_latest && is_name(name) && digest.is_none_or(is_digest)
}

/// `[host[:port]/]path`; the part before the first `/` is a host only if it looks like one.
fn is_name(name: &str) -> bool {
    let (domain, path) = match name.split_once('/') {
        Some((first, path)) if is_host_like(first) => (first, path),
        _ => ("docker.io", name),
    };
    let implied = if domain == "docker.io" && !path.contains('/') { "library/".len() } else { 0 };
    is_domain(domain) && path.split('/').all(is_path_component) && domain.len() + 1 + implied + path.len() <= MOST_NAME
}

fn is_host_like(first: &str) -> bool {
    first.contains(['.', ':']) || first == "localhost" || first.bytes().any(|b| b.is_ascii_uppercase())
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => {
            let is_address = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':');
            return is_address && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
        }
        None => domain.split_once(':').map_or((domain, None), |(host, port)| (host, Some(port))),
    };
    host.split('.').all(is_domain_component) && port.is_none_or(is_port)
}

fn is_port(port: &str) -> bool {
    !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
}

fn is_domain_component(part: &str) -> bool {
    let inner = part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    inner && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
}

/// Lowercase words, joined by one `.`, one or two `_`, or any number of `-`.
fn is_path_component(part: &str) -> bool {
    let mut rest = part;
    loop {
        let word = rest.bytes().take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit()).count();
        if word == 0 {
            return false;
        }
        rest = &rest[word..];
        if rest.is_empty() {
            return true;
        }
        let dashes = rest.bytes().take_while(|b| *b == b'-').count();
        let separator = match rest.as_bytes() {
            [b'_', b'_', ..] => 2,
            [b'.' | b'_', ..] => 1,
            _ => dashes,
        };
        if separator == 0 {
            return false;
        }
        rest = &rest[separator..];
    }
}

fn is_digest(digest: &str) -> bool {
    let length = match digest.split_once(':') {
        Some(("sha256", hex)) => (hex, 64),
        Some(("sha384", hex)) => (hex, 96),
        Some(("sha512", hex)) => (hex, 128),
        _ => return false,
    };
    length.0.len() == length.1 && length.0.bytes().all(is_lower_hex)
}

fn is_lower_hex(b: u8) -> bool {
    b.is_ascii_digit() || (b'a'..=b'f').contains(&b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_policy_of_latest_tag_is_always() {
        let digest = format!("@sha256:{}", "a".repeat(64));
        for image in ["nginx", "nginx:latest", "example.com:5000/shop/web", &format!("nginx:latest{digest}")] {
            assert_eq!(default_pull_policy(image), pull_policy::ALWAYS, "{image}");
        }
        let pinned =
            ["nginx:1.24", "Not/A/Name:latest", "nginx@sha256:1", "", &"a".repeat(64), &format!("nginx{digest}")];
        for image in pinned.into_iter().chain(["nginx:latest@sha256:1", "example.com:5000/shop/web:v1"]) {
            assert_eq!(default_pull_policy(image), pull_policy::IF_NOT_PRESENT, "{image}");
        }
    }
}
