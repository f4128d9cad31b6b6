//! Types of values in rules, derived from schemas (`cel/common.SchemaDeclType`).

use std::collections::BTreeMap;
use std::sync::Arc;

use apimachinery::apiextensions::v1::JSONSchemaProps;
use cel::{ElementType, FieldType, Merge, ObjectFields, ObjectType, Type, escape};

/// Returns the type of a schema, if it has one. An object always has kind, version and name.
pub fn of(props: &JSONSchemaProps, is_object: bool, name: &str) -> Option<Type> {
    if props.x_kubernetes_int_or_string {
        return Some(Type::Dyn);
    }
    match props.r#type.as_str() {
        "array" => {
            let item = props.items.as_ref()?.schema.as_deref()?;
            let item = of(item, item.x_kubernetes_embedded_resource, &format!("{name}.@idx"))?;
            let merge = match props.x_kubernetes_list_type.as_deref() {
                Some("set") => Merge::Set,
                Some("map") => Merge::Map(props.x_kubernetes_list_map_keys.clone()),
                _ => Merge::Atomic,
            };
            Some(Type::List(Arc::new(ElementType { item, merge })))
        }
        "object" => object(props, is_object, name),
        "string" => Some(match props.format.as_str() {
            "byte" => Type::Bytes,
            "duration" => Type::Duration,
            "date" | "date-time" => Type::Timestamp,
            _ => Type::String,
        }),
        "boolean" => Some(Type::Bool),
        "number" => Some(Type::Double),
        "integer" => Some(Type::Int),
        _ => None,
    }
}

fn object(props: &JSONSchemaProps, is_object: bool, name: &str) -> Option<Type> {
    if let Some(additional) = props.additional_properties.as_ref().and_then(|of| of.schema.as_deref()) {
        let value = of(additional, additional.x_kubernetes_embedded_resource, &format!("{name}.@elem"))?;
        return Some(Type::map(Type::String, value));
    }
    let mut fields = BTreeMap::new();
    for (json, property) in &props.properties {
        let below = format!("{name}.{json}");
        let of = of(property, property.x_kubernetes_embedded_resource, &below);
        if let (Some(of), Some(escaped)) = (of, escape(json)) {
            fields.insert(escaped, FieldType { json: json.clone(), of });
        }
    }
    if is_object {
        let text = || Type::String;
        let names = [("name", text()), ("generateName", text())];
        let metadata = Type::object(ObjectType::new(format!("{name}.metadata"), names));
        for (json, of) in [("kind", text()), ("apiVersion", text()), ("metadata", metadata)] {
            fields.insert(json.to_owned(), FieldType { json: json.to_owned(), of });
        }
    }
    Some(Type::object(ObjectType { name: name.to_owned(), fields: ObjectFields::Known(fields.into()) }))
}
