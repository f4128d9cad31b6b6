//! Lists and maps of the kinds that are served, and objects that have many elements in one of them.

use std::collections::HashSet;
use std::fmt;

use machinery::catalog::{KindDef, ResourceDef, Serving};
use machinery::def::{FieldDef, Flags, JsonForm, Scalar, Shape, StructDef};
use serde_json::{Map, Value, json};

/// How deep fields are looked for.
const DEEPEST: usize = 10;

/// A list or map of a kind.
#[derive(Clone)]
pub struct Place {
    pub kind: &'static KindDef,
    pub resource: &'static ResourceDef,
    /// The fields on the way, the list or map last.
    path: Vec<&'static FieldDef>,
}

/// What the elements are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    Distinct,
    Equal,
}

/// The kinds that are served by default and can be created.
pub fn kinds() -> Vec<(&'static KindDef, &'static ResourceDef)> {
    let served = generated::CATALOG.kinds.iter().filter(|kind| kind.serving == Serving::On && kind.gate.is_empty());
    let creatable = |kind: &&'static KindDef| {
        kind.resource.filter(|resource| resource.verbs.contains(&"create")).map(|resource| (*kind, resource))
    };
    served.filter_map(|kind| creatable(&kind)).collect()
}

/// The lists and maps of a kind, except for those that are in `seen`, to which they are added.
pub fn places(kind: &'static KindDef, resource: &'static ResourceDef, seen: &mut Seen) -> Vec<Place> {
    let mut places = Vec::new();
    walk(kind, resource, kind.def, &mut Vec::new(), seen, &mut places);
    places
}

/// Fields that need not be looked at again: the type that has the field, and its name.
pub type Seen = HashSet<(*const StructDef, &'static str)>;

fn walk(
    kind: &'static KindDef,
    resource: &'static ResourceDef,
    def: &'static StructDef,
    path: &mut Vec<&'static FieldDef>,
    seen: &mut Seen,
    places: &mut Vec<Place>,
) {
    if path.len() >= DEEPEST || !matches!(def.json_form, JsonForm::Fields) {
        return;
    }
    for field in def.fields {
        if !seen.insert((std::ptr::from_ref(def), field.json)) {
            continue;
        }
        path.push(field);
        if is_container(field.shape()) {
            places.push(Place { kind, resource, path: path.clone() });
        }
        if let Some(below) = field.shape().struct_def() {
            walk(kind, resource, below, path, seen, places);
        }
        path.pop();
    }
}

fn is_container(shape: Shape) -> bool {
    matches!(shape, Shape::List(_) | Shape::Map(_) | Shape::StructList(..) | Shape::StructMap(..))
}

fn is_inline(field: &FieldDef) -> bool {
    field.flags.0 & Flags::INLINE.0 != 0
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<&str> = self.path.iter().map(|field| field.json).filter(|name| !name.is_empty()).collect();
        write!(f, "{}/{} {}.{}", self.kind.group, self.kind.version, self.kind.kind, path.join("."))
    }
}

impl Place {
    /// Keys of maps are distinct in any case.
    pub fn variants(&self) -> &'static [Elements] {
        match self.path.last().map(|field| field.shape()) {
            Some(Shape::Map(_) | Shape::StructMap(..)) => &[Elements::Distinct],
            _ => &[Elements::Distinct, Elements::Equal],
        }
    }

    /// An object with so many elements in this place. Fields that are required have values that look valid.
    pub fn object(&self, name: &str, elements: Elements, count: usize) -> Value {
        let mut object = with_path(self.kind.def, &self.path, elements, count);
        let api_version = match self.kind.group {
            "" => self.kind.version.to_owned(),
            group => format!("{group}/{}", self.kind.version),
        };
        object.insert("apiVersion".into(), api_version.into());
        object.insert("kind".into(), self.kind.kind.into());
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        metadata["name"] = name.into();
        Value::Object(object)
    }
}

/// An object of a type, with its required fields and the fields of a path.
fn with_path(
    def: &'static StructDef,
    path: &[&'static FieldDef],
    elements: Elements,
    count: usize,
) -> Map<String, Value> {
    let mut object = required(def, 0, DEEPEST - path.len().min(DEEPEST));
    let Some((field, below)) = path.split_first() else { return object };
    let inner = |def| Value::Object(with_path(def, below, elements, count));
    let value = match (field.shape(), below.is_empty()) {
        (Shape::Struct(def) | Shape::OptStruct(def), _) => inner(def),
        (Shape::StructList(def, _), false) => json!([inner(def)]),
        (Shape::StructMap(def, _), false) => json!({"e0": inner(def)}),
        (shape, _) => many(shape, elements, count),
    };
    match (is_inline(field), value) {
        (true, Value::Object(members)) => object.extend(members),
        (_, value) => drop(object.insert(field.json.into(), value)),
    }
    object
}

fn many(shape: Shape, elements: Elements, count: usize) -> Value {
    let number = |index: usize| if elements == Elements::Equal { 0 } else { index };
    let keyed = |value: &dyn Fn(usize) -> Value| (0..count).map(|n| (format!("e{n}"), value(n))).collect::<Map<_, _>>();
    match shape {
        Shape::List(of) => (0..count).map(|index| scalar(of, number(index))).collect(),
        Shape::StructList(def, _) => (0..count).map(|index| element(def, number(index))).collect(),
        Shape::Map(of) => Value::Object(keyed(&|index| scalar(of, index))),
        Shape::StructMap(def, _) => Value::Object(keyed(&|index| element(def, index))),
        _ => Value::Null,
    }
}

/// An element with the fields that are required, and those that tell elements apart.
fn element(def: &'static StructDef, number: usize) -> Value {
    match def.json_form {
        JsonForm::Fields => Value::Object(required(def, number, 3)),
        JsonForm::Items => json!([]),
        _ => json!({}),
    }
}

/// Names of fields that tell the elements of lists apart.
const KEYS: [&str; 16] = [
    "name",
    "key",
    "uid",
    "type",
    "ip",
    "topologyKey",
    "mountPath",
    "devicePath",
    "path",
    "host",
    "apiVersion",
    "kind",
    "manager",
    "operation",
    "port",
    "containerPort",
];

fn required(def: &'static StructDef, number: usize, depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    for field in def.fields {
        let is_required = field.flags.0 & Flags::REQUIRED.0 != 0;
        let value = match field.shape() {
            Shape::One(of) | Shape::Opt(of) if is_required || KEYS.contains(&field.json) => {
                named(field.json, of, number)
            }
            Shape::Struct(below) | Shape::OptStruct(below) if is_inline(field) => {
                object.extend(required(below, number, depth));
                continue;
            }
            Shape::Struct(below) | Shape::OptStruct(below) if is_required && depth > 0 => match below.json_form {
                JsonForm::Fields => Value::Object(required(below, number, depth - 1)),
                _ => continue,
            },
            _ => continue,
        };
        object.insert(field.json.into(), value);
    }
    object
}

fn named(name: &str, of: Scalar, number: usize) -> Value {
    match (name, of) {
        ("fieldsType", _) => "FieldsV1".into(),
        ("operation", Scalar::String) => "Update".into(),
        ("port" | "containerPort", Scalar::I32) => (1 + number % 65_535).into(),
        _ => scalar(of, number),
    }
}

fn scalar(of: Scalar, number: usize) -> Value {
    match of {
        Scalar::Bool => true.into(),
        Scalar::I32 | Scalar::I64 | Scalar::F64 => number.into(),
        Scalar::String => format!("e{number}").into(),
        Scalar::Bytes => "YQ==".into(),
        Scalar::Quantity => format!("{number}").into(),
        Scalar::Time => "2026-01-01T00:00:00Z".into(),
        Scalar::MicroTime => "2026-01-01T00:00:00.000000Z".into(),
        Scalar::Duration => format!("{number}s").into(),
        Scalar::IntOrString => number.into(),
        Scalar::RawExtension | Scalar::FieldsV1 | Scalar::Json | Scalar::Document => json!({}),
    }
}
