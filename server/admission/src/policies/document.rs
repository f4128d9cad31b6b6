//! The document of an object, as expressions read it.

use machinery::catalog::KindDef;
use machinery::json;
use machinery::reflect::Owned;
use serde_json::Value as Json;

/// Encodes a hub object as a JSON document of a version.
pub fn document(kind: &'static KindDef, object: Option<&Owned>) -> Json {
    let Some(object) = object else { return Json::Null };
    let versioned = kind.from_hub(object.clone());
    let mut document = json::to_value(versioned.as_ref());
    if let Json::Object(members) = &mut document {
        members.insert("apiVersion".into(), kind.api_version().into());
        members.insert("kind".into(), kind.kind.into());
    }
    document
}
