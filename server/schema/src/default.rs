//! Defaults, and removal of nulls that the schema does not allow (`schema/defaulting`).

use machinery::budget::{Exceeded, Meter};
use serde_json::Value;

use crate::{Additional, Schema};

/// Drops members that are null, are not nullable, and have no default.
pub fn drop_nulls(value: &mut Value, schema: &Schema) {
    drop_nulls_if(value, schema, |_| true);
}

/// Like [`drop_nulls`], but only drops members without a type in their schema, which validation accepts.
pub fn drop_untyped_nulls(value: &mut Value, schema: &Schema) {
    drop_nulls_if(value, schema, |of| !of.has_kind());
}

fn drop_nulls_if(value: &mut Value, schema: &Schema, is_dropped: fn(&Schema) -> bool) {
    match value {
        Value::Object(members) => members.retain(|name, value| match schema.member(name) {
            Some(of) if is_wrong_null(value, of) => of.default.is_some() || !is_dropped(of),
            Some(of) => {
                drop_nulls_if(value, of, is_dropped);
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            if let Some(of) = &schema.items {
                items.iter_mut().for_each(|item| drop_nulls_if(item, of, is_dropped));
            }
        }
        _ => {}
    }
}

/// Fills in defaults. `meter` counts their size, because a small item may have a large default.
///
/// # Errors
/// When the defaults exceed the memory budget. The value then has some of the defaults.
pub fn apply_defaults(value: &mut Value, schema: &Schema, meter: &mut Meter) -> Result<(), Exceeded> {
    if !schema.below.defaults {
        return Ok(());
    }
    match value {
        Value::Object(members) => {
            for (name, property) in &schema.properties {
                let Some(default) = &property.default else { continue };
                match members.get_mut(&**name) {
                    None => {
                        meter.charge(MEMBER + name.len() + weight(default))?;
                        members.insert(name.to_string(), (**default).clone());
                    }
                    Some(value) if is_wrong_null(value, property) => replace(value, default, meter)?,
                    Some(_) => {}
                }
            }
            for (name, value) in members.iter_mut() {
                match (schema.property(name), &schema.additional) {
                    (Some(property), _) => apply_defaults(value, property, meter)?,
                    (None, Additional::Schema(additional)) => item_defaults(value, additional, meter)?,
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = &schema.items {
                items.iter_mut().try_for_each(|item| item_defaults(item, of, meter))?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn item_defaults(value: &mut Value, schema: &Schema, meter: &mut Meter) -> Result<(), Exceeded> {
    if is_wrong_null(value, schema)
        && let Some(default) = &schema.default
    {
        replace(value, default, meter)?;
    }
    apply_defaults(value, schema, meter)
}

fn replace(value: &mut Value, default: &Value, meter: &mut Meter) -> Result<(), Exceeded> {
    meter.charge(weight(default))?;
    value.clone_from(default);
    Ok(())
}

/// Estimated bytes of an object member besides its name and its value: its hash and its slots in
/// the tables.
const MEMBER: usize = 64;

/// Estimated bytes of a copy of a value.
fn weight(value: &Value) -> usize {
    let below = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| MEMBER + name.len() + weight(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + below
}

fn is_wrong_null(value: &Value, schema: &Schema) -> bool {
    value.is_null() && !schema.flags.nullable
}
