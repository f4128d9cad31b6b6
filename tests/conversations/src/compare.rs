//! Differences of two normalised answers.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

use crate::paths::{self, Path};
use crate::text;

/// A place where two documents differ. `None`: there is nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Such as `status`, `headers.location`, `body.metadata.labels`.
    pub place: String,
    /// What was recorded.
    pub want: Option<Value>,
    /// What the server answered.
    pub got: Option<Value>,
}

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"<([a-z]+)#(\d+)>"));

/// Parts of an answer that are compared, in the order of a report.
const PARTS: [&str; 5] = ["contentType", "contentEncoding", "warning", "headers", "body"];

/// Longest text of one side in a report, in characters.
const LONGEST: usize = 300;

/// A pattern of this program's own. A wrong one matches nothing, which tests notice.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).or_else(|_| Regex::new(r"\z.")).unwrap_or_else(|_| unreachable!("`\\z.` is a pattern"))
}

/// Compares the answers of one scenario; remembers which numbered placeholders belong together.
#[derive(Default)]
pub struct Comparison {
    forth: HashMap<String, String>,
    back: HashMap<String, String>,
    /// Whether 1 and 1.0 differ.
    exact_numbers: bool,
}

impl Comparison {
    /// A comparison by which 1 and 1.0 differ.
    pub fn of_exact_numbers() -> Self {
        Comparison { exact_numbers: true, ..Comparison::default() }
    }

    /// What differs between the recorded and the received answer of a step, without what the step ignores.
    ///
    /// Placeholders of answers that differ are not remembered.
    pub fn answers(&mut self, want: &Value, got: &Value, ignored: &[Path]) -> Vec<Difference> {
        let (forth, back) = (self.forth.clone(), self.back.clone());
        let mut found = Vec::new();
        let same_status = match (want.get("status"), got.get("status")) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => are_equal(a, b),
            (a, b) => a == b,
        };
        if !same_status {
            let got = json_status(got);
            found.push(Difference { place: "status".into(), want: want.get("status").cloned(), got });
        }
        let (want, got) = (without(want, ignored), without(got, ignored));
        for part in PARTS {
            if !ignored.iter().any(|path| path.0.len() == 1 && path.0[0].strip_prefix('$') == Some(part)) {
                let side = |answer: &Value| answer.get(part).cloned().unwrap_or(Value::Null);
                self.walk(Some(&side(&want)), Some(&side(&got)), part.into(), &mut found);
            }
        }
        if !found.is_empty() {
            (self.forth, self.back) = (forth, back);
        }
        found
    }

    /// Everything that differs between two documents.
    pub fn documents(&mut self, want: &Value, got: &Value) -> Vec<Difference> {
        let (forth, back) = (self.forth.clone(), self.back.clone());
        let mut found = Vec::new();
        self.walk(Some(want), Some(got), String::new(), &mut found);
        if !found.is_empty() {
            (self.forth, self.back) = (forth, back);
        }
        found
    }

    fn walk(&mut self, want: Option<&Value>, got: Option<&Value>, place: String, found: &mut Vec<Difference>) {
        match (want, got) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let below = |key: &str| if place.is_empty() { key.into() } else { format!("{place}.{key}") };
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
            // Descriptions of columns are each server's own sentences.
            (_, Some(_)) if place.ends_with("].description") && place.contains("columnDefinitions[") => {}
            (Some(Value::String(a)), Some(Value::String(b))) if self.are_same_texts(a, b) => {}
            (Some(Value::Number(a)), Some(Value::Number(b))) if !self.exact_numbers && are_equal(a, b) => {}
            (a, b) if a == b && !a.is_some_and(Value::is_string) => {}
            (a, b) => found.push(Difference { place, want: a.cloned(), got: b.cloned() }),
        }
    }

    fn are_same_texts(&mut self, a: &str, b: &str) -> bool {
        if !a.contains('#') || !b.contains('#') {
            return a == b;
        }
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

/// The status, with the message of an answer that has one.
fn json_status(got: &Value) -> Option<Value> {
    let status = got.get("status")?;
    match got.get("body").and_then(|body| body.get("message")).and_then(Value::as_str) {
        Some(message) => Some(format!("{status}: {message}").into()),
        None => Some(status.clone()),
    }
}

fn without(answer: &Value, ignored: &[Path]) -> Value {
    let mut answer = answer.clone();
    if let Some(body) = answer.get_mut("body") {
        ignored.iter().for_each(|path| paths::drop(body, &path.0));
    }
    answer
}

/// Whether two numbers have one value, whether they are written as integers or not.
fn are_equal(a: &Number, b: &Number) -> bool {
    let integer = |number: &Number| number.as_i128();
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (Some(integer), None) | (None, Some(integer)) => {
            let float = if a.is_f64() { a.as_f64() } else { b.as_f64() };
            // Floats of whole numbers in this range convert without loss.
            float.is_some_and(|float| float.fract() == 0.0 && float.abs() < 1e38 && float as i128 == integer)
        }
        (None, None) => a.as_f64() == b.as_f64(),
    }
}

impl Difference {
    /// One line of a report.
    pub fn text(&self) -> String {
        match (&self.want, &self.got) {
            (Some(want), None) => format!("{}: missing, want {}", self.place, short(want)),
            (None, Some(got)) => format!("{}: unexpected {}", self.place, short(got)),
            (Some(Value::String(want)), Some(Value::String(got))) => {
                let equal = want.char_indices().zip(got.chars()).take_while(|((_, a), b)| a == b).count();
                let rest = |text: &str| text.chars().skip(equal.saturating_sub(40)).collect::<String>();
                let mark = if equal > 40 { " …" } else { "" };
                format!("{}{mark}: want {}, got {}", self.place, short(&rest(want).into()), short(&rest(got).into()))
            }
            (want, got) => {
                let side = |side: &Option<Value>| side.as_ref().map_or_else(|| "nothing".into(), short);
                format!("{}: want {}, got {}", self.place, side(want), side(got))
            }
        }
    }
}

fn short(value: &Value) -> String {
    let text = text::file(value);
    if text.chars().count() < LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places(want: &Value, got: &Value) -> Vec<String> {
        Comparison::default().documents(want, got).into_iter().map(|found| found.place).collect()
    }

    fn ignored(paths: &[&str]) -> Vec<Path> {
        paths.iter().map(|path| Path::from(*path)).collect()
    }

    #[test]
    fn every_place_that_differs_is_found() {
        let want = json!({"status": 200, "body": {"a": 1, "list": [1, 2], "gone": "x", "null": null, "b": true}});
        let got = json!({"status": 201, "body": {"a": 2, "list": [1], "new": "y", "null": 0, "b": 1}});
        let found = places(&want, &got);
        assert_eq!(found, ["status", "body.a", "body.list[1]", "body.gone", "body.null", "body.b", "body.new"]);
        assert_eq!(places(&want, &want), [""; 0]);
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert_eq!(
            places(&json!([1, 1e3, 0.5, 18446744073709551615u64]), &json!([1.0, 1000, 0.5, 18446744073709551615u64])),
            [""; 0]
        );
        assert_eq!(
            places(&json!([1, 9007199254740993i64, true, 1]), &json!([1.5, 9007199254740992.0, 1, "1"])).len(),
            4
        );
        let mut exact = Comparison::of_exact_numbers();
        assert_eq!(exact.documents(&json!(1), &json!(1.0)).len(), 1);
    }

    #[test]
    fn placeholders_may_have_other_numbers_but_the_same_meaning() {
        let mut comparison = Comparison::default();
        let (want, got) = (json!({"a": "<uid#1>", "b": "<uid#2>"}), json!({"a": "<uid#2>", "b": "<uid#1>"}));
        assert_eq!(comparison.documents(&want, &got), []);
        assert_eq!(comparison.documents(&json!("<uid#1>"), &json!("<uid#1>")).len(), 1);
        assert_eq!(comparison.documents(&json!("<uid#3>"), &json!("<uid#1>")).len(), 1);
        assert_eq!(comparison.documents(&json!("a <uid#1> <uid#2>"), &json!("a <uid#2> <uid#1>")), []);
        assert_eq!(comparison.documents(&json!("<rv#1>"), &json!("<uid#1>")).len(), 1);
        assert_eq!(comparison.documents(&json!("x <rv#1>"), &json!("y <rv#1>")).len(), 1);
        assert_eq!(comparison.documents(&json!("<rv#1>"), &json!("plain")).len(), 1);
    }

    #[test]
    fn placeholders_of_answers_that_differ_are_not_remembered() {
        let mut comparison = Comparison::default();
        assert_eq!(comparison.documents(&json!(["<rv#1>", 1]), &json!(["<rv#7>", 2])).len(), 1);
        assert_eq!(comparison.documents(&json!("<rv#1>"), &json!("<rv#1>")), []);
    }

    #[test]
    fn parts_of_answers_are_compared() {
        let want = json!({"status": 200, "contentType": "a", "contentEncoding": "gzip", "warning": ["w"],
            "headers": {"allow": null}, "body": {"a": {"b": 1}, "message": "m"}});
        let got = json!({"status": 404, "contentType": "b", "warning": ["v"], "headers": {"allow": "GET"},
            "body": {"a": {"b": 2}, "message": "n"}});
        let places = |paths: &[&str]| -> Vec<String> {
            let found = Comparison::default().answers(&want, &got, &ignored(paths));
            found.into_iter().map(|found| found.place).collect()
        };
        let parts = ["status", "contentType", "contentEncoding", "warning[0]", "headers.allow"];
        assert_eq!(places(&["a", "message"]), parts);
        assert_eq!(
            places(&["$warning", "$headers", "$contentType", "$contentEncoding", "a.b"]),
            ["status", "body.message"]
        );
        assert_eq!(places(&["$body"])[..], parts);
    }

    #[test]
    fn a_part_that_is_null_is_as_one_that_is_absent() {
        let (want, got) = (json!({"status": 200, "body": null}), json!({"status": 200}));
        assert_eq!(Comparison::default().answers(&want, &got, &[]), []);
    }

    #[test]
    fn descriptions_of_columns_are_not_compared_but_have_to_be_there() {
        let table = |column: Value| json!({"columnDefinitions": [column]});
        let want = table(json!({"name": "A", "description": ""}));
        assert_eq!(places(&want, &table(json!({"name": "A", "description": "text"}))), [""; 0]);
        assert_eq!(places(&want, &table(json!({"name": "A"}))), ["columnDefinitions[0].description"]);
        assert_eq!(places(&json!({"description": "a"}), &json!({"description": "b"})), ["description"]);
    }

    #[test]
    fn differences_are_one_line() {
        let line = |want: Value, got: Value| Comparison::default().documents(&want, &got)[0].text();
        assert_eq!(line(json!({"a": 1}), json!({})), "a: missing, want 1");
        assert_eq!(line(json!({}), json!({"a": 1})), "a: unexpected 1");
        assert_eq!(line(json!({"a": 1}), json!({"a": "1"})), "a: want 1, got \"1\"");
        let (long, other) = ("x".repeat(60) + "a", "x".repeat(60) + "b");
        let tail = "x".repeat(40);
        assert_eq!(line(json!({"a": long}), json!({"a": other})), format!("a …: want \"{tail}a\", got \"{tail}b\""));
        let got = json!({"status": 404, "body": {"message": "not found"}});
        let status = &Comparison::default().answers(&json!({"status": 200}), &got, &[])[0];
        assert_eq!(status.text(), "status: want 200, got \"404: not found\"");
    }
}
