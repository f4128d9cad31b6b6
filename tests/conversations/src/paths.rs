//! Parts of a JSON document by path: left out, kept, sorted.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text;

/// Keys from the top of a document; `*` stands for every key or item.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(from = "Written")]
pub struct Path(pub Vec<String>);

/// A path as recordings have it: with dots, or as a list where keys contain dots.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Dotted(String),
    Parts(Vec<String>),
}

impl From<Written> for Path {
    fn from(written: Written) -> Self {
        match written {
            Written::Dotted(text) => Path::from(text.as_str()),
            Written::Parts(parts) => Path(parts),
        }
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Path(text.split('.').map(str::to_string).collect())
    }
}

/// Removes what is at a path. A list is passed with or without `*`.
pub fn drop(value: &mut Value, path: &[String]) {
    let Some((head, rest)) = path.split_first() else { return };
    match value {
        Value::Array(items) => {
            let below = if head == "*" { rest } else { path };
            items.iter_mut().for_each(|item| drop(item, below));
        }
        Value::Object(object) if rest.is_empty() => {
            if head == "*" {
                object.clear();
            }
            object.remove(head);
        }
        Value::Object(object) if head == "*" => object.values_mut().for_each(|value| drop(value, rest)),
        Value::Object(object) => {
            if let Some(value) = object.get_mut(head) {
                drop(value, rest);
            }
        }
        _ => {}
    }
}

/// The parts of a document at these paths; `None` where there is none of them. A null is no part.
pub fn keep(value: &Value, paths: &[&[String]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value.clone()).filter(|value| !value.is_null());
    }
    if paths.is_empty() {
        return None;
    }
    let below = |key: &str| -> Vec<&[String]> {
        let matching = paths.iter().filter(|path| path[0] == "*" || path[0] == key);
        matching.map(|path| &path[1..]).collect()
    };
    match value {
        Value::Object(object) => {
            let kept = object.iter().filter_map(|(key, value)| Some((key.clone(), keep(value, &below(key))?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => {
            let kept = items.iter().enumerate().filter_map(|(at, item)| keep(item, &below(&at.to_string())));
            Some(Value::Array(kept.collect()))
        }
        _ => None,
    }
}

/// Sorts the lists at a path by the text of their items.
pub fn sort(value: &mut Value, path: &[String]) {
    match (value, path.split_first()) {
        (Value::Array(items), None) => items.sort_by_cached_key(text::sorted),
        (Value::Array(items), Some((head, rest))) => {
            let matching = items.iter_mut().enumerate().filter(|(at, _)| head == "*" || *head == at.to_string());
            matching.for_each(|(_, item)| sort(item, rest));
        }
        (Value::Object(object), Some((head, rest))) => {
            let matching = object.iter_mut().filter(|(key, _)| head == "*" || head == *key);
            matching.for_each(|(_, value)| sort(value, rest));
        }
        _ => {}
    }
}

/// The keys and types of a document; of lists, those of the first item.
pub fn shape(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            Value::Object(object.iter().map(|(key, value)| (key.clone(), shape(value))).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.first().map(shape).into_iter().collect(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "str".into(),
        Value::Bool(_) => "bool".into(),
        Value::Null => "NoneType".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dropped(mut value: Value, path: &str) -> Value {
        drop(&mut value, &Path::from(path).0);
        value
    }

    fn kept(value: Value, paths: &[&str]) -> Option<Value> {
        let paths: Vec<Path> = paths.iter().map(|path| Path::from(*path)).collect();
        keep(&value, &paths.iter().map(|path| path.0.as_slice()).collect::<Vec<_>>())
    }

    #[test]
    fn paths_are_read_with_dots_or_as_lists() {
        let paths: Vec<Path> = serde_json::from_value(json!(["a.*.b", ["a", "x.y/z"]])).unwrap();
        assert_eq!(paths, [Path(vec!["a".into(), "*".into(), "b".into()]), Path(vec!["a".into(), "x.y/z".into()])]);
    }

    #[test]
    fn what_is_at_a_path_is_dropped() {
        let value = json!({"a": {"b": 1, "c": 2}, "items": [{"n": 1, "m": 2}, {"n": 3}]});
        assert_eq!(dropped(value.clone(), "a.b")["a"], json!({"c": 2}));
        assert_eq!(dropped(value.clone(), "a.*")["a"], json!({}));
        assert_eq!(dropped(value.clone(), "items.*.n")["items"], json!([{"m": 2}, {}]));
        assert_eq!(dropped(value.clone(), "items.n")["items"], json!([{"m": 2}, {}]));
        assert_eq!(dropped(value.clone(), "*.c")["a"], json!({"b": 1}));
        assert_eq!(dropped(value.clone(), "none.c"), value);
    }

    #[test]
    fn only_what_is_at_the_paths_is_kept() {
        let value = json!({"a": {"b": 1, "c": 2, "d": null}, "items": [{"n": 1, "m": 2}, {"m": 3}]});
        assert_eq!(kept(value.clone(), &["a.b", "a.d"]), Some(json!({"a": {"b": 1}})));
        assert_eq!(kept(value.clone(), &["items.*.n"]), Some(json!({"items": [{"n": 1}, {}]})));
        assert_eq!(kept(value.clone(), &["items.1"]), Some(json!({"items": [{"m": 3}]})));
        assert_eq!(kept(value.clone(), &["none"]), Some(json!({})));
        assert_eq!(kept(value, &["a.b.c"]), Some(json!({"a": {}})));
        assert_eq!(kept(json!("text"), &["a"]), None);
    }

    #[test]
    fn lists_are_sorted_by_text() {
        let mut value = json!({"items": [{"l": [2, 10, 1]}, {"l": []}]});
        sort(&mut value, &Path::from("items.*.l").0);
        sort(&mut value, &Path::from("items").0);
        assert_eq!(value, json!({"items": [{"l": [1, 10, 2]}, {"l": []}]}));
    }

    #[test]
    fn a_shape_has_keys_and_types() {
        let value = json!({"a": "x", "b": [1.5, "y"], "c": [], "d": {"e": true, "f": null}});
        let want = json!({"a": "str", "b": ["number"], "c": [], "d": {"e": "bool", "f": "NoneType"}});
        assert_eq!(shape(&value), want);
    }
}
