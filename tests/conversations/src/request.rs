//! Requests as they are sent: variables filled in, bodies changed and written out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::scenario::Request;
use crate::text;

/// One request on the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    /// Such as `GET`.
    pub method: String,
    /// Escaped path and query.
    pub path: String,
    /// Names as they are written, and values.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
    /// The user: `admin` is the one of the kubeconfig; `""` has no credentials.
    pub user: String,
}

impl Outgoing {
    /// A request that surrounds a scenario, of the administrator.
    pub fn new(method: &str, path: &str, body: Option<Value>) -> Self {
        let request = Request {
            method: method.into(),
            path: path.into(),
            headers: Map::new(),
            body: body.unwrap_or(Value::Null),
        };
        Outgoing::from_request(&request, "admin")
    }

    /// A request whose variables are filled in.
    pub fn from_request(request: &Request, user: &str) -> Self {
        let mut headers = Map::new();
        headers.insert("Accept".into(), "application/json".into());
        headers.insert("User-Agent".into(), "replay".into());
        let body = bytes(&request.body);
        if body.is_some() {
            headers.insert("Content-Type".into(), "application/json".into());
        }
        headers.extend(request.headers.clone());
        let values = headers.into_iter().flat_map(|(name, value)| {
            let values = match value {
                Value::Null => Vec::new(),
                Value::Array(values) => values,
                value => vec![value],
            };
            values.into_iter().map(move |value| (name.clone(), display(&value)))
        });
        Outgoing {
            method: request.method.clone(),
            path: escaped(&request.path),
            headers: values.collect(),
            body,
            user: user.into(),
        }
    }
}

/// The bytes of a body; null is no body.
fn bytes(body: &Value) -> Option<Vec<u8>> {
    match (body.get("$base64").and_then(Value::as_str), body.get("$text").and_then(Value::as_str)) {
        _ if body.is_null() => None,
        // Base64 that is none is a mistake in the recording, which the answer shows.
        (Some(text), _) => Some(STANDARD.decode(text).unwrap_or_default()),
        (None, Some(text)) => Some(text.as_bytes().to_vec()),
        (None, None) => Some(text::body(&expanded(body)).into_bytes()),
    }
}

/// Writes out `{"$repeat": ["x", 1000]}`.
fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(object) => match repeated(object) {
            Some(text) => text.into(),
            None => Value::Object(object.iter().map(|(key, value)| (key.clone(), expanded(value))).collect()),
        },
        Value::Array(items) => items.iter().map(expanded).collect(),
        other => other.clone(),
    }
}

fn repeated(object: &Map<String, Value>) -> Option<String> {
    let parts = object.get("$repeat").filter(|_| object.len() == 1)?;
    Some(parts[0].as_str()?.repeat(usize::try_from(parts[1].as_u64()?).ok()?))
}

/// Writes out `{"$of": NAME, "set": [[PATH, VALUE], ..], "drop": [PATH, ..]}`: one of the scenario's bodies, changed.
///
/// # Errors
/// A name or a path that the bodies do not have.
pub fn changed(body: &Value, bodies: &Map<String, Value>) -> Result<Value> {
    let Some(name) = body.get("$of") else { return Ok(body.clone()) };
    let missing = || Error::Reference(format!("no body {name}"));
    let mut out = name.as_str().and_then(|name| bodies.get(name)).ok_or_else(missing)?.clone();
    let list = |key: &str| body.get(key).and_then(Value::as_array).into_iter().flatten();
    let sets = list("set").map(|pair| (&pair[0], pair.get(1)));
    for (path, value) in sets.chain(list("drop").map(|path| (path, None))) {
        change(&mut out, &parts(path), value)
            .ok_or_else(|| Error::Reference(format!("no {path} in the body {name}")))?;
    }
    Ok(out)
}

fn parts(path: &Value) -> Vec<String> {
    match path {
        Value::Array(parts) => parts.iter().map(display).collect(),
        other => display(other).split('.').map(str::to_string).collect(),
    }
}

fn change(value: &mut Value, path: &[String], new: Option<&Value>) -> Option<()> {
    let (head, rest) = path.split_first()?;
    match value {
        Value::Array(items) => {
            let at: usize = head.parse().ok()?;
            match new {
                _ if !rest.is_empty() => return change(items.get_mut(at)?, rest, new),
                Some(new) if at == items.len() => items.push(new.clone()),
                Some(new) => *items.get_mut(at)? = new.clone(),
                None if at < items.len() => drop(items.remove(at)),
                None => return None,
            }
        }
        Value::Object(object) => match new {
            _ if !rest.is_empty() => return change(object.entry(head).or_insert_with(|| json!({})), rest, new),
            Some(new) => drop(object.insert(head.clone(), new.clone())),
            None => drop(object.shift_remove(head)?),
        },
        _ => return None,
    }
    Some(())
}

/// Puts parts of earlier answers in place of `${...}`; a text that is one variable becomes the part itself.
///
/// # Errors
/// A variable that no earlier answer has.
pub fn fill(value: &Value, answers: &Map<String, Value>) -> Result<Value> {
    Ok(match value {
        Value::String(text) => fill_text(text, answers)?,
        Value::Array(items) => items.iter().map(|item| fill(item, answers)).collect::<Result<_>>()?,
        Value::Object(object) => Value::Object(fill_object(object, answers)?),
        other => other.clone(),
    })
}

/// [`fill`] of an object, with its keys.
///
/// # Errors
/// A variable that no earlier answer has.
pub fn fill_object(object: &Map<String, Value>, answers: &Map<String, Value>) -> Result<Map<String, Value>> {
    let fields = object.iter().map(|(key, value)| Ok((display(&fill_text(key, answers)?), fill(value, answers)?)));
    fields.collect()
}

/// [`fill`] of a text.
///
/// # Errors
/// A variable that no earlier answer has.
pub fn fill_text(text: &str, answers: &Map<String, Value>) -> Result<Value> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, (path, after))) =
        rest.split_once("${").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        let found = lookup(answers, path)?;
        if out.is_empty() && before.is_empty() && after.is_empty() {
            return Ok(found.clone());
        }
        out = out + before + &display(found);
        rest = after;
    }
    Ok((out + rest).into())
}

/// The part of earlier answers at a path such as `create.body.metadata.uid`.
///
/// # Errors
/// A path that the answers do not have.
pub fn lookup<'v>(answers: &'v Map<String, Value>, path: &str) -> Result<&'v Value> {
    let missing = || Error::Reference(path.to_string());
    let mut words = path.split('.');
    let first = words.next().and_then(|word| answers.get(word)).ok_or_else(missing)?;
    let found = words.try_fold(first, |at, word| match at {
        Value::Array(items) => items.get(word.parse::<usize>().ok()?),
        other => other.get(word),
    });
    found.ok_or_else(missing)
}

/// A value within a text.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => text::body(other),
    }
}

/// A path as it is sent: characters that no URL has are escaped.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/?&=%:,!+~@()*'$;.-_[]\"".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> Map<String, Value> {
        let value = json!({"ns": "t-1", "c": {"body": {"n": 5, "l": ["x", {"y": "z"}]}, "headers": {"etag": "e"}}});
        value.as_object().unwrap().clone()
    }

    fn request(value: Value) -> Outgoing {
        Outgoing::from_request(&serde_json::from_value(value).unwrap(), "admin")
    }

    #[test]
    fn variables_become_parts_of_earlier_answers() {
        let value = json!({"${ns}": ["a ${ns} ${c.body.n}", "${c.body.l}", "${c.body.l.1.y}", "${c.headers.etag}", 1]});
        let want = json!({"t-1": ["a t-1 5", ["x", {"y": "z"}], "z", "e", 1]});
        assert_eq!(fill(&value, &answers()).unwrap(), want);
        let error = fill(&json!("${c.body.none}"), &answers()).unwrap_err();
        assert!(error.to_string().ends_with("an earlier answer lacks: c.body.none"), "{error}");
        assert!(fill(&json!("${other.body}"), &answers()).is_err());
    }

    #[test]
    fn bodies_of_a_scenario_are_changed() {
        let bodies = json!({"base": {"a": {"b": 1, "c": 2}, "l": [1, 2]}});
        let changed = |body: Value| changed(&body, bodies.as_object().unwrap());
        let set = json!([["a.b", 3], ["x.y", 4], ["l.2", 5], ["l.0", 6], [["p.q"], 7]]);
        let body = json!({"$of": "base", "set": set, "drop": ["a.c"]});
        let want = json!({"a": {"b": 3}, "l": [6, 2, 5], "x": {"y": 4}, "p.q": 7});
        assert_eq!(changed(body).unwrap(), want);
        assert_eq!(changed(json!({"$of": "base", "drop": ["l.0"]})).unwrap()["l"], json!([2]));
        assert_eq!(changed(json!({"other": 1})).unwrap(), json!({"other": 1}));
        for wrong in
            [json!({"$of": "none"}), json!({"$of": "base", "drop": ["l.2"]}), json!({"$of": "base", "drop": ["z"]})]
        {
            assert!(changed(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bodies_are_json_text_or_base64() {
        let body = |body: Value| request(json!({"method": "POST", "path": "/", "body": body})).body;
        assert_eq!(body(json!({"a": "ü", "b": {"$repeat": ["xy", 3]}})).unwrap(), br#"{"a": "\u00fc", "b": "xyxyxy"}"#);
        assert_eq!(body(json!({"$text": "ü"})).unwrap(), "ü".as_bytes());
        assert_eq!(body(json!({"$base64": "AAE="})).unwrap(), [0, 1]);
        assert_eq!(body(Value::Null), None);
    }

    #[test]
    fn headers_are_replaced_repeated_or_left_out() {
        let headers = |headers: Value| request(json!({"method": "GET", "path": "/", "headers": headers})).headers;
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(headers(json!({})), [pair("Accept", "application/json"), pair("User-Agent", "replay")]);
        let found = headers(json!({"Accept": null, "User-Agent": "u", "A": ["1", "2"], "B": 3}));
        assert_eq!(found, [pair("User-Agent", "u"), pair("A", "1"), pair("A", "2"), pair("B", "3")]);
    }

    #[test]
    fn paths_are_escaped() {
        assert_eq!(
            request(json!({"method": "GET", "path": "/a b/%2F?x=é,#1&y=!(z)"})).path,
            "/a%20b/%2F?x=%C3%A9,%231&y=!(z)"
        );
    }
}
