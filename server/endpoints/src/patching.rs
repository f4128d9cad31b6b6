//! Patches: their media types, and how each makes the new object out of the stored one.

use machinery::def::StructDef;
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{json, yaml};
use serde_json::Value;

use crate::body;
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::query::FieldValidation;

/// A kind of patch, by its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl PatchType {
    /// By the Content-Type header.
    pub fn parse(content_type: Option<&str>) -> Result<Self, Status> {
        match content_type.unwrap_or("").split(';').next().unwrap_or("").trim() {
            "application/json-patch+json" => Ok(PatchType::Json),
            "application/merge-patch+json" => Ok(PatchType::Merge),
            "application/strategic-merge-patch+json" => Ok(PatchType::Strategic),
            "application/apply-patch+yaml" => Ok(PatchType::Apply),
            // In the words of go-restful, which upstream leaves this to for built-in kinds.
            _ => {
                let mut status = Status::new(415, "UnsupportedMediaType", "415: Unsupported Media Type");
                status.details = Some(Box::default());
                Err(status)
            }
        }
    }
}

/// A patch with what its sender wants of unknown fields.
pub struct Patch<'a> {
    pub kind: PatchType,
    pub bytes: &'a [u8],
    pub validation: FieldValidation,
}

fn patched(
    kind: PatchType,
    def: &'static StructDef,
    document: &Value,
    bytes: &[u8],
    issues: &mut json::Issues,
) -> Result<Value, Status> {
    match kind {
        PatchType::Json => patch::json_patch(document, bytes, issues),
        PatchType::Merge => patch::merge_patch(document, bytes, issues),
        PatchType::Strategic => patch::strategic_merge(def, document, bytes, issues),
        PatchType::Apply => Err(Status::internal("an apply patch is no plain patch")),
    }
}

/// A document changed by a patch, unknown fields ignored.
pub fn plain_patch(kind: PatchType, def: &'static StructDef, document: &Value, bytes: &[u8]) -> Result<Value, Status> {
    patched(kind, def, document, bytes, &mut json::Issues::ignore())
}

/// A patched object in hub form, and what to warn of.
pub struct Patched {
    pub object: Owned,
    pub warnings: Vec<String>,
}

impl Patch<'_> {
    /// Applies the patch to a stored object in its hub form.
    pub fn apply(&self, endpoint: &Endpoint, current: &Owned) -> Result<Patched, Status> {
        let document = managed::document(endpoint, current);
        let mut issues = json::Issues::collect();
        let patched = self.apply_to(endpoint, &document, &mut issues)?;
        self.decoded(endpoint, &patched, issues)
    }

    /// Applies a configuration to the stored object, or makes a new one of it.
    pub fn apply_configuration(
        &self,
        endpoint: &Endpoint,
        current: Option<&Owned>,
        manager: &Manager<'_>,
        force: bool,
    ) -> Result<Patched, Status> {
        let mut issues = json::Issues::collect();
        let config = yaml::to_value(self.bytes, &mut issues)
            .map_err(|e| Status::bad_request(format!("error decoding YAML: {e}")))?;
        let applied = managed::apply(endpoint, current, &config, manager, force)?;
        self.decoded(endpoint, &applied, issues)
    }

    /// A patched document as an object, defaulted.
    fn decoded(&self, endpoint: &Endpoint, document: &Value, mut issues: json::Issues) -> Result<Patched, Status> {
        let mut value = Owned::new(endpoint.kind.def);
        json::from_value_version(document, endpoint.kind.version, value.as_mut(), &mut issues)
            .map_err(|e| self.undecodable(document, &e.to_string()))?;
        let warnings = self.judge(&issues)?;
        Ok(Patched { object: body::internal(endpoint.kind, value), warnings })
    }

    /// The answer when what the patch made is no object of the kind: upstream shows the document, or of a strategic merge patch the patch.
    fn undecodable(&self, document: &Value, why: &str) -> Status {
        match self.kind {
            PatchType::Apply => Status::bad_request(why),
            PatchType::Strategic => patch::undecodable(self.bytes, why),
            PatchType::Json | PatchType::Merge => patch::undecodable_document(document, why),
        }
    }

    fn apply_to(&self, endpoint: &Endpoint, document: &Value, issues: &mut json::Issues) -> Result<Value, Status> {
        patched(self.kind, endpoint.kind.def, document, self.bytes, issues)
    }

    /// Unknown and duplicate fields, as the caller wants them treated.
    fn judge(&self, issues: &json::Issues) -> Result<Vec<String>, Status> {
        match self.validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => Ok(body::warnings(issues)),
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(Status::bad_request(why)),
                None => Ok(Vec::new()),
            },
        }
    }
}
