//! Query parameters.

use super::Generator;
use super::value::ODD_STRINGS;

type Choices = &'static [&'static [&'static str]];

/// Parameters of writes; the first word of each list is the name, the others are values.
const WRITE: Choices = &[
    &["dryRun", "All", "All", "", "all", "None", "All&dryRun=All"],
    &["fieldManager", "m", "n", "", "a/b", "ünï", "a%0Ab"],
    &["fieldValidation", "Strict", "Warn", "Ignore", "", "strict", "Bad"],
    &["pretty", "true", "false", "1", ""],
    &["timeout", "10s", "1", "-1s", "abc"],
    &["unknown", "1"],
    &["force", "true", "false", "1", "bad"],
];

const READ: Choices = &[
    &["limit", "1", "2", "0", "-1", "a", "9223372036854775808"],
    &["continue", "abc", "", "eyJ2IjoidjIifQ"],
    &["resourceVersion", "0", "", "a", "-1", "00", "0x1"],
    &["resourceVersionMatch", "Exact", "NotOlderThan", "", "exact", "Bad"],
    &[
        "labelSelector",
        "app=a",
        "app!=a",
        "app",
        "!app",
        "app in (a,b)",
        "app notin (a)",
        "a=b,c=d",
        "=",
        "a==b",
        "a in ()",
        "a>1",
        "a<b",
        ",",
        "a b",
        "a/b/c=d",
        "x in (a",
        "a=%20b",
        "a=b=c",
    ],
    &[
        "fieldSelector",
        "metadata.name=a",
        "metadata.name!=a",
        "metadata.namespace=${ns}",
        "metadata.namespace=other",
        "status.phase=Running",
        "spec.nodeName=",
        "type=Opaque",
        "a=b",
        "metadata.name",
        "metadata.name=a,metadata.name=b",
        "metadata.name==a",
        "metadata.name in (a)",
        "spec.unschedulable=true",
        "metadata.name=a\\,b",
        "involvedObject.kind=Pod",
        "=",
        "metadata.labels.app=a",
    ],
    &["pretty", "true", "1", ""],
    &["includeObject", "None", "Object", "Metadata", "Bad"],
    &["timeoutSeconds", "1", "a", "-1", "0"],
    &["sendInitialEvents", "true", "false", "bad"],
    &["allowWatchBookmarks", "true", "false", "bad"],
    &["unknown", "1"],
    &["export", "true"],
    &["shardSelector", "a", "shardRange(object.metadata.uid, '0x0', '0x8')"],
];

const DELETE: Choices = &[
    &["dryRun", "All", "", "Bad"],
    &["gracePeriodSeconds", "0", "1", "30", "-1", "a", "9223372036854775808"],
    &["propagationPolicy", "Foreground", "Background", "Orphan", "", "foreground", "Bad"],
    &["orphanDependents", "true", "false", "bad"],
    &["preconditions.uid", "a"],
    &["ignoreStoreReadErrorWithClusterBreakingPotential", "true", "false"],
    &["pretty", "true"],
    &["unknown", "1"],
];

impl Generator<'_> {
    /// Returns a query of up to `most` parameters, with its `?`.
    fn query(&mut self, choices: Choices, most: usize) -> String {
        let mut parts = Vec::new();
        for _ in 0..self.random.below(most + 1) {
            let (name, values) = self.random.pick(choices).split_first().unwrap_or((&"unknown", &[]));
            let value = if self.random.percent(7) { *self.random.pick(ODD_STRINGS) } else { *self.random.pick(values) };
            let literal = value.contains("&dryRun") || value.contains("%0A") || value.contains("%20");
            let value = if literal || value.contains("${") { value.to_string() } else { escaped(value) };
            parts.push(format!("{name}={value}"));
        }
        if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
    }

    pub(super) fn write_query(&mut self) -> String {
        let most = if self.random.percent(40) { 2 } else { 0 };
        self.query(WRITE, most)
    }

    pub(super) fn read_query(&mut self, most: usize) -> String {
        self.query(READ, most)
    }

    pub(super) fn delete_query(&mut self) -> String {
        let most = if self.random.percent(50) { 2 } else { 0 };
        self.query(DELETE, most)
    }
}

/// Escapes a value of a query parameter.
fn escaped(value: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/:!()*$;.-_=,'".contains(byte);
    let one = |byte: u8| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_values_are_escaped() {
        assert_eq!(escaped("a&b c\u{fc}"), "a%26b%20c%C3%BC");
    }
}
