//! Lists and maps of the served kinds, and objects with many elements in one of them.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use machinery::def::{FieldDef, Flags, JsonForm, PatchStrategy, Shape, StructDef};
use serde_json::{Map, Value, json};

use crate::elements::{self, numbered};
use crate::samples::SERIAL;
use crate::target::Target;

/// Maximum depth of the search for fields.
const MAX_DEPTH: usize = 10;

/// Placeholder for the list or map in the text of an object.
const MANY: &str = "\"MANY\"";

/// Placeholder for the resource version of the stored object.
pub const VERSION: &str = "VERSION";

/// The kind of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    Distinct,
    Equal,
}

/// How strategic merge patches treat a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    No,
    /// Elements with the same value are one element.
    Values,
    /// Elements with the same value of this member are one element.
    Key(&'static str),
}

/// A list or map of a kind.
#[derive(Clone)]
pub struct Place {
    pub target: Arc<Target>,
    /// The members and indexes that lead to the list or map.
    pub steps: Vec<String>,
    /// The object, with `MANY` in this place.
    body: Value,
    /// The text of an element, in the notation of `elements`.
    element: String,
    pub is_map: bool,
    pub merge: Merge,
}

/// The elements of a request: their count, and the number of the first one.
#[derive(Clone, Copy, Debug)]
pub struct Many {
    pub elements: Elements,
    pub first: usize,
    pub count: usize,
}

/// Visited fields: the type that has the field, and its name.
pub type Seen = HashSet<(usize, String)>;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.steps.join("."))
    }
}

/// Returns the lists and maps of a target's body, each with the key by which types share it.
pub fn places(target: &Arc<Target>, def: &'static StructDef) -> Vec<(Place, (usize, String))> {
    let mut walk = Walk { target, seen: HashSet::new(), places: Vec::new() };
    let mut body = target.body.clone();
    if let Some(metadata) = body.get_mut("metadata") {
        metadata["resourceVersion"] = VERSION.into();
    }
    walk.visit_struct(def, &body, &mut Vec::new());
    walk.places
}

struct Walk<'t> {
    target: &'t Arc<Target>,
    seen: Seen,
    places: Vec<(Place, (usize, String))>,
}

impl Walk<'_> {
    /// Visits the fields of the struct at `steps` in `body`.
    fn visit_struct(&mut self, def: &'static StructDef, body: &Value, steps: &mut Vec<String>) {
        if steps.len() >= MAX_DEPTH || !matches!(def.json_form, JsonForm::Fields) {
            return;
        }
        // Fields of the sample come first, so that a type of several fields is tried where it is
        // valid.
        let has = |field: &&FieldDef| {
            body.pointer(&format!("/{}", steps.join("/"))).and_then(|it| it.get(field.json)).is_some()
        };
        let (present, absent): (Vec<&'static FieldDef>, Vec<_>) = def.fields.iter().partition(has);
        for field in present.into_iter().chain(absent) {
            self.visit_field(def, field, body, steps);
        }
    }

    /// Visits one field of the struct at `steps`.
    fn visit_field(
        &mut self,
        def: &'static StructDef,
        field: &'static FieldDef,
        body: &Value,
        steps: &mut Vec<String>,
    ) {
        let key = (std::ptr::from_ref(def) as usize, field.json.to_owned());
        if !self.seen.insert(key.clone()) {
            return;
        }
        if field.flags.has(Flags::INLINE) {
            if let Some(visit_struct) = field.shape().struct_def() {
                self.visit_struct(visit_struct, body, steps);
            }
            return;
        }
        let body = elements::without_alternatives(def, field.json, body, steps);
        steps.push(field.json.into());
        self.field(field, key, &body, steps);
        steps.pop();
    }

    fn field(&mut self, field: &'static FieldDef, key: (usize, String), body: &Value, steps: &mut Vec<String>) {
        let element = match field.shape() {
            Shape::List(of) | Shape::Map(of) => Some(elements::scalar(field.json, of)),
            Shape::StructList(def, _) | Shape::StructMap(def, _) => Some(elements::of_struct(def)),
            _ => None,
        };
        let is_map = matches!(field.shape(), Shape::Map(_) | Shape::StructMap(..));
        if let Some(element) = &element {
            let place = Place {
                target: Arc::clone(self.target),
                steps: steps.clone(),
                body: with(body, steps, MANY.trim_matches('"').into()),
                element: element.to_string(),
                is_map,
                merge: merge_of(field),
            };
            self.places.push((place, key));
        }
        let Some(visit_struct) = field.shape().struct_def() else { return };
        let body = match body.pointer(&format!("/{}", steps.join("/"))) {
            Some(_) => body.clone(),
            None => with(body, steps, inner(visit_struct, element, is_map)),
        };
        let step = match field.shape() {
            Shape::StructList(..) => Some("0"),
            Shape::StructMap(..) => Some("e1"),
            _ => None,
        };
        steps.extend(step.map(str::to_owned));
        if body.pointer(&format!("/{}", steps.join("/"))).is_some() {
            self.visit_struct(visit_struct, &body, steps);
        }
        steps.truncate(steps.len() - usize::from(step.is_some()));
    }
}

/// Returns a struct, or a list or map of one element.
fn inner(def: &'static StructDef, element: Option<Value>, is_map: bool) -> Value {
    let element = element.map(|element| serde_json::from_str::<Value>(&numbered(&element.to_string(), 0)).unwrap());
    match element {
        Some(element) if is_map => json!({"e1": element}),
        Some(element) => json!([element]),
        None => elements::of_struct(def),
    }
}

/// Returns the body with a value at `steps`, below existing objects.
fn with(body: &Value, steps: &[String], value: Value) -> Value {
    let mut body = body.clone();
    let (last, above) = steps.split_last().unwrap();
    let above: String = above.iter().map(|step| format!("/{step}")).collect();
    let place = body.pointer_mut(&above).unwrap();
    match place {
        Value::Object(members) => drop(members.insert(last.clone(), value)),
        place => *place = Value::Object(Map::from_iter([(last.clone(), value)])),
    }
    body
}

fn merge_of(field: &FieldDef) -> Merge {
    match field.info.patch_strategy {
        PatchStrategy::Merge | PatchStrategy::MergeRetainKeys => match (field.shape(), field.info.patch_merge_key) {
            (Shape::List(_), _) => Merge::Values,
            (Shape::StructList(..), key) if !key.is_empty() => Merge::Key(key),
            _ => Merge::No,
        },
        _ => Merge::No,
    }
}

impl Place {
    /// Returns a place of a custom resource.
    pub fn of_custom(target: &Arc<Target>, steps: &[&str], element: &Value, is_map: bool) -> Place {
        let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
        let mut body = target.body.clone();
        body["metadata"]["resourceVersion"] = VERSION.into();
        let body = with(&body, &steps, MANY.trim_matches('"').into());
        Place { target: Arc::clone(target), steps, body, element: element.to_string(), is_map, merge: Merge::No }
    }

    /// Returns the kinds of elements to try; keys of maps are always distinct.
    pub fn variants(&self) -> &'static [Elements] {
        match self.is_map {
            true => &[Elements::Distinct],
            false => &[Elements::Distinct, Elements::Equal],
        }
    }

    /// Returns the JSON of the elements, with keys in maps.
    pub fn elements(&self, many: Many) -> Vec<String> {
        self.each(&self.element, many)
    }

    fn each(&self, text: &str, many: Many) -> Vec<String> {
        let number = |index: usize| if many.elements == Elements::Equal { 0 } else { many.first + index };
        (0..many.count).map(|index| numbered(text, number(index))).collect()
    }

    /// Returns the JSON of the list or map.
    pub fn container(&self, many: Many) -> String {
        let elements = self.elements(many);
        match self.is_map {
            true => {
                let members = elements.iter().enumerate();
                let key = |index| self.key(many.first + index);
                let members = members.map(|(index, element)| format!("\"{}\":{element}", key(index)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            false => format!("[{}]", elements.join(",")),
        }
    }

    /// Returns the key of a map member.
    pub fn key(&self, number: usize) -> String {
        let is_amount = self.element == elements::AMOUNT;
        format!("{}e{}", if is_amount { "example.com/" } else { "" }, number + 1)
    }

    /// Returns the JSON of the object.
    pub fn object(&self, serial: usize, version: &str, many: Many) -> String {
        filled(&self.body, serial, version, &self.container(many))
    }

    /// Returns the object with the element order directive of strategic merge patches.
    pub fn ordered(&self, serial: usize, version: &str, many: Many) -> String {
        let field = self.steps.last().unwrap();
        let order = match self.merge {
            Merge::Key(key) => {
                let element: Value = serde_json::from_str(&self.element).unwrap();
                json!({key: element.get(key).cloned().unwrap_or("e@".into())}).to_string()
            }
            _ => self.element.clone(),
        };
        let order = self.each(&order, many).join(",");
        let both = format!("{},\"$setElementOrder/{field}\":[{order}]", self.container(many));
        filled(&self.body, serial, version, &both)
    }

    /// Returns a strategic merge patch that deletes the elements.
    pub fn deleting(&self, serial: usize, version: &str, many: Many) -> String {
        let field = self.steps.last().unwrap();
        let Merge::Key(key) = self.merge else {
            let text = filled(&self.body, serial, version, &self.container(many));
            return text.replacen(&format!("\"{field}\":["), &format!("\"$deleteFromPrimitiveList/{field}\":["), 1);
        };
        let element: Value = serde_json::from_str(&self.element).unwrap();
        let element = json!({"$patch": "delete", key: element.get(key).cloned().unwrap_or("e@".into())});
        let elements = self.each(&element.to_string(), many).join(",");
        filled(&self.body, serial, version, &format!("[{elements}]"))
    }

    /// Returns the path prefix that a JSON patch replaces, and the new value.
    pub fn replacement(&self, container: &str) -> (String, String) {
        let count = if self.steps[0] == "metadata" { 2 } else { 1 };
        let pointer = format!("/{}", self.steps[..count].join("/"));
        let value = self.body.pointer(&pointer).unwrap();
        let text = filled(value, 0, "", container);
        (pointer, text)
    }
}

/// Returns the text of a value with its placeholders replaced.
fn filled(value: &Value, serial: usize, version: &str, container: &str) -> String {
    let mut text = numbered(&value.to_string(), 0).replace(SERIAL, &serial.to_string());
    if version.is_empty() {
        // An empty version in a patch would remove the version.
        text = text.replace(&format!(r#","resourceVersion":"{VERSION}""#), "");
    }
    text.replace(VERSION, version).replacen(MANY, container, 1)
}
