//! The types of custom resources: the merge behaviour of a structural schema. Every node of every
//! schema has one, so they are small.

use std::collections::BTreeMap;

use machinery::def::StructDef;
use serde_json::Value;

use super::types::{
    Atom, CustomField, CustomList, CustomMap, CustomType, KeyFields, List, ListKind, Map, MapFields, Scalar, SchemaType,
};

impl CustomMap {
    /// Returns a field by name.
    pub fn field(&self, name: &str) -> Option<&CustomField> {
        let at = self.fields.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(&self.fields[at].1)
    }
}

impl CustomType {
    /// Returns the type of a custom resource: its schema (`openAPIV3Schema`) with the fields of every object.
    /// `object_meta` is the declared ObjectMeta.
    pub fn of_resource(schema: &Value, object_meta: &'static StructDef) -> Self {
        let reader = Reader { object_meta };
        let mut root = reader.read(schema, false);
        if let Some(map) = &mut root.map {
            let fields = std::mem::take(&mut map.fields).into_vec();
            map.fields = reader.with_object_fields(fields.into_iter().collect());
        }
        root
    }

    fn of_map(map: CustomMap) -> Self {
        CustomType { map: Some(Box::new(map)), ..CustomType::default() }
    }

    fn of_scalar(scalar: Scalar) -> Self {
        CustomType { scalar: Some(scalar), ..CustomType::default() }
    }

    fn unknown() -> Self {
        CustomType { deduced: true, ..CustomType::default() }
    }

    pub(super) fn atom(&self) -> Atom<'_> {
        if self.deduced {
            return SchemaType::Deduced.atom();
        }
        if let Some(def) = self.described {
            return SchemaType::Struct(def).atom();
        }
        let list = self.list.as_ref().map(|list| List {
            kind: match (list.associative, list.keys.is_empty()) {
                (false, _) => ListKind::Atomic,
                (true, true) => ListKind::Set,
                (true, false) => ListKind::Map(KeyFields::Custom(&list.keys)),
            },
            items: SchemaType::Custom(&list.items),
        });
        let map = self.map.as_ref().map(|map| Map {
            atomic: map.atomic,
            fields: if map.fields.is_empty() { MapFields::None } else { MapFields::Custom(map) },
            element: map.element.as_ref().map(|element| match element.deduced {
                true => SchemaType::Deduced,
                false => SchemaType::Custom(element),
            }),
        });
        Atom { scalar: self.scalar, list, map }
    }
}

/// Fields by name, while a map is built.
type Named = BTreeMap<Box<str>, CustomField>;

/// Converts schemas to types.
struct Reader {
    object_meta: &'static StructDef,
}

impl Reader {
    fn read(&self, schema: &Value, preserve: bool) -> CustomType {
        let flag = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or(false);
        let preserve = preserve || flag("x-kubernetes-preserve-unknown-fields");
        if flag("x-kubernetes-int-or-string") {
            return CustomType::unknown();
        }
        match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
            "object" => CustomType::of_map(self.read_map(schema, preserve)),
            "array" => CustomType { list: Some(Box::new(self.read_list(schema, preserve))), ..CustomType::default() },
            "integer" | "number" => CustomType::of_scalar(Scalar::Numeric),
            "boolean" => CustomType::of_scalar(Scalar::Boolean),
            "string" => match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
                "" | "byte" => CustomType::of_scalar(Scalar::String),
                _ => CustomType::of_scalar(Scalar::Untyped),
            },
            _ => CustomType {
                scalar: Some(Scalar::Untyped),
                list: Some(Box::new(self.read_list(schema, preserve))),
                map: Some(Box::new(self.read_map(schema, preserve))),
                ..CustomType::default()
            },
        }
    }

    fn read_map(&self, schema: &Value, preserve: bool) -> CustomMap {
        let mut fields = Named::new();
        for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let default = member.get("default").cloned().map(Box::new);
            fields.insert(name.as_str().into(), CustomField { of: self.read(member, preserve), default });
        }
        let is_object = schema.get("x-kubernetes-embedded-resource").and_then(Value::as_bool) == Some(true);
        let mut map = CustomMap {
            atomic: schema.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
            fields: if is_object { self.with_object_fields(fields) } else { fields.into_iter().collect() },
            element: None,
        };
        map.element = match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some(Box::new(CustomType::unknown())),
            Some(Value::Bool(false)) => None,
            Some(of @ Value::Object(_)) => Some(Box::new(self.read(of, preserve))),
            _ if preserve || map.fields.is_empty() => Some(Box::new(CustomType::unknown())),
            _ => None,
        };
        map
    }

    fn with_object_fields(&self, mut fields: Named) -> Box<[(Box<str>, CustomField)]> {
        let meta = CustomType { described: Some(self.object_meta), ..CustomType::default() };
        let text = || CustomType::of_scalar(Scalar::String);
        for (name, of) in [("apiVersion", text()), ("kind", text()), ("metadata", meta)] {
            fields.insert(name.into(), CustomField { of, default: None });
        }
        fields.into_iter().collect()
    }

    fn read_list(&self, schema: &Value, preserve: bool) -> CustomList {
        let items = match schema.get("items") {
            Some(items) => self.read(items, preserve),
            None => CustomType::unknown(),
        };
        let kind = schema.get("x-kubernetes-list-type").and_then(Value::as_str).unwrap_or_default();
        let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
        let keys = keys.into_iter().flatten().filter_map(Value::as_str).map(str::to_string);
        CustomList {
            items,
            associative: matches!(kind, "set" | "map"),
            keys: if kind == "map" { keys.collect() } else { Vec::new() },
        }
    }
}
