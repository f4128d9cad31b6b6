//! Size bounds of values, from schemas and the request limit (the sizes in
//! `cel/common.SchemaDeclType`).

use std::collections::HashSet;

use apimachinery::apiextensions::v1::JSONSchemaProps;
use cel::{Bounds, escape};
use machinery::json::{self, Issues};

/// Maximum request size in bytes.
pub const REQUEST: u64 = 3 << 20;
/// Length of brackets or quotation marks in bytes.
const AROUND: u64 = 2;
/// Maximum length of a character in bytes.
const CHARACTER: u64 = 4;
/// Maximum length of timestamps and durations in JSON. Dates have exactly `DATE` characters.
const TIME: u64 = 32;
const DATE: u64 = 12;

/// Returns the bounds of a schema's values; nothing if rules cannot access them. An object always
/// has kind, version and name.
pub fn of(props: &JSONSchemaProps, is_object: bool) -> Option<Bounds> {
    if props.x_kubernetes_int_or_string {
        return Some(scalar(longest(props).unwrap_or(REQUEST - AROUND), 1));
    }
    match props.r#type.as_str() {
        "array" => {
            let item = props.items.as_ref()?.schema.as_deref()?;
            let item = of(item, item.x_kubernetes_embedded_resource)?;
            let most = limit(props.max_items).unwrap_or((REQUEST - AROUND) / (item.least_bytes + 1));
            Some(Bounds { items: Some(Box::new(item)), ..scalar(most, AROUND) })
        }
        "object" => match props.additional_properties.as_ref().and_then(|of| of.schema.as_deref()) {
            Some(additional) => {
                let value = of(additional, additional.x_kubernetes_embedded_resource)?;
                // A key in quotation marks, a colon and a comma.
                let most = limit(props.max_properties).unwrap_or((REQUEST - AROUND) / (value.least_bytes + 6));
                let keys = Some(Box::new(scalar(0, AROUND)));
                Some(Bounds { keys, items: Some(Box::new(value)), ..scalar(most, AROUND) })
            }
            None => Some(object(props, is_object)),
        },
        "string" => Some(text(props)),
        "boolean" => Some(scalar(0, 4)),
        "number" | "integer" => Some(scalar(0, 1)),
        _ => None,
    }
}

fn scalar(most: u64, least_bytes: u64) -> Bounds {
    Bounds { most, least_bytes, ..Bounds::default() }
}

/// Returns a limit of a schema; negative limits count as 0.
fn limit(value: Option<i64>) -> Option<u64> {
    value.map(|value| u64::try_from(value).unwrap_or(0))
}

/// Returns the maximum number of bytes of a text with a character limit.
fn longest(props: &JSONSchemaProps) -> Option<u64> {
    limit(props.max_length).map(|length| length.saturating_mul(CHARACTER))
}

fn text(props: &JSONSchemaProps) -> Bounds {
    match props.format.as_str() {
        "byte" => scalar(limit(props.max_length).unwrap_or(REQUEST - AROUND), AROUND),
        "duration" => scalar(TIME, 3),
        "date" => scalar(DATE, DATE),
        "date-time" => scalar(TIME, 21),
        _ => {
            let choices = || props.r#enum.iter().map(|choice| text_length(choice.as_bytes())).max();
            scalar(longest(props).or_else(choices).unwrap_or(REQUEST - AROUND), AROUND)
        }
    }
}

fn text_length(choice: &[u8]) -> u64 {
    let choice = json::parse(choice, &mut Issues::ignore()).unwrap_or_default();
    choice.as_str().map_or(0, |text| text.len() as u64)
}

fn object(props: &JSONSchemaProps, is_object: bool) -> Bounds {
    let is_completed = is_object && !has_object_fields(props);
    let mut bounds = scalar(0, AROUND);
    let required: HashSet<&str> = props.required.iter().map(String::as_str).collect();
    for (name, property) in &props.properties {
        if !(is_completed && matches!(name.as_str(), "kind" | "apiVersion" | "metadata")) {
            let is_filled_in = property.default.as_ref().is_some_and(|default| &default.as_bytes()[..] != b"null");
            add(&mut bounds, &required, name, is_filled_in, of(property, property.x_kubernetes_embedded_resource));
        }
    }
    if is_completed {
        let any_text = || scalar(REQUEST - AROUND, AROUND);
        let names = ["name", "generateName"].map(|name| (name.to_owned(), any_text()));
        let metadata = Bounds { fields: names.into(), ..scalar(0, AROUND) };
        for (name, of) in [("kind", any_text()), ("apiVersion", any_text()), ("metadata", metadata)] {
            add(&mut bounds, &required, name, false, Some(of));
        }
    }
    bounds
}

/// Adds a field. A required field adds its name and value to the minimum size.
fn add(bounds: &mut Bounds, required: &HashSet<&str>, name: &str, is_filled_in: bool, field: Option<Bounds>) {
    let Some(field) = field else { return };
    if !is_filled_in && required.contains(name) {
        bounds.least_bytes += name.len() as u64 + field.least_bytes + 4;
    }
    if let Some(escaped) = escape(name) {
        bounds.fields.insert(escaped, field);
    }
}

/// Whether a schema has the kind, the version and both names of objects (`WithTypeAndObjectMeta`).
fn has_object_fields(props: &JSONSchemaProps) -> bool {
    let is_text = |of: &JSONSchemaProps, name: &str| of.properties.get(name).is_some_and(|of| of.r#type == "string");
    let metadata = props.properties.get("metadata").filter(|metadata| metadata.r#type == "object");
    is_text(props, "kind")
        && is_text(props, "apiVersion")
        && metadata.is_some_and(|metadata| is_text(metadata, "name") && is_text(metadata, "generateName"))
}
