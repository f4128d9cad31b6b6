//! The server core refers to no kind of Kubernetes by name.

use std::collections::BTreeSet;
use std::fs;

use super::{none, root, rust_files};

/// The crates that serve any kind.
const CORE: [&str; 19] = [
    "apiserver",
    "cel",
    "encryption",
    "endpoints",
    "features",
    "format",
    "grpc",
    "machinery",
    "patch",
    "proxy",
    "registry",
    "request",
    "scalar",
    "schema",
    "selector",
    "serving",
    "status",
    "storage",
    "x509",
];

/// Kinds of the protocol, which every API server knows.
const PROTOCOL: [&str; 19] = [
    "APIGroup",
    "APIGroupDiscovery",
    "APIGroupDiscoveryList",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "List",
    "ListOptions",
    "PartialObjectMetadata",
    "PartialObjectMetadataList",
    "PatchOptions",
    "Scale",
    "Status",
    "Table",
    "UpdateOptions",
    "WatchEvent",
];

/// Files that may have a name, with the reason.
const ALLOWED: [(&str, &[&str], &str); 5] = [
    ("request/src/request_info.rs", &["namespaces"], "a segment of paths"),
    (
        "format/src/resource.rs",
        &[
            "configmaps",
            "persistentvolumeclaims",
            "pods",
            "replicationcontrollers",
            "resourcequotas",
            "secrets",
            "services",
        ],
        "names of quantities; quotas count objects under the names of their resources",
    ),
    ("format/src/pods.rs", &["ClusterTrustBundle"], "the message of a format of names"),
    (
        "serving/src/certificates/cluster_authentication.rs",
        &["configmaps", "namespaces"],
        "the path of an object of the main server, which an aggregated server reads as a client",
    ),
    (
        "serving/src/filters/impersonation/modes.rs",
        &["nodes", "serviceaccounts"],
        "permissions to impersonate, which are no requests for these resources",
    ),
];

/// The kinds and resources that are declared, without those of the protocol.
fn declared() -> BTreeSet<&'static str> {
    let kinds = &own::catalog().kinds;
    let resources = kinds.iter().filter_map(|kind| kind.resource).map(|resource| resource.plural);
    kinds.iter().map(|kind| kind.kind).chain(resources).filter(|name| !PROTOCOL.contains(name)).collect()
}

/// The contents of the string literals of a line of code.
fn literals(line: &str) -> Vec<&str> {
    let mut quotes = Vec::new();
    let bytes = line.as_bytes();
    for (index, _) in line.match_indices('"') {
        let escapes = bytes[..index].iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_character = index > 0 && bytes[index - 1] == b'\'' && bytes.get(index + 1) == Some(&b'\'');
        if escapes % 2 == 0 && !is_character {
            quotes.push(index);
        }
    }
    quotes.chunks_exact(2).map(|pair| &line[pair[0] + 1..pair[1]]).collect()
}

/// Names in a literal: the literal itself, the segments of a path, and kinds of several words in a
/// sentence. A single capitalized word of a sentence can be an English word.
fn names(literal: &str) -> Vec<&str> {
    let has_words = |name: &&str| name.chars().skip(1).any(char::is_uppercase) && name.contains(char::is_lowercase);
    match literal.contains(' ') {
        true => literal.split(|c: char| !c.is_ascii_alphanumeric()).filter(has_words).collect(),
        false => literal.split('/').collect(),
    }
}

/// Code without comments, and without what is compiled only for tests.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Files of test code that a parent module compiles only for tests or fuzzing.
const TEST_FILES: [&str; 2] = ["machinery/src/json/fixture.rs", "registry/src/fuzzing.rs"];

/// Whether a file, by its path below `server/`, is test code.
pub fn is_test_file(file: &str) -> bool {
    file.contains("/tests") || file.ends_with("tests.rs") || TEST_FILES.contains(&file)
}

#[test]
fn core_names_no_kind() {
    let (declared, server) = (declared(), root().join("server"));
    assert!(["Pod", "pods", "APIService", "namespaces"].iter().all(|name| declared.contains(name)));
    let (mut complaints, mut used) = (Vec::new(), BTreeSet::new());
    for path in CORE.iter().flat_map(|name| rust_files(&format!("server/{name}/src"))) {
        let file = path.strip_prefix(&server).unwrap().to_str().unwrap();
        if is_test_file(file) {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(of, ..)| *of == file).map_or(&[][..], |(_, names, _)| names);
        for (number, line) in code(&fs::read_to_string(&path).unwrap()) {
            let found = literals(line).into_iter().flat_map(names).filter_map(|name| declared.get(name).copied());
            for name in found {
                match allowed.contains(&name) {
                    true => _ = used.insert((file.to_owned(), name)),
                    false => complaints.push(format!("server/{file}:{}: the kind or resource {name:?}", number + 1)),
                }
            }
        }
    }
    for (file, names, reason) in ALLOWED {
        let stale = names.iter().filter(|name| !used.contains(&(file.to_owned(), **name)));
        complaints.extend(stale.map(|name| format!("server/{file} has {name:?} no longer ({reason})")));
    }
    none(complaints);
}

#[test]
fn names_are_found_in_literals() {
    let found = |line| literals(line).into_iter().flat_map(names).collect::<Vec<_>>();
    assert_eq!(found(r#"(GROUP, "Pod") => is("a\"b", '"'),"#), ["Pod", r#"a\"b"#]);
    assert_eq!(found(r#"format!("/api/v1/secrets/{name}")"#), ["", "api", "v1", "secrets", "{name}"]);
    assert_eq!(found(r#""Service was not ready, ConfigMap {name} is""#), ["ConfigMap"]);
}
