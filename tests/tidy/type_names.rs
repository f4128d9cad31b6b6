//! A type name stands for one concept: at most two public types of `server/` and `codegen/` share a
//! name, unless it is listed with a reason.

use std::collections::BTreeMap;
use std::fs;

use super::kinds::{code, is_test_file};
use super::{none, root, rust_files};

/// The number of types that may share a name without a reason.
const LIMIT: usize = 2;

/// Names that more types share because they are the same concept, with the reason.
const SHARED: [(&str, &str); 6] = [
    ("Client", "the client of a protocol, one in each crate that has one"),
    ("Error", "the error type of each crate"),
    ("Metrics", "the metrics of each crate"),
    ("Result", "the result with the error type of the crate"),
    ("Serving", "whether a version is served: as declared, in the catalog, and in OpenAPI documents"),
    ("Subresource", "the subresource of a kind: as parsed, as declared, and in OpenAPI documents"),
];

/// The name of the public type that a line of code defines.
fn defined_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(restriction) => restriction.split_once(')')?.1,
        None => rest,
    };
    let (keyword, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&keyword);
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    // A macro or a template has a placeholder for the name.
    (is_type && !name.is_empty()).then_some(name)
}

#[test]
fn type_names_have_one_meaning() {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in ["server", "codegen/src"].into_iter().flat_map(rust_files) {
        let file = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if is_test_file(file.strip_prefix("server/").unwrap_or(file)) {
            continue;
        }
        for (number, line) in code(&fs::read_to_string(&path).unwrap()) {
            if let Some(name) = defined_type(line) {
                types.entry(name.to_owned()).or_default().push(format!("{file}:{}", number + 1));
            }
        }
    }
    let is_shared = |name: &str| types.get(name).is_some_and(|places| places.len() > LIMIT);
    let stale = SHARED.iter().filter(|(name, _)| !is_shared(name));
    let mut complaints: Vec<String> =
        stale.map(|(name, _)| format!("tests/tidy/type_names.rs: few types are named `{name}`")).collect();
    let wrong = types.iter().filter(|(name, _)| is_shared(name) && SHARED.iter().all(|(shared, _)| shared != name));
    complaints.extend(wrong.map(|(name, places)| format!("`{name}` is the name of {}", places.join(", "))));
    none(complaints);
}

#[test]
fn public_types_are_found_in_lines() {
    assert_eq!(defined_type("pub struct Path<'a> {"), Some("Path"));
    assert_eq!(defined_type("    pub(in crate::json) type Step = Result<(), Stop>;"), Some("Step"));
    assert_eq!(defined_type("pub fn kind(of: &str) -> Kind {"), None);
    assert_eq!(defined_type("type Target = str;"), None);
}
