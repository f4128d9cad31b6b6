//! Defaults, and nulls where none may be (`schema/defaulting`).

use serde_json::Value;

use crate::{Additional, Schema};

/// Drops members that are null, must not be, and have no default to take their place.
pub fn drop_nulls(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(members) => members.retain(|name, value| match schema.member(name) {
            Some(of) if is_wrong_null(value, of) => of.default.is_some(),
            Some(of) => {
                drop_nulls(value, of);
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            if let Some(of) = &schema.items {
                items.iter_mut().for_each(|item| drop_nulls(item, of));
            }
        }
        _ => {}
    }
}

/// Fills in defaults.
pub fn apply_defaults(value: &mut Value, schema: &Schema) {
    if !schema.below.defaults {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                match members.get_mut(&**name) {
                    None => drop(members.insert(name.to_string(), (**default).clone())),
                    Some(value) if is_wrong_null(value, property) => value.clone_from(default),
                    Some(_) => {}
                }
            }
            for (name, value) in members.iter_mut() {
                match (schema.property(name), &schema.additional) {
                    (Some(property), _) => apply_defaults(value, property),
                    (None, Additional::Schema(additional)) => item_defaults(value, additional),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = &schema.items {
                items.iter_mut().for_each(|item| item_defaults(item, of));
            }
        }
        _ => {}
    }
}

fn item_defaults(value: &mut Value, schema: &Schema) {
    if is_wrong_null(value, schema)
        && let Some(default) = &schema.default
    {
        value.clone_from(default);
    }
    apply_defaults(value, schema);
}

fn is_wrong_null(value: &Value, schema: &Schema) -> bool {
    value.is_null() && !schema.flags.nullable
}
