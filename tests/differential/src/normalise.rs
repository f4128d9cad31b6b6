//! Replaces what differs between any two servers by placeholders: what differs between any two runs, as in recordings,
//! and what no two servers have in common: their programs, their addresses, and orders that are random in Go.

use std::sync::LazyLock;

use conversations::compare::pattern;
use conversations::normalise;
use regex::{NoExpand, Regex};
use serde_json::Value;

struct Patterns {
    compiled: Regex,
    program: Regex,
    server_address: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    compiled: pattern(r"selfType\d+"),
    server_address: pattern(r"(?m)^(  serverAddress: ).*$"),
    program: pattern(r"\bkube-apiserver-v\d+\.\d+\.\d+\b"),
});

/// Makes answers of one conversation comparable.
pub struct Normaliser {
    recorded: normalise::Normaliser,
    /// Prefixes of requested names (`generateName`), with the names that the server generated.
    bases: Vec<(String, Regex)>,
}

impl Normaliser {
    /// `literals`: the namespace, the random word and the address of the server, with their placeholders.
    pub fn new(literals: &[(&str, &str)]) -> Self {
        Normaliser { recorded: normalise::Normaliser::new(literals), bases: Vec::new() }
    }

    /// Notes the `generateName` of a request: its answer may name what it generates in messages only.
    pub fn generates(&mut self, base: &str) {
        // Upstream's longest base.
        let base = &base[..base.floor_char_boundary(58)];
        if base.is_empty() {
            return;
        }
        // Messages show it quoted.
        let hex = |c: char| if c < ' ' { format!("\\x{:02x}", u32::from(c)) } else { c.to_string() };
        let short = |c: char| if matches!(c, '\n' | '\r' | '\t') { c.escape_default().to_string() } else { hex(c) };
        for base in [base.to_string(), base.chars().map(short).collect()] {
            if self.bases.iter().all(|(known, _)| *known != base) {
                let names = format!("{}[bcdfghjklmnpqrstvwxz2456789]{{5}}\\b", regex::escape(&base));
                self.bases.push((base, pattern(&names)));
            }
        }
    }

    /// A string of an answer: of its body or of a header.
    pub fn text(&mut self, text: &str) -> String {
        let text = self.recorded.text(text);
        self.further(&text)
    }

    /// What differs between two servers in a string in which what differs between two runs has been replaced.
    fn further(&self, text: &str) -> String {
        let p = &*PATTERNS;
        // What a server writes itself names the file of its program.
        let mut text = p.program.replace_all(text, "kube-apiserver").into_owned();
        // The address of a document in YAML.
        text = p.server_address.replace_all(&text, "${1}<server>").into_owned();
        text = p.compiled.replace_all(&text, "selfType<number>").into_owned();
        for (base, names) in &self.bases {
            text = names.replace_all(&text, NoExpand(&format!("{base}<gen>"))).into_owned();
        }
        in_order(&text).unwrap_or(text)
    }

    /// The body of an answer.
    pub fn body(&mut self, body: &Value) -> Value {
        let body = self.recorded.body(body);
        let mut body = self.walk(&body);
        sort_causes(&mut body);
        body
    }

    fn walk(&self, value: &Value) -> Value {
        let field = |(key, value): (&String, &Value)| match value {
            Value::String(_) if key == "serverAddress" => (self.further(key), "<server>".into()),
            value => (self.further(key), self.walk(value)),
        };
        match value {
            Value::Object(object) => Value::Object(object.iter().map(field).collect()),
            Value::Array(items) => items.iter().map(|item| self.walk(item)).collect(),
            Value::String(text) => self.further(text).into(),
            other => other.clone(),
        }
    }
}

/// Errors of fields of custom objects come in the order of a map of Go's, which is random: they are sorted.
fn in_order(text: &str) -> Option<String> {
    let (start, list) = text.split_once(": errors:\n")?;
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_unstable();
    Some(format!("{start}: errors:\n{}", lines.join("\n")))
}

/// Likewise the causes of a Status of a custom object, those of one field, such as labels, those of properties of a
/// schema, and those of entries of a map; the message repeats them.
fn sort_causes(status: &mut Value) {
    let of_properties = |cause: &Value| cause["field"].as_str().is_some_and(|field| field.contains(".properties["));
    let custom = status["details"]["group"].as_str().is_some_and(|group| group.ends_with(".example.com"));
    let causes = status.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    let is_random = |a: &Value, b: &Value| {
        custom || a["field"] == b["field"] || (of_properties(a) && of_properties(b)) || are_of_one_map(a, b)
    };
    let has_random = |causes: &Vec<Value>| causes.windows(2).any(|two| is_random(&two[0], &two[1]));
    let Some(causes) = causes.filter(|causes| has_random(causes)) else { return };
    for causes in causes.chunk_by_mut(is_random) {
        causes.sort_by_cached_key(Value::to_string);
    }
    let start = status["message"].as_str().and_then(|message| message.split_once(": [")).map(|(start, _)| start);
    status["message"] = start.map_or(Value::Null, |start| format!("{start}: [..]").into());
}

/// Whether two causes are of entries of one map: `spec.hard[a]` and `spec.hard[b]`, unlike `spec.rules[0]`.
fn are_of_one_map(a: &Value, b: &Value) -> bool {
    let entry = |cause: &Value| {
        let (map, key) = cause["field"].as_str()?.strip_suffix(']')?.rsplit_once('[')?;
        Some((map.to_string(), key == "0" || key.starts_with(|c: char| ('1'..='9').contains(&c))))
    };
    matches!((entry(a), entry(b)), (Some(a), Some(b)) if a.0 == b.0 && !(a.1 && b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn normaliser() -> Normaliser {
        Normaliser::new(&[("t-1", "<ns>"), ("r1", "<rand>")])
    }

    #[test]
    fn errors_of_custom_objects_are_sorted() {
        assert_eq!(normaliser().text("a: errors:\n  .b: x\n  .a: y"), "a: errors:\n  .a: y\n  .b: x");
        let status = |group: &str, message: &str, causes: [&str; 2]| {
            let causes = causes.map(|field| json!({"field": field}));
            json!({"message": message, "details": {"group": group, "causes": causes}})
        };
        let custom = status("x.example.com", "T is invalid: [b, a]", ["b", "a"]);
        assert_eq!(normaliser().body(&custom), status("x.example.com", "T is invalid: [..]", ["a", "b"]));
        for fields in [["b", "a"], ["a.b[1]", "a.b[0]"], ["a[b]", "c[a]"]] {
            let built_in = status("apps", "T is invalid: [b, a]", fields);
            assert_eq!(normaliser().body(&built_in), built_in);
        }
        for fields in [["a[y]", "a[007]"], ["a.properties[y].type", "a.properties[x].default"]] {
            let random = status("apps", "T is invalid: [b, a]", fields);
            assert_eq!(normaliser().body(&random)["message"], "T is invalid: [..]");
            assert_eq!(normaliser().body(&random)["details"]["causes"][0]["field"], fields[1]);
        }
    }

    #[test]
    fn generated_names_of_messages_are_hidden() {
        let mut normaliser = normaliser();
        normaliser.generates("g-");
        normaliser.generates("\0");
        assert_eq!(normaliser.text(r#"Pod "g-x4rtz" is invalid"#), r#"Pod "g-<gen>" is invalid"#);
        assert_eq!(normaliser.text(r#"Pod "\x00x4rtz""#), r#"Pod "\x00<gen>""#);
        assert_eq!(normaliser.text("g-other"), "g-other");
    }

    #[test]
    fn programs_and_addresses_are_hidden() {
        let mut normaliser = normaliser();
        assert_eq!(
            normaliser.text("kube-apiserver-v1.36.2 selfType12 of t-1"),
            "kube-apiserver selfType<number> of <ns>"
        );
        let body = json!({"serverAddress": "a:1", "text": "x:\n  serverAddress: a:1\n", "uid": "t-1"});
        let want = json!({"serverAddress": "<server>", "text": "x:\n  serverAddress: <server>\n", "uid": "<ns>"});
        assert_eq!(normaliser.body(&body), want);
    }
}
