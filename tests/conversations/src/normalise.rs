//! Replaces what differs between any two runs by placeholders, the same value always by the same one.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `<ns>`, `<rand>` | the scenario's namespace and random word |
//! | `<uid#1>`, `<ip#1>`, `<port#1>` | uids, addresses in 10.0.0.0/16, node ports |
//! | `<rv#1>` | the resourceVersion of an object; `""` and `"0"` stay |
//! | `<rv>` | the resourceVersion of a list, a table or a bookmark, or one in a message |
//! | `<time>`, `<microtime>`, `<nanotime>`, `<time+01:00>` | a moment less than 400 days from now |
//! | `<gen#1>` | the random end of a name made from generateName |
//! | `<continue>`, `<jwt>`, `<age>`, `<scheme>` | continue and signed tokens, ages in cells, files that name a scheme |
//!
//! `managedFields` is sorted by operation, manager, version and subresource, since a server orders it by time.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};
use time::{Date, Month, OffsetDateTime};

use crate::compare::pattern;
use crate::text;

/// Characters of the random end of a generated name.
const GENERATED: &str = "[bcdfghjklmnpqrstvwxz2456789]{5}";

/// Days from now within which a date is replaced.
const NEAR: i64 = 400;

struct Patterns {
    uuid: Regex,
    time: Regex,
    jwt: Regex,
    scheme: Regex,
    volume: Regex,
    too_old: Regex,
    version: Regex,
    address: Regex,
    generated: Regex,
    age: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    uuid: pattern(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    time: pattern(r"\b(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    jwt: pattern(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
    scheme: pattern(r#"in scheme "[^"]*""#),
    volume: pattern(&format!(r"\bkube-api-access-{GENERATED}\b")),
    too_old: pattern(r"(too old resource version: )\d+ \(\d+\)"),
    version: pattern(
        r#"(?i)(resource ?version(?:\\*"?: ?\\*"|[^0-9"\n]{0,40}?)|too large[^\n]{0,60}, current: )([1-9]\d*)\b"#,
    ),
    address: pattern(r"\b10\.0\.\d{1,3}\.\d{1,3}\b"),
    generated: pattern(&format!("^{GENERATED}$")),
    age: pattern(r"^(\d+[ydhms]){1,2}$|\b(\d+[ydhms]){1,2}( ago\b)"),
});

/// What a `resourceVersion` belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Object,
    /// A list or table, whose version is the store's.
    Collection,
    /// A bookmark and everything in it.
    Bookmark,
}

/// Makes the answers of one scenario comparable.
pub struct Normaliser {
    seen: HashMap<(&'static str, String), String>,
    count: HashMap<&'static str, usize>,
    literals: Vec<(String, String)>,
    today: Date,
}

impl Normaliser {
    /// `literals` are texts and their placeholders, such as the namespace and `<ns>`. Empty texts are left out.
    pub fn new(literals: &[(&str, &str)]) -> Self {
        let literals = literals.iter().filter(|(value, _)| !value.is_empty());
        Normaliser {
            seen: HashMap::new(),
            count: HashMap::new(),
            literals: literals.map(|(value, word)| ((*value).into(), (*word).into())).collect(),
            today: OffsetDateTime::now_utc().date(),
        }
    }

    fn name(&mut self, kind: &'static str, value: &str) -> String {
        let count = self.count.entry(kind).or_default();
        let number = || {
            *count += 1;
            format!("<{kind}#{count}>")
        };
        self.seen.entry((kind, value.to_string())).or_insert_with(number).clone()
    }

    fn time(&self, found: &Captures<'_>) -> String {
        let number = |at: usize| found[at].parse::<i32>().unwrap_or(0);
        let month = Month::try_from(u8::try_from(number(2)).unwrap_or(0)).ok();
        let day = u8::try_from(number(3)).unwrap_or(0);
        let date = month.and_then(|month| Date::from_calendar_date(number(1), month, day).ok());
        if date.is_none_or(|date| (date - self.today).whole_days().abs() > NEAR) {
            return found[0].to_string();
        }
        match (&found[5], found.get(4).map(|fraction| fraction.len())) {
            ("Z", None) => "<time>".into(),
            ("Z", Some(7)) => "<microtime>".into(),
            ("Z", Some(_)) => "<nanotime>".into(),
            (zone, _) => format!("<time{zone}>"),
        }
    }

    /// A string of an answer: of its body or of a header.
    pub fn text(&mut self, text: &str) -> String {
        let p = &*PATTERNS;
        let mut text = self.literals.iter().fold(text.to_string(), |text, (value, word)| text.replace(value, word));
        text = p.uuid.replace_all(&text, |found: &Captures<'_>| self.name("uid", &found[0])).into_owned();
        text = p.jwt.replace_all(&text, "<jwt>").into_owned();
        text = p.volume.replace_all(&text, "kube-api-access-<gen>").into_owned();
        text = p.time.replace_all(&text, |found: &Captures<'_>| self.time(found)).into_owned();
        text = p.scheme.replace_all(&text, "in scheme \"<scheme>\"").into_owned();
        text = p.too_old.replace_all(&text, "${1}<rv> (<rv>)").into_owned();
        text = p.version.replace_all(&text, "${1}<rv>").into_owned();
        p.address.replace_all(&text, |found: &Captures<'_>| self.name("ip", &found[0])).into_owned()
    }

    /// The body of an answer.
    pub fn body(&mut self, body: &Value) -> Value {
        self.find_generated(body);
        self.walk(body, Owner::Object)
    }

    fn find_generated(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                let word = |key: &str| object.get(key).and_then(Value::as_str);
                if let Some((name, base)) = word("name").zip(word("generateName")) {
                    self.generated(name, base);
                }
                object.values().for_each(|value| self.find_generated(value));
            }
            Value::Array(items) => items.iter().for_each(|value| self.find_generated(value)),
            _ => {}
        }
    }

    fn generated(&mut self, name: &str, base: &str) {
        let Some((start, end)) = name.len().checked_sub(5).and_then(|at| name.split_at_checked(at)) else { return };
        let known = self.literals.iter().any(|(value, _)| value == name);
        // A long base is cut so that the name is short enough.
        if !start.is_empty() && base.starts_with(start) && PATTERNS.generated.is_match(end) && !known {
            let word = format!("{start}{}", self.name("gen", name));
            self.literals.insert(0, (name.to_string(), word));
        }
    }

    fn walk(&mut self, value: &Value, owner: Owner) -> Value {
        match value {
            Value::Object(object) => Value::Object(self.object(object, owner)),
            Value::Array(items) => items.iter().map(|item| self.walk(item, owner)).collect(),
            Value::String(text) => self.text(text).into(),
            other => other.clone(),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, owner: Owner) -> Map<String, Value> {
        let collection = object.contains_key("items") || object.get("kind").is_some_and(|kind| kind == "Table");
        let bookmark = owner == Owner::Bookmark || object.get("type").is_some_and(|kind| kind == "BOOKMARK");
        let mut out = Map::new();
        for (key, value) in object {
            let below = match key.as_str() {
                _ if bookmark => Owner::Bookmark,
                "metadata" if collection => Owner::Collection,
                _ => Owner::Object,
            };
            let value = match (key.as_str(), value) {
                ("resourceVersion", Value::String(version)) if !version.is_empty() && version != "0" => {
                    if owner == Owner::Object { self.name("rv", version) } else { "<rv>".into() }.into()
                }
                ("continue", Value::String(token)) if !token.is_empty() => "<continue>".into(),
                ("nodePort" | "healthCheckNodePort", Value::Number(port))
                    if !port.is_f64() && port.as_u64() != Some(0) =>
                {
                    self.name("port", &port.to_string()).into()
                }
                ("cells", Value::Array(cells)) => cells.iter().map(|cell| self.cell(cell)).collect(),
                ("managedFields", Value::Array(entries)) => {
                    let mut entries: Vec<Value> = entries.iter().map(|e| self.walk(e, Owner::Object)).collect();
                    entries.sort_by_cached_key(entry_order);
                    entries.into()
                }
                _ => self.walk(value, below),
            };
            out.insert(self.text(key), value);
        }
        out
    }

    fn cell(&mut self, cell: &Value) -> Value {
        match cell {
            Value::String(text) => self.text(&PATTERNS.age.replace_all(text, "<age>$3")).into(),
            other => self.walk(other, Owner::Object),
        }
    }
}

fn entry_order(entry: &Value) -> Vec<String> {
    let keys = ["operation", "manager", "apiVersion", "subresource"];
    let mut order: Vec<String> = keys.iter().map(|key| entry[*key].as_str().unwrap_or_default().into()).collect();
    order.push(text::sorted(entry));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const UID: &str = "a3c0ffee-0000-4000-8000-000000000001";

    fn normaliser() -> Normaliser {
        Normaliser::new(&[("t-1", "<ns>"), ("r1", "<rand>"), ("", "<none>")])
    }

    fn body(value: Value) -> Value {
        normaliser().body(&value)
    }

    #[test]
    fn equal_values_have_equal_placeholders() {
        let sent = json!({"metadata": {"uid": UID, "resourceVersion": "7", "namespace": "t-1"}, "uids": [UID],
            "message": format!("the UID {UID} of t-1"), "ip": "10.0.0.9", "nodePort": 30001, "t-1": "r1.example.com"});
        let want = json!({"metadata": {"uid": "<uid#1>", "resourceVersion": "<rv#1>", "namespace": "<ns>"},
            "uids": ["<uid#1>"], "message": "the UID <uid#1> of <ns>", "ip": "<ip#1>", "nodePort": "<port#1>",
            "<ns>": "<rand>.example.com"});
        assert_eq!(body(sent), want);
    }

    #[test]
    fn different_values_have_different_placeholders() {
        let sent = json!([{"resourceVersion": "7"}, {"resourceVersion": "8"}, {"resourceVersion": "7"}]);
        let want = json!([{"resourceVersion": "<rv#1>"}, {"resourceVersion": "<rv#2>"}, {"resourceVersion": "<rv#1>"}]);
        assert_eq!(body(sent), want);
        assert_eq!(normaliser().text("10.0.0.1 10.0.3.4 10.0.0.1 10.1.0.1"), "<ip#1> <ip#2> <ip#1> 10.1.0.1");
    }

    #[test]
    fn values_that_say_something_stay() {
        let sent = json!({"resourceVersion": "0", "continue": "", "nodePort": 0, "metadata": {"resourceVersion": ""}});
        assert_eq!(body(sent.clone()), sent);
    }

    #[test]
    fn only_times_of_about_now_are_hidden() {
        let now = OffsetDateTime::now_utc();
        let text = format!("{:04}-{:02}-{:02}T00:00:00Z", now.year(), u8::from(now.month()), now.day());
        assert_eq!(normaliser().text(&text), "<time>");
        assert_eq!(normaliser().text(&text.replace('Z', ".000001Z")), "<microtime>");
        assert_eq!(normaliser().text(&text.replace('Z', ".0000001Z")), "<nanotime>");
        assert_eq!(normaliser().text(&text.replace('Z', "+01:00")), "<time+01:00>");
        for stays in ["2001-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2999-01-01T00:00:00Z"] {
            assert_eq!(normaliser().text(stays), stays);
        }
    }

    #[test]
    fn generated_ends_of_names_are_numbered() {
        let named = |name: &str, base: &str| json!({"metadata": {"name": name, "generateName": base}, "more": name});
        assert_eq!(body(named("job-x4rtz", "job-"))["more"], "job-<gen#1>");
        assert_eq!(body(named("jo-x4rtz", "jo-long"))["more"], "jo-<gen#1>");
        for (name, base) in [("job-other", "job-"), ("pod-x4rtz", "job-"), ("x4rtz", ""), ("job-aeiou", "job-")] {
            assert_eq!(body(named(name, base))["more"], name);
        }
    }

    #[test]
    fn versions_of_lists_tables_and_bookmarks_are_not_numbered() {
        let list = json!({"kind": "List", "metadata": {"resourceVersion": "9", "continue": "abc"},
            "items": [{"metadata": {"resourceVersion": "5"}}]});
        let want = json!({"kind": "List", "metadata": {"resourceVersion": "<rv>", "continue": "<continue>"},
            "items": [{"metadata": {"resourceVersion": "<rv#1>"}}]});
        assert_eq!(body(list), want);
        let table = json!({"kind": "Table", "metadata": {"resourceVersion": "9"}});
        assert_eq!(body(table)["metadata"]["resourceVersion"], "<rv>");
        let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}});
        assert_eq!(body(bookmark)["object"]["metadata"]["resourceVersion"], "<rv>");
        let added = json!({"type": "ADDED", "object": {"metadata": {"resourceVersion": "5"}}});
        assert_eq!(body(added)["object"]["metadata"]["resourceVersion"], "<rv#1>");
    }

    #[test]
    fn versions_in_messages_are_hidden() {
        for (text, want) in [
            ("too old resource version: 5 (77)", "too old resource version: <rv> (<rv>)"),
            ("Too large resource version: 99, current: 12", "Too large resource version: 99, current: <rv>"),
            (r#"{\"resourceVersion\":\"12\"}"#, r#"{\"resourceVersion\":\"<rv>\"}"#),
            ("the ResourceVersion in the precondition (17) x", "the ResourceVersion in the precondition (<rv>) x"),
            ("resourceVersion: 0", "resourceVersion: 0"),
        ] {
            assert_eq!(normaliser().text(text), want);
        }
    }

    #[test]
    fn tokens_schemes_and_volumes_are_hidden() {
        assert_eq!(normaliser().text("a eyJh.eyJi.c-_d e"), "a <jwt> e");
        assert_eq!(normaliser().text(r#"in scheme "pkg/x.go:1" y"#), r#"in scheme "<scheme>" y"#);
        assert_eq!(normaliser().text("kube-api-access-x4rtz"), "kube-api-access-<gen>");
        assert_eq!(normaliser().text("kube-api-access-other"), "kube-api-access-other");
    }

    #[test]
    fn ages_are_hidden_in_cells_only() {
        let row = json!({"cells": ["5d", "2m30s", "1 (3s ago)", "5x", 3, UID], "age": "5d"});
        let want = json!({"cells": ["<age>", "<age>", "1 (<age> ago)", "5x", 3, "<uid#1>"], "age": "5d"});
        assert_eq!(body(row), want);
    }

    #[test]
    fn managed_fields_are_sorted() {
        let entry = |operation: &str, manager: &str, part: &str| json!({"operation": operation, "manager": manager, "subresource": part});
        let sent =
            json!({"managedFields": [entry("Update", "b", ""), entry("Update", "a", "s"), entry("Apply", "z", "")]});
        let want =
            json!({"managedFields": [entry("Apply", "z", ""), entry("Update", "a", "s"), entry("Update", "b", "")]});
        assert_eq!(body(sent), want);
    }
}
