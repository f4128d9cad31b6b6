//! Lists that a document says are empty. Go tells them from absent ones until an object is stored: who writes one out owns it.

use machinery::budget::DecodeError;
use machinery::def::{Flags, Shape, StructDef};
use machinery::json;
use machinery::status::Status;
use serde_json::Value;

/// Where a list stands: JSON names from the object down.
pub type Path = Vec<&'static str>;

/// Where objects say who owns their fields: an empty list there makes all forgotten.
pub const OWNERS: [&str; 2] = ["metadata", "managedFields"];

/// The empty lists of a document, of those that are shown even when they are absent, and that of owners.
pub fn lists(def: &'static StructDef, document: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(def, document, &mut Vec::new(), &mut found);
    found
}

/// The same of a text, which is read only if it has an empty list at all.
///
/// # Errors
/// 413 or 429 when a memory budget is exceeded. The caller has decoded the text already, so it is not malformed.
pub fn lists_of_text(def: &'static StructDef, text: &[u8]) -> Result<Vec<Path>, Status> {
    if !has_empty_list(text) {
        return Ok(Vec::new());
    }
    let document = json::parse(text, &mut json::Issues::only_limit())
        .map_err(|e| e.into_status(|malformed| Status::bad_request(malformed.to_string())))?;
    Ok(lists(def, &document))
}

fn has_empty_list(text: &[u8]) -> bool {
    let behind = text.split(|byte| *byte == b'[').skip(1);
    behind.into_iter().any(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b']'))
}

fn collect(def: &'static StructDef, document: &Value, path: &mut Path, found: &mut Vec<Path>) {
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
    fn only_a_text_with_an_empty_list_is_read() {
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
