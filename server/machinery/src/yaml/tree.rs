//! Converts nodes to a JSON tree: resolves scalars, follows aliases, applies merges, converts keys
//! to strings.

use std::collections::HashSet;

use super::compose::{Node, NodeKind, Nodes, Tag, too_deep};
use super::error;
use super::resolve::{Plain, plain};
use crate::budget::Meter;
use crate::json::{Error, Map, Value};
use crate::limits::{MAX_ALIASED_BYTES, MAX_DEPTH};
use crate::scalar::go_text::quote;

/// The tree of a document, and its duplicate keys, each with its line; the last one of equal keys
/// counts.
pub(super) fn value(nodes: &Nodes, strict: bool, meter: &mut Meter) -> Result<(Value, Vec<String>), Error> {
    let Some(root) = nodes.root else { return Ok((Value::Null, Vec::new())) };
    let mut builder = Builder {
        nodes,
        strict,
        meter,
        repeated: Vec::new(),
        open: Vec::new(),
        depth: 0,
        count: 0,
        aliased: 0,
        bytes: 0,
    };
    let value = builder.node(root)?;
    Ok((value, builder.repeated))
}

/// Limit on the duplicate keys that are reported; upstream reports all of them.
const MAX_REPEATED: usize = 100;

struct Builder<'n, 'm> {
    nodes: &'n Nodes,
    /// Whether duplicate keys are collected.
    strict: bool,
    meter: &'m mut Meter,
    repeated: Vec<String>,
    /// The aliases that are being followed.
    open: Vec<usize>,
    /// The number of open collections, including those behind aliases.
    depth: usize,
    /// The number of visited nodes, the number of those behind aliases, and the bytes of these as
    /// JSON.
    count: usize,
    aliased: usize,
    bytes: usize,
}

/// A key of a mapping: its value, and its JSON spelling.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    text: String,
    /// The key in Go's notation, which distinguishes `1` from `"1"`.
    shown: String,
}

impl Builder<'_, '_> {
    /// Converts a node. Its helper functions are small, so that each nesting level uses little
    /// stack.
    fn node(&mut self, index: usize) -> Result<Value, Error> {
        let nodes = self.nodes;
        let node = &nodes.all[index];
        self.count_visit(node)?;
        self.meter.charge(size_of::<Value>())?;
        match &node.kind {
            NodeKind::Scalar { .. } => self.scalar(node),
            NodeKind::Sequence(items) => self.sequence(items),
            NodeKind::Mapping(entries) => self.mapping(entries),
            NodeKind::Alias { name, target } => self.alias(index, name, *target),
        }
    }

    fn scalar(&mut self, node: &Node) -> Result<Value, Error> {
        if let NodeKind::Scalar { value, .. } = &node.kind {
            self.meter.charge(value.len())?;
        }
        scalar_value(node)
    }

    fn sequence(&mut self, items: &[usize]) -> Result<Value, Error> {
        self.enter()?;
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.node(*item)?);
        }
        self.depth -= 1;
        Ok(Value::Array(values))
    }

    fn mapping(&mut self, entries: &[usize]) -> Result<Value, Error> {
        self.enter()?;
        let mut map = Mapping::default();
        self.fill(entries, &mut map)?;
        self.depth -= 1;
        Ok(Value::Object(map.entries))
    }

    fn alias(&mut self, index: usize, name: &str, target: usize) -> Result<Value, Error> {
        self.follow(index, name)?;
        let value = self.node(target)?;
        self.open.pop();
        Ok(value)
    }

    /// Enters a collection. The depth includes collections behind aliases where they are followed.
    fn enter(&mut self) -> Result<(), Error> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    /// Marks the following nodes as behind an alias.
    fn follow(&mut self, alias: usize, name: &str) -> Result<(), Error> {
        if self.open.contains(&alias) {
            return Err(error(format_args!("anchor '{name}' value contains itself")));
        }
        self.open.push(alias);
        Ok(())
    }

    /// Limits what aliases add to a document: goyaml's limit on nodes, and a limit on bytes.
    fn count_visit(&mut self, node: &Node) -> Result<(), Error> {
        const LOW: f64 = 400_000.0;
        const RANGE: f64 = 3_600_000.0;
        self.count += 1;
        if self.open.is_empty() {
            return Ok(());
        }
        self.aliased += 1;
        let allowed = 0.99 - 0.89 * ((self.count as f64 - LOW) / RANGE).clamp(0.0, 1.0);
        if self.aliased > 100 && self.count > 1000 && self.aliased as f64 / self.count as f64 > allowed {
            return Err(error(format_args!("document contains excessive aliasing")));
        }
        self.bytes += match &node.kind {
            NodeKind::Scalar { value, .. } => value.len() + 1,
            _ => 2,
        };
        if self.bytes > MAX_ALIASED_BYTES {
            let text = "document contains excessive aliasing: aliases add more than";
            return Err(error(format_args!("{text} {MAX_ALIASED_BYTES} bytes")));
        }
        Ok(())
    }

    /// Sets the entries in order; a merge applies at its position.
    fn fill(&mut self, entries: &[usize], map: &mut Mapping) -> Result<(), Error> {
        for entry in entries.chunks_exact(2) {
            let (key, value) = (entry[0], entry[1]);
            if is_merge(&self.nodes.all[key]) {
                self.enter()?;
                self.merge(value, map)?;
                self.depth -= 1;
                continue;
            }
            let key = self.key(key)?;
            let line = self.nodes.all[value].line;
            let value = self.node(value)?;
            self.set(key, value, line, map)?;
        }
        Ok(())
    }

    fn set(&mut self, key: Option<Key>, value: Value, line: usize, map: &mut Mapping) -> Result<(), Error> {
        let Some(key) = key else {
            let text = format!("unsupported map key of type: %!s(<nil>), key: <nil>, value: {}", go_syntax(&value));
            return Err(Error::Yaml(text.into()));
        };
        self.meter.charge(size_of::<Key>() + 3 * key.text.len() + size_of::<(u64, String)>())?;
        if self.strict && self.repeated.len() < MAX_REPEATED && map.shown.contains(&key) {
            self.repeated.push(format!("line {line}: key {} already set in map", key.shown));
        }
        map.entries.insert(key.text.clone(), value);
        map.shown.insert(key);
        Ok(())
    }

    fn merge(&mut self, index: usize, map: &mut Mapping) -> Result<(), Error> {
        let nodes = self.nodes;
        let node = &nodes.all[index];
        self.count_visit(node)?;
        match &node.kind {
            NodeKind::Mapping(entries) => self.fill(entries, map),
            NodeKind::Alias { name, target } => self.merge_alias(index, name, *target, map),
            NodeKind::Sequence(items) => self.merge_all(items, map),
            NodeKind::Scalar { .. } => Err(want_map()),
        }
    }

    fn merge_alias(&mut self, index: usize, name: &str, target: usize, map: &mut Mapping) -> Result<(), Error> {
        let nodes = self.nodes;
        let NodeKind::Mapping(entries) = &nodes.all[target].kind else { return Err(want_map()) };
        self.follow(index, name)?;
        self.count_visit(&nodes.all[target])?;
        self.fill(entries, map)?;
        self.open.pop();
        Ok(())
    }

    /// Merges a list of maps. The first map with a key counts, so the last one is merged first.
    fn merge_all(&mut self, items: &[usize], map: &mut Mapping) -> Result<(), Error> {
        for item in items.iter().rev() {
            match &self.nodes.all[*item].kind {
                NodeKind::Sequence(_) => return Err(want_map()),
                _ => self.merge(*item, map)?,
            }
        }
        Ok(())
    }

    fn key(&mut self, index: usize) -> Result<Option<Key>, Error> {
        let nodes = self.nodes;
        let node = &nodes.all[index];
        self.count_visit(node)?;
        match &node.kind {
            NodeKind::Scalar { .. } => scalar_key(node),
            NodeKind::Alias { name, target } => {
                self.follow(index, name)?;
                let key = self.key(*target)?;
                self.open.pop();
                Ok(key)
            }
            _ => Err(error(format_args!("invalid map key: {}", go_syntax(&self.node(index)?)))),
        }
    }
}

#[derive(Default)]
struct Mapping {
    entries: Map<String, Value>,
    shown: HashSet<Key>,
}

fn want_map() -> Error {
    error(format_args!("map merge requires map or sequence of maps as the value"))
}

fn is_merge(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Scalar { value, tag, plain } => value == "<<" && (*plain || *tag == Some(Tag::Standard("merge"))),
        _ => false,
    }
}

/// The resolved value of a scalar, and its text if its tag changes it.
fn resolve(node: &Node) -> Result<(Plain, std::borrow::Cow<'_, str>), Error> {
    let NodeKind::Scalar { value, tag, plain: is_plain } = &node.kind else { return Ok((Plain::Null, "".into())) };
    let Some(tag) = tag else {
        let meaning = if *is_plain { plain(value) } else { Plain::Text };
        return Ok((meaning, value.into()));
    };
    let Tag::Standard(short) = *tag else { return Ok((Plain::Text, value.into())) };
    let meaning = match short {
        "str" => return Ok((Plain::Text, value.into())),
        "binary" => return binary(value).map(|text| (Plain::Text, text.into())),
        "bool" | "int" | "float" | "null" | "timestamp" => plain(value),
        _ => return Ok((Plain::Text, value.into())),
    };
    match (short, meaning) {
        ("float", Plain::Int(integer)) => Ok((Plain::Float(integer as f64), value.into())),
        _ if meaning.tag()[2..] == *short => Ok((meaning, value.into())),
        _ => Err(error(format_args!("cannot decode {} `{value}` as a !!{short}", meaning.tag()))),
    }
}

fn binary(text: &str) -> Result<String, Error> {
    match crate::json::from_base64(text) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => Err(error(format_args!("!!binary value contains invalid base64 data"))),
    }
}

fn scalar_value(node: &Node) -> Result<Value, Error> {
    let (meaning, text) = resolve(node)?;
    Ok(match meaning {
        Plain::Null => Value::Null,
        Plain::Bool(value) => value.into(),
        Plain::Int(value) => value.into(),
        Plain::Uint(value) => value.into(),
        Plain::Float(value) => match serde_json::Number::from_f64(value) {
            Some(number) => Value::Number(number),
            None => return Err(Error::Yaml(format!("json: unsupported value: {}", go_float(value)).into())),
        },
        Plain::Timestamp | Plain::Text => Value::String(text.into_owned()),
    })
}

/// The key of a scalar; `None` for null, which is not a valid key.
fn scalar_key(node: &Node) -> Result<Option<Key>, Error> {
    let (meaning, text) = resolve(node)?;
    let same = |text: String| Key { shown: text.clone(), text };
    Ok(Some(match meaning {
        Plain::Null => return Ok(None),
        Plain::Bool(value) => same(value.to_string()),
        Plain::Int(value) => same(value.to_string()),
        Plain::Uint(value) => same(value.to_string()),
        Plain::Float(value) => same(super::emit::float(value)),
        Plain::Timestamp | Plain::Text => Key { shown: quote(&text), text: text.into_owned() },
    }))
}

/// The value that goyaml decodes, in the format of Go's `%#v`.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<_> =
                map.iter().map(|(key, value)| format!("{}:{}", quote(key), go_syntax(value))).collect();
            format!("map[interface {{}}]interface {{}}{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

fn go_float(value: f64) -> &'static str {
    match () {
        () if value.is_nan() => "NaN",
        () if value > 0.0 => "+Inf",
        () => "-Inf",
    }
}
