//! Patches: their media types, and how each makes the new object out of the stored one.

use machinery::json;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use serde_json::Value;

use crate::answer;
use crate::body;
use crate::endpoint::Endpoint;
use crate::query::FieldValidation;

/// A kind of patch, by its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// What may be sent, as messages list it.
const ACCEPTED: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

impl PatchType {
    /// By the Content-Type header.
    pub fn parse(content_type: Option<&str>) -> Result<Self, Status> {
        match content_type.unwrap_or("").split(';').next().unwrap_or("").trim() {
            "application/json-patch+json" => Ok(PatchType::Json),
            "application/merge-patch+json" => Ok(PatchType::Merge),
            "application/strategic-merge-patch+json" => Ok(PatchType::Strategic),
            "application/apply-patch+yaml" => Ok(PatchType::Apply),
            _ => Err(Status::unsupported_media_type(&ACCEPTED)),
        }
    }
}

/// A patch with what its sender wants of unknown fields.
pub struct Patch<'a> {
    pub kind: PatchType,
    pub bytes: &'a [u8],
    pub validation: FieldValidation,
}

/// A patched object in hub form, and what to warn of.
pub struct Patched {
    pub object: Owned,
    pub warnings: Vec<String>,
}

impl Patch<'_> {
    /// Applies the patch to a stored object in its hub form.
    pub fn apply(&self, endpoint: &Endpoint, current: &Owned) -> Result<Patched, Status> {
        let versioned = answer::in_version(endpoint.kind, current.clone());
        let mut document = json::to_value(versioned.as_ref());
        say_kind(&mut document, &endpoint.kind.api_version(), endpoint.kind.kind);
        let mut issues = json::Issues::collect();
        let patched = self.apply_to(endpoint, versioned.as_ref(), &document, &mut issues)?;
        let mut value = Owned::new(endpoint.kind.def);
        json::from_value(&patched, value.as_mut(), &mut issues).map_err(|e| Status::bad_request(e.to_string()))?;
        let warnings = self.judge(&issues)?;
        Ok(Patched { object: body::internal(endpoint.kind, value), warnings })
    }

    fn apply_to(&self, endpoint: &Endpoint, _current: Ref<'_>, document: &Value, issues: &mut json::Issues) -> Result<Value, Status> {
        match self.kind {
            PatchType::Json => patch::json_patch(document, self.bytes, issues),
            PatchType::Merge => patch::merge_patch(document, self.bytes, issues),
            PatchType::Strategic => patch::strategic_merge(endpoint.kind.def, document, self.bytes, issues),
            PatchType::Apply => Err(Status::not_implemented("server-side apply")),
        }
    }

    /// Unknown and duplicate fields, as the caller wants them treated.
    fn judge(&self, issues: &json::Issues) -> Result<Vec<String>, Status> {
        match self.validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => Ok(issues.iter().map(ToString::to_string).collect()),
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(Status::bad_request(why)),
                None => Ok(Vec::new()),
            },
        }
    }
}

/// Puts `kind` and `apiVersion` first.
fn say_kind(document: &mut Value, api_version: &str, kind: &str) {
    if let Value::Object(fields) = document {
        fields.shift_insert(0, "kind".into(), kind.into());
        fields.shift_insert(1, "apiVersion".into(), api_version.into());
    }
}
