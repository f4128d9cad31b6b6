//! Documents without a declared type: the tree of `serde_json`, with the semantics of upstream's
//! unstructured objects.

pub use serde_json::{Map, Value};

use super::error::{Error, TypeError};
use super::issues::Issues;
use super::path::ValuePath;
use super::read::{Reader, Stop, reason, to_text};
use super::write;
use crate::budget::Meter;
use crate::reflect::Ref;

/// Parses a document. Integers of up to 64 bits stay integers. The last one of duplicate keys wins.
///
/// # Errors
/// [`Error`] when the text is not JSON, a number exceeds the range of a float, or the document
/// exceeds a limit.
pub fn parse(document: &[u8], issues: &mut Issues) -> Result<Value, Error> {
    let text = to_text(document);
    let reader = Reader::new(&text).with_max_depth(issues.max_depth());
    let meter = &mut issues.meter(document.len());
    let mut parser = Parser { reader, issues, meter, error: None };
    parser.reader.token();
    let value =
        parser.value(&ValuePath::ROOT).and_then(|value| if parser.reader.at_end() { Ok(value) } else { Err(Stop) });
    let Parser { error, .. } = parser;
    match (value, error) {
        (Ok(value), None) => Ok(value),
        (_, error) => {
            issues.clear();
            Err(reason(document, error))
        }
    }
}

/// Converts a struct to a tree.
pub fn to_value(value: Ref<'_>) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Appends the JSON of a tree with sorted keys, as Go writes maps.
pub fn encode_value(value: &Value, out: &mut Vec<u8>) {
    encode_tree(value, Keys::Sorted, out);
}

/// Appends the JSON of a tree with keys in their present order.
pub fn encode_value_in_order(value: &Value, out: &mut Vec<u8>) {
    encode_tree(value, Keys::Unsorted, out);
}

#[derive(Clone, Copy, PartialEq)]
enum Keys {
    Sorted,
    Unsorted,
}

fn encode_tree(value: &Value, keys: Keys, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => encode_number(number, out),
        Value::String(text) => write::string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                encode_tree(item, keys, out);
            }
            out.push(b']');
        }
        Value::Object(map) => encode_members(map, keys, out),
    }
}

/// Appends an object, keys sorted.
pub(super) fn encode_map(map: &Map<String, Value>, out: &mut Vec<u8>) {
    encode_members(map, Keys::Sorted, out);
}

fn encode_members(map: &Map<String, Value>, keys: Keys, out: &mut Vec<u8>) {
    // Most clients send sorted keys.
    if keys == Keys::Unsorted || map.keys().is_sorted() {
        return encode_each(map, keys, out);
    }
    let mut members: Vec<(&String, &Value)> = map.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    encode_each(members, keys, out);
}

fn encode_each<'m>(members: impl IntoIterator<Item = (&'m String, &'m Value)>, keys: Keys, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write::string(out, key);
        out.push(b':');
        encode_tree(value, keys, out);
    }
    out.push(b'}');
}

fn encode_number(number: &serde_json::Number, out: &mut Vec<u8>) {
    if let Some(integer) = number.as_i64() {
        write::integer(out, integer);
    } else if let Some(integer) = number.as_u64() {
        crate::scalar::digits::append_u64(out, integer);
    } else {
        // Upstream decodes a stored `-0` as an integer, which has no sign.
        let float = number.as_f64().filter(|float| *float != 0.0);
        write::float(out, float.unwrap_or(0.0));
    }
}

/// Decodes the next value of the reader to a tree. The second result is an error that does not stop
/// decoding.
pub(super) fn subtree(
    reader: &mut Reader<'_>,
    issues: &mut Issues,
    meter: &mut Meter,
    path: &ValuePath<'_>,
) -> (Result<Value, Stop>, Option<Error>) {
    let mut parser = Parser { reader: std::mem::replace(reader, Reader::new("")), issues, meter, error: None };
    let value = parser.value(path);
    *reader = parser.reader;
    (value, parser.error)
}

/// Bytes of an object member besides the content of its key and value: hash, key, value, and index
/// entry.
pub(crate) const MEMBER_SIZE: usize = 2 * size_of::<usize>() + size_of::<(String, Value)>();

struct Parser<'d, 'i> {
    reader: Reader<'d>,
    issues: &'i mut Issues,
    meter: &'i mut Meter,
    error: Option<Error>,
}

impl<'d> Parser<'d, '_> {
    fn value(&mut self, path: &ValuePath<'_>) -> Result<Value, Stop> {
        Ok(match self.reader.peek() {
            b'{' => Value::Object(self.object(path)?),
            b'[' => Value::Array(self.array(path)?),
            b'"' => Value::String(self.reader.string()?.into_owned()),
            b't' => self.reader.word(b"true").map(|()| Value::Bool(true))?,
            b'f' => self.reader.word(b"false").map(|()| Value::Bool(false))?,
            b'n' => self.reader.word(b"null").map(|()| Value::Null)?,
            _ => self.number()?,
        })
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let text = self.reader.number()?;
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(integer.into());
        }
        let float = text.parse().ok().and_then(serde_json::Number::from_f64);
        if float.is_none() {
            let found = format!("number {text}").into();
            let error = TypeError { found, owner: "", path: "".into(), wanted: "float64".into() };
            self.error.get_or_insert(Error::Type(Box::new(error)));
        }
        Ok(float.map_or(Value::Null, Value::Number))
    }

    /// Counts bytes before they are allocated.
    fn charge(&mut self, bytes: usize) -> Result<(), Stop> {
        self.meter.charge(bytes).map_err(|exceeded| {
            self.error = Some(exceeded.into());
            Stop
        })
    }

    fn object(&mut self, path: &ValuePath<'_>) -> Result<Map<String, Value>, Stop> {
        let mut map = Map::new();
        if self.reader.enter_empty(b'}')? {
            return Ok(map);
        }
        loop {
            let key = self.reader.name()?;
            self.charge(MEMBER_SIZE + key.len())?;
            if self.issues.is_collecting() && map.contains_key(&*key) {
                self.issues.duplicate(path, &key);
            }
            let value = self.value(&path.key(&key))?;
            map.insert(key.into_owned(), value);
            if !self.reader.more(b'}')? {
                return Ok(map);
            }
        }
    }

    fn array(&mut self, path: &ValuePath<'_>) -> Result<Vec<Value>, Stop> {
        let mut items = Vec::new();
        if self.reader.enter_empty(b']')? {
            return Ok(items);
        }
        loop {
            self.charge(size_of::<Value>())?;
            let item = self.value(&path.index(items.len()))?;
            items.push(item);
            if !self.reader.more(b']')? {
                return Ok(items);
            }
        }
    }
}
