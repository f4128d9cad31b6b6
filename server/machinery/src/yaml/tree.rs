//! From nodes to a JSON tree: scalars resolved, aliases followed, merges done, keys made strings.

use std::collections::HashMap;

use super::compose::{Kind, Node, Nodes};
use super::error;
use super::resolve::{Plain, plain};
use crate::json::{Error, Map, Value};
use crate::scalar::go_text::quote;

/// The tree of a document. When strict, a key that is set twice is an error; all of them are reported at once.
pub(super) fn value(nodes: &Nodes, strict: bool) -> Result<Value, Error> {
    let Some(root) = nodes.root else { return Ok(Value::Null) };
    let mut builder = Builder { nodes, strict, repeated: Vec::new(), open: Vec::new(), count: 0, aliased: 0 };
    let value = builder.node(root)?;
    if builder.repeated.is_empty() {
        return Ok(value);
    }
    Err(error(format_args!("unmarshal errors:\n  {}", builder.repeated.join("\n  "))))
}

struct Builder<'n> {
    nodes: &'n Nodes,
    strict: bool,
    repeated: Vec<String>,
    /// The aliases that are being followed.
    open: Vec<usize>,
    /// Nodes visited, and those of them behind aliases.
    count: usize,
    aliased: usize,
}

/// A key of a mapping: what it is and how JSON spells it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    text: String,
    /// How Go prints it, which tells `1` from `"1"`.
    shown: String,
}

impl Builder<'_> {
    fn node(&mut self, index: usize) -> Result<Value, Error> {
        self.count_visit()?;
        let nodes = self.nodes;
        let node = &nodes.all[index];
        match &node.kind {
            Kind::Scalar { .. } => scalar_value(node),
            Kind::Sequence(items) => {
                items.iter().map(|item| self.node(*item)).collect::<Result<_, _>>().map(Value::Array)
            }
            Kind::Mapping(entries) => {
                let mut map = Mapping::default();
                self.fill(entries, &mut map)?;
                Ok(Value::Object(map.entries))
            }
            Kind::Alias { name, target } => self.follow(index, name, *target, |builder, target| builder.node(target)),
        }
    }

    /// goyaml's bound against documents that grow by aliases.
    fn count_visit(&mut self) -> Result<(), Error> {
        const LOW: f64 = 400_000.0;
        const RANGE: f64 = 3_600_000.0;
        self.count += 1;
        self.aliased += usize::from(!self.open.is_empty());
        let allowed = 0.99 - 0.89 * ((self.count as f64 - LOW) / RANGE).clamp(0.0, 1.0);
        if self.aliased > 100 && self.count > 1000 && self.aliased as f64 / self.count as f64 > allowed {
            return Err(error(format_args!("document contains excessive aliasing")));
        }
        Ok(())
    }

    fn follow<T>(
        &mut self,
        alias: usize,
        name: &str,
        target: usize,
        visit: impl FnOnce(&mut Self, usize) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.open.contains(&alias) {
            return Err(error(format_args!("anchor '{name}' value contains itself")));
        }
        if self.open.len() > crate::json::MAX_TREE_DEPTH {
            return Err(error(format_args!("document contains excessive aliasing")));
        }
        self.open.push(alias);
        let value = visit(self, target)?;
        self.open.pop();
        Ok(value)
    }

    /// Sets the entries in order; a merge counts where it stands.
    fn fill(&mut self, entries: &[(usize, usize)], map: &mut Mapping) -> Result<(), Error> {
        for &(key, value) in entries {
            if is_merge(&self.nodes.all[key]) {
                self.merge(value, map)?;
                continue;
            }
            let key = self.key(key)?;
            let line = self.nodes.all[value].line;
            let value = self.node(value)?;
            let Some(key) = key else {
                let text = format!("unsupported map key of type: %!s(<nil>), key: <nil>, value: {}", go_syntax(&value));
                return Err(Error::Yaml(text.into()));
            };
            if self.strict && map.shown.contains_key(&key) {
                self.repeated.push(format!("line {line}: key {} already set in map", key.shown));
            } else {
                map.entries.insert(key.text.clone(), value);
                map.shown.insert(key, ());
            }
        }
        Ok(())
    }

    fn merge(&mut self, index: usize, map: &mut Mapping) -> Result<(), Error> {
        let nodes = self.nodes;
        match &nodes.all[index].kind {
            Kind::Mapping(entries) => self.fill(entries, map),
            Kind::Alias { name, target } => match &nodes.all[*target].kind {
                Kind::Mapping(entries) => self.follow(index, name, *target, |builder, _| builder.fill(entries, map)),
                _ => Err(want_map()),
            },
            // Earlier ones take precedence, so they come last.
            Kind::Sequence(items) => items.iter().rev().try_for_each(|item| match &nodes.all[*item].kind {
                Kind::Sequence(_) => Err(want_map()),
                _ => self.merge(*item, map),
            }),
            Kind::Scalar { .. } => Err(want_map()),
        }
    }

    fn key(&mut self, index: usize) -> Result<Option<Key>, Error> {
        self.count_visit()?;
        let node = &self.nodes.all[index];
        if let Kind::Scalar { .. } = node.kind {
            return scalar_key(node);
        }
        if let Kind::Alias { target, .. } = node.kind {
            return self.key(target);
        }
        Err(error(format_args!("invalid map key: {}", go_syntax(&self.node(index)?))))
    }
}

#[derive(Default)]
struct Mapping {
    entries: Map<String, Value>,
    shown: HashMap<Key, ()>,
}

fn want_map() -> Error {
    error(format_args!("map merge requires map or sequence of maps as the value"))
}

fn is_merge(node: &Node) -> bool {
    match &node.kind {
        Kind::Scalar { value, tag, plain } => {
            value == "<<" && (*plain || tag.as_deref() == Some("tag:yaml.org,2002:merge"))
        }
        _ => false,
    }
}

/// The meaning of a scalar, and its text where that is changed by its tag.
fn resolve(node: &Node) -> Result<(Plain, std::borrow::Cow<'_, str>), Error> {
    let Kind::Scalar { value, tag, plain: is_plain } = &node.kind else { return Ok((Plain::Null, "".into())) };
    let Some(tag) = tag else {
        let meaning = if *is_plain { plain(value) } else { Plain::Text };
        return Ok((meaning, value.into()));
    };
    let short = tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag);
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

/// `None` for null, which is no key.
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

/// A value as Go's `%#v` prints what goyaml makes of it.
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
