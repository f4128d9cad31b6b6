//! Empty lists of a document. Go distinguishes them from absent lists until an object is stored. A
//! field manager that sends an empty list owns the field.

use machinery::budget::DecodeError;
use machinery::def::{Flags, JsonForm, Shape, StructDef};
use machinery::json;
use machinery::status::Status;
use serde_json::Value;

/// Path of a list: JSON names from the object down.
pub type ListPath = Vec<&'static str>;

/// Path of the field owners of an object. An empty list there clears all owners.
pub const OWNERS: [&str; 2] = ["metadata", "managedFields"];

/// Returns the paths of empty lists: of those that are encoded even when absent, and of
/// `managedFields`.
pub fn lists(def: &'static StructDef, document: &Value) -> Vec<ListPath> {
    let mut found = Vec::new();
    collect(def, document, &mut Vec::new(), &mut found);
    found
}

/// Same as [`lists`], for a text. The text is parsed only if it contains an empty list.
///
/// # Errors
/// Returns 413 or 429 when a memory budget is exceeded. The caller has already decoded the text, so
/// it is not malformed.
pub fn lists_of_text(def: &'static StructDef, text: &[u8]) -> Result<Vec<ListPath>, Status> {
    if !has_empty_list(text) {
        return Ok(Vec::new());
    }
    let document = json::parse(text, &mut json::Issues::only_limit())
        .map_err(|e| e.into_status(|malformed| Status::bad_request(malformed.to_string())))?;
    Ok(lists(def, &document))
}

/// Returns JSON pointers (RFC 6901) to values of a document that consist of an empty list only. An
/// object without a stored form returns them unchanged.
pub fn bare_lists(def: &'static StructDef, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_bare(def, document, "", &mut found);
    found
}

fn collect_bare(def: &'static StructDef, value: &Value, pointer: &str, found: &mut Vec<String>) {
    match (def.json_form, value) {
        (JsonForm::Items, Value::Array(items)) if items.is_empty() => found.push(pointer.to_owned()),
        (JsonForm::Fields, Value::Object(members)) => {
            for field in def.fields {
                let Some(value) = members.get(field.json) else { continue };
                collect_bare_field(field.shape(), value, &format!("{pointer}/{}", field.json), found);
            }
        }
        _ => {}
    }
}

fn collect_bare_field(shape: Shape, value: &Value, pointer: &str, found: &mut Vec<String>) {
    match (shape, value) {
        (Shape::Struct(def) | Shape::OptStruct(def), value) => collect_bare(def, value, pointer, found),
        (Shape::StructMap(def, _), Value::Object(members)) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect_bare(def, value, &format!("{pointer}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// Whether a text in JSON or YAML contains an empty list.
pub fn has_empty_list(text: &[u8]) -> bool {
    let is_empty_list = |at: usize| text[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b']');
    memchr::memchr_iter(b'[', text).any(is_empty_list)
}

fn collect(def: &'static StructDef, document: &Value, path: &mut ListPath, found: &mut Vec<ListPath>) {
    for field in def.fields {
        let Some(value) = document.get(field.json) else { continue };
        path.push(field.json);
        match (field.shape(), value) {
            (Shape::List(_) | Shape::StructList(..), Value::Array(items))
                if items.is_empty() && (!field.flags.has(Flags::OMIT_EMPTY) || path == &OWNERS) =>
            {
                found.push(path.clone());
            }
            (Shape::Struct(below) | Shape::OptStruct(below), Value::Object(_)) => collect(below, value, path, found),
            _ => {}
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use apimachinery::meta::v1::Status;
    use machinery::reflect::Struct;

    use super::*;

    #[test]
    fn parses_only_text_with_empty_list() {
        let check = |text: &str, expect: bool| assert_eq!(has_empty_list(text.as_bytes()), expect, "{text}");
        check(r#"{"a":[]}"#, true);
        check("{\"a\": [ \n ]}", true);
        check(r#"{"a":[1]}"#, false);
        check(r#"{"a":{}}"#, false);
        assert!(
            lists_of_text(Status::def(), br#"{"details":{"causes":[]}}"#).unwrap().is_empty(),
            "shown only when it has items"
        );
    }
}
