//! Descriptions and constraints of a field as JSON schema keywords, for exports and for the native
//! OpenAPI documents.

use serde_json::{Map, Value};

use crate::model::{Field, Validation};

/// The description of a field; includes whether the field is deprecated.
pub(crate) fn description(field: &Field) -> String {
    match field.deprecated && !field.docs.to_lowercase().contains("deprecated") {
        true => format!("Deprecated: {}", field.docs).trim_end().trim_end_matches(':').to_owned(),
        false => field.docs.clone(),
    }
}

/// Writes the constraints into a schema. Constraints of a list that can only apply to its items go to
/// the items' schema.
pub(crate) fn constrain(rules: &Validation, out: &mut Map<String, Value>) {
    let counts = match out.get("type").and_then(Value::as_str) {
        Some("array") => ["minItems", "maxItems"],
        _ => ["minProperties", "maxProperties"],
    };
    for (key, value) in counts.into_iter().zip([rules.min_items, rules.max_items]) {
        out.extend(value.map(|value| (key.to_string(), value.into())));
    }
    let one = match out.contains_key("items") {
        true => out.get_mut("items").and_then(Value::as_object_mut),
        false => Some(out),
    };
    // A schema with `$ref` must have no other keywords.
    let Some(one) = one.filter(|one| !one.contains_key("$ref")) else { return };
    let max_length = rules.max_length.or(rules.max_bytes);
    let keywords: [(&str, Option<Value>); 6] = [
        ("minimum", rules.min.map(Value::from)),
        ("maximum", rules.max.map(Value::from)),
        ("minLength", rules.min_length.map(Value::from)),
        // A string of at most N bytes has at most N characters.
        ("maxLength", max_length.map(Value::from)),
        ("pattern", rules.pattern.clone().or_else(|| pattern(rules.format.as_deref()?)).map(Value::from)),
        ("format", rules.format.as_deref().and_then(format).map(Value::from)),
    ];
    one.extend(keywords.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))));
}

/// The pattern of a format that the apiextensions server interprets differently or does not know.
fn pattern(format: &str) -> Option<String> {
    // The apiextensions server's own `uuid` format accepts capitals and does not require dashes.
    (format == "uuid").then(|| "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$".to_owned())
}

/// The apiextensions server's name for a format, where it has a different one.
fn format(name: &str) -> Option<&'static str> {
    match name {
        "dns1123_label" => Some("k8s-short-name"),
        "dns1123_subdomain" => Some("k8s-long-name"),
        _ => None,
    }
}
