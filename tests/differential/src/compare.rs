//! Differences of two normalised answers.

use std::sync::LazyLock;

use conversations::compare::{self, pattern};
use regex::Regex;
use serde_json::Value;

/// A place in an answer where two servers differ. `None`: there is nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Such as `status`, `headers.warning`, `body.metadata.labels`.
    pub place: String,
    pub upstream: Option<Value>,
    pub here: Option<Value>,
}

static VARIABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\\?"[^"]*"|'[^']*'|\d+|<[a-z]+#?>|\[\]"#));

/// Compares the answers of one conversation; remembers which numbered placeholders belong together.
pub struct Comparison(compare::Comparison);

impl Default for Comparison {
    fn default() -> Self {
        // Two servers are to write numbers alike, too.
        Comparison(compare::Comparison::of_exact_numbers())
    }
}

impl Comparison {
    /// Everything that differs between two answers to the same request.
    pub fn differences(&mut self, upstream: &Value, here: &Value) -> Vec<Difference> {
        let found = self.0.documents(upstream, here).into_iter();
        found.map(|found| Difference { place: found.place, upstream: found.want, here: found.got }).collect()
    }
}

impl Difference {
    /// What differences of one family have in common: the place without numbers, both sides without what is quoted.
    pub fn signature(&self) -> String {
        let place = VARIABLE.replace_all(&self.place, "_");
        let fields = ["fieldsV1", "labels", "annotations", "data"];
        let place = fields.iter().fold(place.to_string(), |place, field| {
            place.find(&format!("{field}.")).map_or(place.clone(), |at| place[..at + field.len()].to_string())
        });
        format!("{place}: {} / {}", general(self.upstream.as_ref()), general(self.here.as_ref()))
    }

    /// For people.
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
    fn every_place_that_differs_is_found() {
        let upstream = json!({"status": 200, "body": {"a": 1, "list": [1, 2], "gone": "x"}});
        let here = json!({"status": 201, "body": {"a": 1.0, "list": [1], "new": "y"}});
        let found = Comparison::default().differences(&upstream, &here);
        assert_eq!(places(&found), ["status", "body.a", "body.list[1]", "body.gone", "body.new"]);
        assert_eq!(found[3].here, None);
    }

    #[test]
    fn placeholders_may_have_other_numbers_but_the_same_meaning() {
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
