//! Differences of two normalised responses.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// A location in a response where two servers differ. `None`: the value is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Such as `status`, `headers.warning`, `body.metadata.labels`.
    pub place: String,
    pub upstream: Option<Value>,
    pub here: Option<Value>,
}

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| regex(r"<([a-z]+)#(\d+)>"));
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| regex(r#"\\?"[^"]*"|'[^']*'|\d+|<[a-z]+#?>|\[\]"#));

pub(crate) fn regex(pattern: &str) -> Regex {
    // An invalid pattern of this program matches nothing, which makes a test fail.
    Regex::new(pattern).or_else(|_| Regex::new(r"\z.")).unwrap_or_else(|_| unreachable!("`\\z.` is a pattern"))
}

/// Compares the responses of one conversation; keeps which numbered placeholders correspond.
#[derive(Default)]
pub struct Comparison {
    forth: HashMap<String, String>,
    back: HashMap<String, String>,
}

impl Comparison {
    /// Returns all differences between two responses to the same request.
    pub fn differences(&mut self, upstream: &Value, here: &Value) -> Vec<Difference> {
        let (forth, back) = (self.forth.clone(), self.back.clone());
        let mut found = Vec::new();
        self.walk(Some(upstream), Some(here), String::new(), &mut found);
        if !found.is_empty() {
            (self.forth, self.back) = (forth, back);
        }
        found
    }

    fn walk(&mut self, upstream: Option<&Value>, here: Option<&Value>, place: String, found: &mut Vec<Difference>) {
        let below = |key: &str| if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
        match (upstream, here) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                for (key, value) in a {
                    self.walk(Some(value), b.get(key), below(key), found);
                }
                for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                    self.walk(None, Some(value), below(key), found);
                }
            }
            (Some(Value::Array(a)), Some(Value::Array(b))) => {
                for at in 0..a.len().max(b.len()) {
                    self.walk(a.get(at), b.get(at), format!("{place}[{at}]"), found);
                }
            }
            (Some(Value::String(a)), Some(Value::String(b))) if a.contains('#') && b.contains('#') => {
                if !self.same_text(a, b) {
                    found.push(Difference { place, upstream: upstream.cloned(), here: here.cloned() });
                }
            }
            // Descriptions of table columns are not compared.
            _ if place.ends_with("].description") && place.contains("columnDefinitions[") => {}
            (a, b) if a == b => {}
            (a, b) => found.push(Difference { place, upstream: a.cloned(), here: b.cloned() }),
        }
    }

    fn same_text(&mut self, a: &str, b: &str) -> bool {
        if PLACEHOLDER.replace_all(a, "<$1#>") != PLACEHOLDER.replace_all(b, "<$1#>") {
            return false;
        }
        let all = |text| PLACEHOLDER.find_iter(text).map(|found| found.as_str().to_string()).collect::<Vec<_>>();
        let pairs: Vec<_> = all(a).into_iter().zip(all(b)).collect();
        let fits = |(a, b): &(String, String)| {
            self.forth.get(a).is_none_or(|known| known == b) && self.back.get(b).is_none_or(|known| known == a)
        };
        if !pairs.iter().all(fits) {
            return false;
        }
        for (a, b) in pairs {
            self.back.insert(b.clone(), a.clone());
            self.forth.insert(a, b);
        }
        true
    }
}

impl Difference {
    /// Returns the signature of a family of differences: the location without numbers, both sides
    /// without quoted text.
    pub fn signature(&self) -> String {
        let place = VARIABLE.replace_all(&self.place, "_");
        let fields = ["fieldsV1", "labels", "annotations", "data"];
        let place = fields.iter().fold(place.to_string(), |place, field| {
            place.find(&format!("{field}.")).map_or(place.clone(), |at| place[..at + field.len()].to_string())
        });
        format!("{place}: {} / {}", general(self.upstream.as_ref()), general(self.here.as_ref()))
    }

    /// Returns readable text.
    pub fn text(&self) -> String {
        format!("{}: {} / {}", self.place, short(self.upstream.as_ref()), short(self.here.as_ref()))
    }
}

fn general(side: Option<&Value>) -> String {
    match side {
        None => "nothing".into(),
        Some(Value::String(text)) => VARIABLE.replace_all(text, "_").chars().take(160).collect(),
        Some(Value::Object(_)) => "an object".into(),
        Some(Value::Array(_)) => "a list".into(),
        Some(other) => other.to_string(),
    }
}

fn short(side: Option<&Value>) -> String {
    let text = side.map_or("nothing".into(), Value::to_string);
    if text.chars().count() > 700 { text.chars().take(700).chain("...".chars()).collect() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places(found: &[Difference]) -> Vec<&str> {
        found.iter().map(|d| d.place.as_str()).collect()
    }

    #[test]
    fn every_difference_is_found() {
        let upstream = json!({"status": 200, "body": {"a": 1, "list": [1, 2], "gone": "x"}});
        let here = json!({"status": 201, "body": {"a": 1.0, "list": [1], "new": "y"}});
        let found = Comparison::default().differences(&upstream, &here);
        assert_eq!(places(&found), ["status", "body.a", "body.list[1]", "body.gone", "body.new"]);
        assert_eq!(found[3].here, None);
    }

    #[test]
    fn corresponding_placeholders_may_have_other_numbers() {
        let mut comparison = Comparison::default();
        let one = (json!({"a": "<uid#1>", "b": "<uid#2>"}), json!({"a": "<uid#2>", "b": "<uid#1>"}));
        assert_eq!(comparison.differences(&one.0, &one.1), []);
        assert_eq!(places(&comparison.differences(&json!("<uid#1>"), &json!("<uid#1>"))), [""]);
        assert_eq!(comparison.differences(&json!("<uid#1>"), &json!("<uid#2>")), []);
    }

    #[test]
    fn differences_of_one_family_have_one_signature() {
        let of = |name: &str| Difference {
            place: "body.items[3].message".into(),
            upstream: Some(json!(format!("pods \"{name}\" not found"))),
            here: None,
        };
        assert_eq!(of("a").signature(), of("b").signature());
        assert_eq!(of("a").signature(), "body.items[_].message: pods _ not found / nothing");
    }
}
