//! Findings of checks and the format of name lists.

use std::collections::BTreeSet;
use std::fmt;

use super::checked_pod::{CheckedPod, Container};

/// A violation.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub reason: &'static str,
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.detail.is_empty() { f.write_str(self.reason) } else { write!(f, "{} ({})", self.reason, self.detail) }
    }
}

pub fn finding(reason: &'static str, detail: String) -> Option<Finding> {
    Some(Finding { reason, detail })
}

/// `"a", "b"`
pub fn quoted<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    names.into_iter().map(|name| format!("\"{}\"", name.as_ref())).collect::<Vec<_>>().join(", ")
}

pub fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// `container "a"`, `containers "a", "b"`
pub fn containers(names: &[&str]) -> String {
    format!("{} {}", plural(names.len(), "container", "containers"), quoted(names))
}

/// Returns the names of containers for which `test` holds.
pub fn named<'p>(subject: &CheckedPod<'p>, test: impl Fn(&Container<'p>) -> bool) -> Vec<&'p str> {
    subject.containers.iter().filter(|c| test(c)).map(|c| c.name).collect()
}

/// Lists the pod and the containers that set a field.
pub fn setters(pod: bool, names: &[&str]) -> Vec<String> {
    let pod = pod.then(|| "pod".to_owned());
    pod.into_iter().chain((!names.is_empty()).then(|| containers(names))).collect()
}

/// Sorted distinct values.
pub type Values = BTreeSet<String>;
