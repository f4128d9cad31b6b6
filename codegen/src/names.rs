//! Conversion between Rust names in `api-defs/` and JSON names.
//!
//! One rule applies to the whole project, so that a definition has to state a JSON name only where
//! upstream is irregular. The words of a Rust name are joined in lowerCamelCase, and every word after
//! the first that is an initialism is upper-cased (`host_ip` -> `hostIP`, `pod_ips` -> `podIPs`). A
//! first word stays in lower case (`ip`, `api_group`).

/// Words that are written in upper case, sorted, in the singular.
pub const INITIALISMS: &[&str] = &[
    "api", "cidr", "cpu", "csi", "dns", "fc", "fqdn", "gce", "id", "io", "ip", "ipc", "iscsi", "pid", "tls", "uid",
    "uri", "url", "uuid", "wwn",
];

/// Initialisms with a plural in a small `s`, sorted (`IPs`, but never `TLSs`).
pub const PLURALS: &[&str] = &["apis", "cidrs", "ids", "ips", "pids", "uids", "uris", "urls", "uuids", "wwns"];

/// The JSON name of a field from its Rust name: `cluster_ips` -> `clusterIPs`.
///
/// ```
/// use codegen::names::{json_name, rust_name};
///
/// assert_eq!(json_name("host_ip"), "hostIP");
/// assert_eq!(json_name("r#type"), "type");
/// assert_eq!(rust_name("podIPs"), "pod_ips");
/// ```
pub fn json_name(rust_name: &str) -> String {
    let mut out = String::with_capacity(rust_name.len());
    for (index, word) in rust_name.trim_start_matches("r#").split('_').filter(|word| !word.is_empty()).enumerate() {
        match index {
            0 => out.push_str(word),
            _ => push_capitalized(&mut out, word),
        }
    }
    out
}

/// The Rust name of a field from its JSON name: `clusterIPs` -> `cluster_ips`.
///
/// [`json_name`] is its inverse for every regular name. For an irregular one (`$ref`,
/// `x-kubernetes-map-type`, `Port`) it is the nearest valid identifier; the definition then has to state
/// `json = ".."`. Keywords are returned without `r#`; see [`is_keyword`].
pub fn rust_name(json: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for part in json.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        split_camel(part, &mut words);
    }
    words.join("_")
}

/// Whether a name has to be written `r#name` in Rust syntax.
pub fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    KEYWORDS.contains(&name)
}

/// Whether `name` is lowerCamelCase as the API conventions require.
///
/// It has a lower-case letter first, then letters and digits.
pub fn is_lower_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The default module of a group: the first label of its name, with `_` for `-`.
pub fn default_module(group: &str) -> String {
    match group.split('.').next() {
        Some("") | None => "core".to_string(),
        Some(label) => label.replace('-', "_"),
    }
}

/// The default prefix of OpenAPI names and protobuf packages of a group.
///
/// It has the labels of the group reversed: `com.example.shop`.
pub fn default_prefix(group: &str) -> String {
    match group {
        "" => "core".to_string(),
        _ => group.split('.').rev().collect::<Vec<_>>().join("."),
    }
}

/// Parses `v1`, `v2beta1`, `v1alpha3` into a key that sorts as in Kubernetes: newer is greater, `v1` is
/// greater than any beta (upstream's `version.CompareKubeAwareVersionStrings`). `None` for other names.
pub(crate) fn version_rank(version: &str) -> Option<(Stability, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let major = rest[..digits].parse().ok()?;
    match &rest[digits..] {
        "" => Some((Stability::Stable, major, 0)),
        tail => match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
            (Some(minor), _) => Some((Stability::Beta, major, minor.parse().ok()?)),
            (_, Some(minor)) => Some((Stability::Alpha, major, minor.parse().ok()?)),
            _ => None,
        },
    }
}

/// Stability of a version by its name; alpha versions may change without notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stability {
    Alpha,
    Beta,
    Stable,
}

fn push_capitalized(out: &mut String, word: &str) {
    if INITIALISMS.contains(&word) {
        out.push_str(&word.to_ascii_uppercase());
    } else if PLURALS.contains(&word) {
        out.push_str(&word[..word.len() - 1].to_ascii_uppercase());
        out.push('s');
    } else {
        let mut chars = word.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
}

fn split_camel(part: &str, words: &mut Vec<String>) {
    let mut rest = part;
    while !rest.is_empty() {
        let end = initialism_at(rest).unwrap_or_else(|| word_end(rest));
        words.push(rest[..end].to_ascii_lowercase());
        rest = &rest[end..];
    }
}

/// Length of the longest initialism at the start of `text` that a new word or the end follows.
fn initialism_at(text: &str) -> Option<usize> {
    let ends_word = |len: usize| text[len..].chars().next().is_none_or(|c| c.is_ascii_uppercase());
    let upper = |word: &str| text.starts_with(&word.to_ascii_uppercase());
    let plural = |word: &str| {
        let stem = &word[..word.len() - 1];
        upper(stem) && text[stem.len()..].starts_with('s')
    };
    let singulars = INITIALISMS.iter().filter(|word| upper(word) && ends_word(word.len()));
    let plurals = PLURALS.iter().filter(|word| plural(word) && ends_word(word.len()));
    singulars.chain(plurals).map(|word| word.len()).max()
}

/// Length of a plain word: one letter of either case, then lower-case letters and digits.
fn word_end(text: &str) -> usize {
    text.char_indices().skip(1).find(|(_, c)| c.is_ascii_uppercase()).map_or(text.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_names_round_trip() {
        let pairs = [
            ("host_ip", "hostIP"),
            ("pod_ips", "podIPs"),
            ("provider_id", "providerID"),
            ("host_ipc", "hostIPC"),
            ("ip", "ip"),
            ("ips", "ips"),
            ("api_server_id", "apiServerID"),
            ("server_address_by_client_cidrs", "serverAddressByClientCIDRs"),
            ("target_cpu_utilization_percentage", "targetCPUUtilizationPercentage"),
            ("insecure_skip_tls_verify_backend", "insecureSkipTLSVerifyBackend"),
            ("open_api_v3_schema", "openAPIV3Schema"),
            ("set_hostname_as_fqdn", "setHostnameAsFQDN"),
            ("target_wwns", "targetWWNs"),
            ("ephemeral_containers", "ephemeralContainers"),
            ("type", "type"),
            ("iscsi", "iscsi"),
            ("identity", "identity"),
        ];
        for (rust, json) in pairs {
            assert_eq!(json_name(rust), json);
            assert_eq!(rust_name(json), rust);
        }
    }

    #[test]
    fn irregular_names_become_identifiers() {
        for (json, rust) in [("$ref", "ref"), ("x-kubernetes-map-type", "x_kubernetes_map_type"), ("Port", "port")] {
            assert_eq!(rust_name(json), rust);
        }
    }

    #[test]
    fn versions_rank_as_in_kubernetes() {
        let mut versions = ["v1alpha1", "v2", "v1", "v1beta2", "v10", "v1beta10"];
        versions.sort_by_key(|version| version_rank(version));
        assert_eq!(versions, ["v1alpha1", "v1beta2", "v1beta10", "v1", "v2", "v10"]);
        assert_eq!(version_rank("one"), None);
    }
}
