//! Replaces values that differ between any two runs by placeholders, equal values by the same one.
//!
//! The placeholders are those of `replay.py` of the shared recordings.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, NoExpand, Regex};
use serde_json::{Map, Value};
use time::{Date, Month, OffsetDateTime};

use crate::compare::regex;

struct Patterns {
    uuid: Regex,
    time: Regex,
    jwt: Regex,
    scheme: Regex,
    volume: Regex,
    too_old: Regex,
    version: Regex,
    address: Regex,
    compiled: Regex,
    generated: Regex,
    age: Regex,
    program: Regex,
    server_address: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    uuid: regex(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    time: regex(r"\b(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    jwt: regex(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),
    scheme: regex(r#"in scheme "[^"]*""#),
    volume: regex(r"\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b"),
    too_old: regex(r"(too old resource version: )\d+ \(\d+\)"),
    version: regex(
        r#"(?i)(resource ?version(?:\\*"?: ?\\*"|[^0-9"\n]{0,40}?)|too large[^\n]{0,60}, current: )([1-9]\d*)\b"#,
    ),
    address: regex(r"\b10\.0\.\d{1,3}\.\d{1,3}\b"),
    compiled: regex(r"selfType\d+"),
    generated: regex(r"^[bcdfghjklmnpqrstvwxz2456789]{5}$"),
    server_address: regex(r"(?m)^(  serverAddress: ).*$"),
    program: regex(r"\bkube-apiserver-v\d+\.\d+\.\d+\b"),
    age: regex(r"^(\d+[ydhms]){1,2}$|\b(\d+[ydhms]){1,2}( ago\b)"),
});

/// The owner of a `resourceVersion`.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Object,
    /// A list or table, with the revision of the store.
    Collection,
    /// A bookmark and its object.
    Bookmark,
}

/// Makes the responses of one conversation comparable.
pub struct Normaliser {
    seen: HashMap<(&'static str, String), String>,
    count: HashMap<&'static str, usize>,
    literals: Vec<(String, String)>,
    /// Requested `generateName` values, with patterns for the generated names.
    bases: Vec<(String, Regex)>,
    today: Date,
}

impl Normaliser {
    /// `literals`: the namespace, the random word and the address of the server, with their
    /// placeholders.
    pub fn new(literals: &[(&str, &str)]) -> Self {
        let literals = literals.iter().filter(|(value, _)| !value.is_empty());
        Normaliser {
            seen: HashMap::new(),
            count: HashMap::new(),
            literals: literals.map(|(value, word)| (value.to_string(), word.to_string())).collect(),
            bases: Vec::new(),
            today: OffsetDateTime::now_utc().date(),
        }
    }

    /// Records the `generateName` of a request: its response may mention the generated name only in
    /// messages.
    pub fn generates(&mut self, base: &str) {
        // Upstream's maximum length of the base.
        let base = &base[..base.floor_char_boundary(58)];
        if base.is_empty() {
            return;
        }
        // Messages contain it quoted.
        let hex = |c: char| if c < ' ' { format!("\\x{:02x}", u32::from(c)) } else { c.to_string() };
        let short = |c: char| if matches!(c, '\n' | '\r' | '\t') { c.escape_default().to_string() } else { hex(c) };
        for base in [base.to_string(), base.chars().map(short).collect()] {
            if self.bases.iter().all(|(known, _)| *known != base) {
                let names = format!("{}[bcdfghjklmnpqrstvwxz2456789]{{5}}\\b", regex::escape(&base));
                self.bases.push((base, regex(&names)));
            }
        }
    }

    fn name(&mut self, kind: &'static str, value: &str) -> String {
        let count = self.count.entry(kind).or_insert(0);
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
        if date.is_none_or(|date| (date - self.today).whole_days().abs() > 400) {
            return found[0].to_string();
        }
        match (&found[5], found.get(4).map(|fraction| fraction.len())) {
            ("Z", None) => "<time>".into(),
            ("Z", Some(7)) => "<microtime>".into(),
            ("Z", Some(_)) => "<nanotime>".into(),
            (zone, _) => format!("<time{zone}>"),
        }
    }

    /// Normalises a string of a response: of its body or of a header.
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
        // Messages of a server contain the file name of its program.
        text = p.program.replace_all(&text, "kube-apiserver").into_owned();
        // The address in a YAML document.
        text = p.server_address.replace_all(&text, "${1}<server>").into_owned();
        text = p.compiled.replace_all(&text, "selfType<number>").into_owned();
        text = p.address.replace_all(&text, |found: &Captures<'_>| self.name("ip", &found[0])).into_owned();
        for (base, names) in &self.bases {
            text = names.replace_all(&text, NoExpand(&format!("{base}<gen>"))).into_owned();
        }
        in_order(&text).unwrap_or(text)
    }

    /// Normalises the body of a response.
    pub fn body(&mut self, body: &Value) -> Value {
        self.find_generated(body);
        let mut body = self.walk(body, Owner::Object);
        sort_causes(&mut body);
        body
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
                ("nodePort" | "healthCheckNodePort", Value::Number(port)) if port.as_u64() != Some(0) => {
                    self.name("port", &port.to_string()).into()
                }
                ("serverAddress", Value::String(_)) => "<server>".into(),
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

/// Sorts field errors of custom objects: upstream returns them in the random order of a Go map.
fn in_order(text: &str) -> Option<String> {
    let (start, list) = text.split_once(": errors:\n")?;
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_unstable();
    Some(format!("{start}: errors:\n{}", lines.join("\n")))
}

/// Sorts the causes of a Status of a custom object, likewise.
///
/// These are causes of one field, such as labels, of properties of a schema, and of entries of a
/// map. The message repeats them.
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

/// Reports whether two causes are of entries of one map: `spec.hard[a]` and `spec.hard[b]`, unlike
/// `spec.rules[0]`.
fn are_of_one_map(a: &Value, b: &Value) -> bool {
    let entry = |cause: &Value| {
        let (map, key) = cause["field"].as_str()?.strip_suffix(']')?.rsplit_once('[')?;
        Some((map.to_string(), key == "0" || key.starts_with(|c: char| ('1'..='9').contains(&c))))
    };
    matches!((entry(a), entry(b)), (Some(a), Some(b)) if a.0 == b.0 && !(a.1 && b.1))
}

/// The sort key of managed fields entries, which the server orders by time.
fn entry_order(entry: &Value) -> Vec<String> {
    let keys = ["operation", "manager", "apiVersion", "subresource"];
    let mut order: Vec<String> = keys.iter().map(|key| entry[*key].as_str().unwrap_or_default().into()).collect();
    order.push(entry.to_string());
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn normaliser() -> Normaliser {
        Normaliser::new(&[("t-1", "<ns>"), ("r1", "<rand>")])
    }

    #[test]
    fn equal_values_have_equal_placeholders() {
        let uid = "a3c0ffee-0000-4000-8000-000000000001";
        let body = json!({"metadata": {"uid": uid, "resourceVersion": "7", "namespace": "t-1"}, "uids": [uid],
            "message": format!("the UID {uid} of t-1"), "ip": "10.0.0.9", "nodePort": 30001});
        let want = json!({"metadata": {"uid": "<uid#1>", "resourceVersion": "<rv#1>", "namespace": "<ns>"},
            "uids": ["<uid#1>"], "message": "the UID <uid#1> of <ns>", "ip": "<ip#1>", "nodePort": "<port#1>"});
        assert_eq!(normaliser().body(&body), want);
    }

    #[test]
    fn only_current_times_are_replaced() {
        let now = OffsetDateTime::now_utc();
        let text = format!("{:04}-{:02}-{:02}T00:00:00Z", now.year(), u8::from(now.month()), now.day());
        assert_eq!(normaliser().text(&text), "<time>");
        assert_eq!(normaliser().text(&text.replace('Z', ".000001Z")), "<microtime>");
        assert_eq!(normaliser().text("2001-01-01T00:00:00Z"), "2001-01-01T00:00:00Z");
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
    fn generated_name_suffixes_are_numbered() {
        let body = json!({"metadata": {"name": "job-x4rtz", "generateName": "job-"}, "more": "job-x4rtz"});
        assert_eq!(normaliser().body(&body)["more"], "job-<gen#1>");
    }

    #[test]
    fn generated_names_in_messages_are_replaced() {
        let mut normaliser = normaliser();
        normaliser.generates("g-");
        normaliser.generates("\0");
        assert_eq!(normaliser.text(r#"Pod "g-x4rtz" is invalid"#), r#"Pod "g-<gen>" is invalid"#);
        assert_eq!(normaliser.text(r#"Pod "\x00x4rtz""#), r#"Pod "\x00<gen>""#);
        assert_eq!(normaliser.text("g-other"), "g-other");
    }

    #[test]
    fn versions_of_lists_and_bookmarks_are_not_compared() {
        let list = json!({"kind": "List", "metadata": {"resourceVersion": "9", "continue": "abc"},
            "items": [{"metadata": {"resourceVersion": "5"}}]});
        let want = json!({"kind": "List", "metadata": {"resourceVersion": "<rv>", "continue": "<continue>"},
            "items": [{"metadata": {"resourceVersion": "<rv#1>"}}]});
        assert_eq!(normaliser().body(&list), want);
        let bookmark = json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}});
        assert_eq!(normaliser().body(&bookmark)["object"]["metadata"]["resourceVersion"], "<rv>");
    }
}
