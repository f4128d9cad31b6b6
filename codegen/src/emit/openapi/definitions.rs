//! Schemas of structs in their v3 form; mirrors `k8s.io/kube-openapi/cmd/openapi-gen`.

use std::collections::{BTreeMap, BTreeSet};

use ::openapi::names;
use serde_json::{Map, Value, json};

use crate::bounds;
use crate::model::{
    Enum, Field, Group, JsonForm, ListSemantics, Literal, Model, Role, Struct, StructId, TypeRef, Union, Version,
};

/// Description of the field `apiVersion` of kinds. Upstream's conformance tests check its first words.
const API_VERSION: &str = "APIVersion defines the group and version of the kind, such as `apps/v1`.";
/// Description of the field `kind` of kinds.
const KIND: &str = "What kind of object this is, such as `Deployment`.";

/// Collects required definitions and those that they refer to.
pub(super) struct Definitions<'m> {
    model: &'m Model,
    groups: BTreeMap<&'m str, &'m Group>,
    seen: BTreeSet<String>,
    open: Vec<(String, GroupVersionRef<'m>, &'m Struct)>,
    json: BTreeSet<String>,
}

/// The group version in which a struct is referenced. A struct that two versions share has a definition
/// in each.
#[derive(Clone, Copy)]
pub(super) struct GroupVersionRef<'m> {
    pub group: &'m Group,
    pub version: &'m Version,
}

impl<'m> Definitions<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let groups = model.groups.iter().map(|group| (group.module.as_str(), group)).collect();
        Definitions { model, groups, seen: BTreeSet::new(), open: Vec::new(), json: BTreeSet::new() }
    }

    /// Requests the definition of a struct, which [`Definitions::finish`] creates, and returns its
    /// name.
    pub(super) fn need(&mut self, from: GroupVersionRef<'m>, id: StructId) -> String {
        let model = self.model;
        let target = &model.structs[id.0];
        let place = self.place_of(from, id, target);
        let name = format!("{}.{}.{}", place.group.openapi_prefix, place.version.name, target.name);
        if self.seen.insert(name.clone()) {
            self.open.push((name.clone(), place, target));
        }
        name
    }

    /// Like [`Definitions::need`], by names; `None` if no such struct exists.
    pub(super) fn need_named(&mut self, module: &str, version: &str, name: &str) -> Option<String> {
        let group = *self.groups.get(module)?;
        let version = group.versions.iter().find(|have| have.name == version)?;
        let id = *version.structs.get(name)?;
        Some(self.need(GroupVersionRef { group, version }, id))
    }

    /// The group version of a struct that `from` refers to: `from` itself, unless the struct belongs to
    /// another version or group.
    fn place_of(&self, from: GroupVersionRef<'m>, id: StructId, target: &Struct) -> GroupVersionRef<'m> {
        let group = self.groups.get(target.module.as_str()).copied().unwrap_or(from.group);
        let version = |name: &str| group.versions.iter().find(|version| version.name == name);
        let shared = group.module == from.group.module && from.version.structs.get(&target.name) == Some(&id);
        let version = match from.version.borrowed.get(&target.name) {
            Some(owner) if shared => version(owner),
            None if shared => Some(from.version),
            _ => version(&target.version),
        };
        GroupVersionRef { group, version: version.unwrap_or(from.version) }
    }

    /// All requested definitions.
    pub(super) fn finish(mut self) -> BTreeMap<String, Value> {
        let mut made = BTreeMap::new();
        while let Some((name, place, target)) = self.open.pop() {
            let schema = self.schema(place, target);
            made.insert(name, schema);
        }
        let any = json!({"description": "Any JSON value."});
        made.extend(self.json.into_iter().map(|name| (name, any.clone())));
        made
    }

    fn schema(&mut self, place: GroupVersionRef<'m>, target: &'m Struct) -> Value {
        let mut out = Map::new();
        if !target.docs.is_empty() {
            out.insert("description".into(), target.docs.clone().into());
        }
        if target.json_form != JsonForm::Fields {
            return Value::Object(out);
        }
        out.insert("type".into(), "object".into());
        let mut fields = Fields::default();
        if target.role != Role::Part {
            fields.text("apiVersion", API_VERSION);
            fields.text("kind", KIND);
        }
        self.fields(place, target, &mut fields);
        if !fields.required.is_empty() {
            out.insert("required".into(), json!(fields.required));
        }
        if !fields.properties.is_empty() {
            out.insert("properties".into(), json!(fields.properties));
        }
        if target.role != Role::Part {
            out.insert("x-kubernetes-group-version-kind".into(), json!([kind_of(place, target)]));
        }
        if target.atomic {
            out.insert("x-kubernetes-map-type".into(), "atomic".into());
        }
        if !target.unions.is_empty() {
            out.insert("x-kubernetes-unions".into(), target.unions.iter().map(union).collect());
        }
        Value::Object(out)
    }

    fn fields(&mut self, place: GroupVersionRef<'m>, target: &'m Struct, out: &mut Fields) {
        let model = self.model;
        for field in &target.fields {
            match &field.ty {
                TypeRef::Struct(id) if field.inline => self.fields(place, &model.structs[id.0], out),
                _ => {
                    if field.required {
                        out.required.insert(field.json.clone());
                    }
                    out.properties.insert(field.json.clone(), self.property(place, field));
                }
            }
        }
    }

    fn property(&mut self, place: GroupVersionRef<'m>, field: &'m Field) -> Value {
        let mut out = Map::new();
        let description = bounds::description(field);
        if !description.is_empty() {
            out.insert("description".into(), description.into());
        }
        // Upstream's documents contain no bounds.
        let includes_bounds = !place.group.tagged_validation;
        if field.deprecated && includes_bounds {
            out.insert("deprecated".into(), true.into());
        }
        if let Some(default) = self.default(field) {
            out.insert("default".into(), default);
        }
        extensions(field, &mut out);
        let Value::Object(mut ty) = self.type_schema(place, &field.ty) else { return Value::Object(out) };
        if includes_bounds && !ty.contains_key("$ref") {
            bounds::constrain(&field.validation, &mut ty);
        }
        // A schema with `$ref` must have no other keywords.
        if ty.contains_key("$ref") && !out.is_empty() {
            ty = Map::from_iter([("allOf".to_owned(), json!([ty]))]);
        }
        out.extend(ty);
        Value::Object(out)
    }

    /// The declared constant, or the zero value of a field that is never absent.
    fn default(&self, field: &Field) -> Option<Value> {
        if let Some(default) = field.default.as_ref().filter(|_| !field.default_hidden) {
            return Some(literal(default));
        }
        if field.nullable {
            return None;
        }
        match &field.ty {
            TypeRef::Struct(id) => (self.model.structs[id.0].json_form == JsonForm::Fields).then(|| json!({})),
            _ if field.omitempty => None,
            TypeRef::String | TypeRef::Enum(_) => Some("".into()),
            TypeRef::Bool => Some(false.into()),
            TypeRef::I32 | TypeRef::I64 | TypeRef::F64 => Some(0.into()),
            _ => None,
        }
    }

    fn type_schema(&mut self, place: GroupVersionRef<'m>, ty: &'m TypeRef) -> Value {
        if let Some(name) = scalar_definition(ty) {
            return reference(&name);
        }
        match ty {
            TypeRef::Bool => json!({"type": "boolean"}),
            TypeRef::I32 => json!({"type": "integer", "format": "int32"}),
            TypeRef::I64 => json!({"type": "integer", "format": "int64"}),
            TypeRef::F64 => json!({"type": "number", "format": "double"}),
            TypeRef::Bytes => json!({"type": "string", "format": "byte"}),
            TypeRef::Enum(id) => enum_schema(&self.model.enums[id.0]),
            TypeRef::List(item) => json!({"type": "array", "items": self.type_schema(place, item)}),
            TypeRef::Map(value) => json!({"type": "object", "additionalProperties": self.type_schema(place, value)}),
            TypeRef::Json => {
                let name = format!("{}.{}.JSON", place.group.openapi_prefix, place.version.name);
                let schema = reference(&name);
                self.json.insert(name);
                schema
            }
            TypeRef::Struct(id) if self.model.structs[id.0].json_form == JsonForm::Items => {
                json!({"type": "array", "items": {"type": "string"}})
            }
            TypeRef::Struct(id) => reference(&self.need(place, *id)),
            _ => json!({"type": "string"}),
        }
    }
}

/// Properties of a definition sorted by name, those of inlined structs included.
#[derive(Default)]
struct Fields {
    properties: BTreeMap<String, Value>,
    required: BTreeSet<String>,
}

impl Fields {
    fn text(&mut self, name: &str, description: &str) {
        self.properties.insert(name.into(), json!({"description": description, "type": "string"}));
    }
}

/// The group version and kind of a kind; kinds that every group uses are registered as v1 of core.
fn kind_of(place: GroupVersionRef, target: &Struct) -> Value {
    let spoken_everywhere = place.group.kinds.iter().all(|kind| kind.resource.is_none());
    let (group, version) =
        if spoken_everywhere { ("", "v1") } else { (place.group.name.as_str(), place.version.name.as_str()) };
    json!({"group": group, "kind": target.name, "version": version})
}

/// The extensions of a property for server-side apply and strategic merge.
fn extensions(field: &Field, out: &mut Map<String, Value>) {
    let mut set = |key: &str, value: Value| drop(out.insert(format!("x-kubernetes-{key}"), value));
    match &field.list {
        Some(ListSemantics::Atomic) => set("list-type", "atomic".into()),
        Some(ListSemantics::Set) => set("list-type", "set".into()),
        Some(ListSemantics::Map(keys)) => {
            set("list-map-keys", json!(keys));
            set("list-type", "map".into());
        }
        None => {}
    }
    if let Some(atomic) = field.map_atomic.or(field.structure_atomic) {
        set("map-type", if atomic { "atomic" } else { "granular" }.into());
    }
    if let Some(key) = &field.patch_merge_key {
        set("patch-merge-key", key.clone().into());
    }
    if let Some(strategy) = &field.patch_strategy {
        let strategy = match strategy.as_str() {
            "retain_keys" => "retainKeys",
            "merge_retain_keys" => "merge,retainKeys",
            other => other,
        };
        set("patch-strategy", strategy.into());
    }
}

/// An entry of `x-kubernetes-unions`: members by JSON name and by the name of upstream's Go field.
fn union(union: &Union) -> Value {
    let go_name = |json: &str| {
        let mut chars = json.chars();
        chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
    };
    let members: BTreeMap<_, _> = union.members.iter().map(|(_, json)| (json.clone(), go_name(json))).collect();
    let mut out = Map::new();
    if let Some(discriminator) = &union.discriminator {
        out.insert("discriminator".into(), discriminator.clone().into());
    }
    out.insert("fields-to-discriminateBy".into(), json!(members));
    Value::Object(out)
}

fn enum_schema(declared: &Enum) -> Value {
    if declared.open {
        return json!({"type": "string"});
    }
    let values: BTreeSet<_> = declared.variants.iter().map(|(_, value, _)| value).collect();
    json!({"type": "string", "enum": values})
}

fn reference(definition: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{definition}")})
}

fn literal(value: &Literal) -> Value {
    match value {
        Literal::Bool(value) => (*value).into(),
        Literal::Int(value) => (*value).into(),
        Literal::Float(value) => (*value).into(),
        Literal::String(value) => value.clone().into(),
        Literal::List(items) => items.iter().map(literal).collect(),
        Literal::Object(members) => members.iter().map(|(name, value)| (name.clone(), literal(value))).collect(),
    }
}

/// Definition names of the types that the model represents by a dedicated variant instead of a struct.
fn scalar_definition(ty: &TypeRef) -> Option<String> {
    Some(match ty {
        TypeRef::Quantity => names::QUANTITY.into(),
        TypeRef::Time => names::meta("Time"),
        TypeRef::MicroTime => names::meta("MicroTime"),
        TypeRef::Duration => names::meta("Duration"),
        TypeRef::IntOrString => names::INT_OR_STRING.into(),
        TypeRef::RawExtension => names::RAW_EXTENSION.into(),
        TypeRef::FieldsV1 => names::meta("FieldsV1"),
        _ => return None,
    })
}
