//! Patches: their media types, and how each makes the new object out of the stored one.

use bytes::Bytes;
use machinery::budget::DecodeError;
use machinery::catalog::{KindDef, parse_api_version};
use machinery::json::Names;
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{cbor, json, yaml};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::media::Spoken;
use crate::options::FieldValidation;
use crate::said_kind::{self, Said};
use crate::{answer, body, empty};

/// A kind of patch, by its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// Patches of kinds of open form, about whose merging strategies nothing is known; the last one where CBOR is spoken.
const OPEN_TYPES: [&str; 4] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml", APPLY_CBOR];
const APPLY_CBOR: &str = "application/apply-patch+cbor";

impl PatchType {
    /// By the Content-Type header.
    pub fn parse(endpoint: &Endpoint, spoken: Spoken, content_type: Option<&str>) -> Result<Self, Status> {
        match Self::of_any(content_type, spoken) {
            Err(_) | Ok(PatchType::Strategic) if endpoint.open.is_some() => {
                Err(Status::unsupported_media_type(if spoken.cbor { &OPEN_TYPES } else { &OPEN_TYPES[..3] }))
            }
            parsed => parsed,
        }
    }

    fn of_any(content_type: Option<&str>, spoken: Spoken) -> Result<Self, Status> {
        match media_type(content_type) {
            APPLY_CBOR if spoken.cbor => Ok(PatchType::Apply),
            "application/json-patch+json" => Ok(PatchType::Json),
            "application/merge-patch+json" => Ok(PatchType::Merge),
            "application/strategic-merge-patch+json" => Ok(PatchType::Strategic),
            "application/apply-patch+yaml" => Ok(PatchType::Apply),
            // Upstream leaves this to go-restful for built-in kinds.
            _ => Err(Status::media_type_without_route()),
        }
    }
}

fn media_type(content_type: Option<&str>) -> &str {
    content_type.unwrap_or("").split(';').next().unwrap_or("").trim()
}

/// The bytes of a patch as those that decode it know them: YAML, or JSON, which it is as well.
pub fn readable(bytes: Bytes, content_type: Option<&str>) -> Result<Bytes, Status> {
    if media_type(content_type) != APPLY_CBOR {
        return Ok(bytes);
    }
    let malformed = |why| Status::bad_request(format!("error decoding CBOR: {why}"));
    let text = cbor::to_json(&bytes).map_err(|e| e.into_status(malformed))?;
    Ok(text.into())
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
    /// Lists that the patch makes empty.
    pub empty: Vec<empty::Path>,
    /// What the patch made, or the part of it that it is about.
    pub document: Value,
}

impl Patch<'_> {
    /// Applies the patch to a stored object in its hub form.
    pub fn apply(&self, endpoint: &Endpoint, current: &Owned) -> Result<Patched, Status> {
        if let Some(names) = self.names()
            && let Ok(patched) = self.apply_to_part(endpoint, current, &names)
        {
            return Ok(patched);
        }
        // Errors show the whole document.
        let (patched, issues) = self.patched(endpoint, &managed::document(endpoint, current))?;
        self.decoded(endpoint, patched, issues)
    }

    /// Most patches name little of an object: nothing but that becomes a document and is decoded again.
    fn apply_to_part(&self, endpoint: &Endpoint, current: &Owned, names: &Names) -> Result<Patched, Status> {
        let kind = endpoint.kind;
        let mut value = answer::in_version(kind, current.clone());
        let mut part = json::part_to_value(value.as_ref(), names);
        managed::say_kind(&mut part, &kind.api_version(), kind.kind);
        let (patched, issues) = self.patched(endpoint, &part)?;
        json::clear_part(value.as_mut(), names);
        self.decoded_into(value, kind, endpoint, patched, issues)
    }

    /// What of an object the patch may read or change; nothing if that may be all of it, or if it is no patch.
    fn names(&self) -> Option<Names> {
        let names = match (self.kind, json::parse(self.bytes, &mut json::Issues::only_limit()).ok()?) {
            (PatchType::Merge | PatchType::Strategic, Value::Object(names)) => names,
            (PatchType::Json, Value::Array(operations)) => patch::names_of_operations(&operations)?,
            _ => return None,
        };
        // What says a kind may make another kind of it, and directives are about all of an object.
        let is_about_all = |name: &str| matches!(name, "kind" | "apiVersion") || name.starts_with('$');
        (!names.keys().any(|name| is_about_all(name))).then_some(names)
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
        let malformed = |e| Status::bad_request(format!("error decoding YAML: error converting YAML to JSON: {e}"));
        let config = yaml::to_value(self.bytes, &mut issues).map_err(|e| e.into_status(malformed))?;
        if let Some(other) = Some(&config).filter(|config| !config.is_object()).and_then(go_kind) {
            let why = "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
            return Err(Status::bad_request(format!("{why} {other} into Go value of type map[string]interface {{}}")));
        }
        let mut applied = managed::apply(endpoint, current, &config, manager, force)?;
        let live = || current.map(|live| without_owners(managed::document(endpoint, live)));
        if endpoint.is_part_of_open() && live() != Some(without_owners(applied.object.clone())) {
            return Err(inapplicable(&config));
        }
        if let Some(current) = current.filter(|_| !applied.changed) {
            // It gets no defaults, which the stored version may not know.
            let mut object = current.clone();
            managed::set_entries(&mut object, applied.object["metadata"]["managedFields"].take())?;
            return Ok(Patched {
                object,
                warnings: self.judge(&config, &issues)?,
                empty: Vec::new(),
                document: config,
            });
        }
        self.decoded(endpoint, applied.object, issues)
    }

    /// A patched document as an object, defaulted.
    fn decoded(&self, endpoint: &Endpoint, document: Value, issues: json::Issues) -> Result<Patched, Status> {
        let kind = match self.kind {
            PatchType::Json | PatchType::Merge if endpoint.open.is_none() => self.said_kind(endpoint, &document)?,
            _ => Some(endpoint.kind),
        };
        let Some(kind) = kind else { return self.without_version(endpoint, document, issues) };
        self.decoded_into(Owned::new(kind.def), kind, endpoint, document, issues)
    }

    /// Likewise, into an object of this kind that has what the document leaves out.
    fn decoded_into(
        &self,
        mut value: Owned,
        kind: &'static KindDef,
        endpoint: &Endpoint,
        document: Value,
        mut issues: json::Issues,
    ) -> Result<Patched, Status> {
        json::from_value_version(&document, kind.version, value.as_mut(), &mut issues)
            .map_err(|e| e.into_status(|e| self.undecodable(&document, &e.to_string())))?;
        if let Some(open) = &endpoint.open {
            open.complete(&mut value, &mut issues)
                .map_err(|e| e.into_status(|why| self.undecodable(&document, &why.to_string())))?;
        }
        let warnings = self.judge(&document, &issues)?;
        if !std::ptr::eq(kind.hub, endpoint.kind.hub) {
            let why = said_kind::no_conversion(endpoint.kind, kind.version, kind.kind);
            return Err(self.undecodable(&document, &why));
        }
        let empty = empty::lists(kind.def, &document);
        Ok(Patched { object: body::internal(kind, value), warnings, empty, document })
    }

    /// The kind that a JSON patch or a merge patch, which may change it, made the document say; nothing when it says no version.
    fn said_kind(&self, endpoint: &Endpoint, document: &Value) -> Result<Option<&'static KindDef>, Status> {
        for name in ["apiVersion", "kind"] {
            let Some(other) = document.get(name).filter(|value| !value.is_string()).and_then(go_kind) else {
                continue;
            };
            let why = format!("json: cannot unmarshal {other} into Go struct field .{name} of type string");
            let why = format!("couldn't get version/kind; json parse error: {why}");
            return Err(self.undecodable(document, &why));
        }
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("apiVersion").is_empty() {
            return Ok(None);
        }
        match said_kind::resolve(endpoint.catalog, endpoint.kind, text("apiVersion"), text("kind")) {
            Said::Same(kind) | Said::Other(kind) => Ok(Some(kind)),
            Said::Refused(why) => Err(self.undecodable(document, &why)),
        }
    }

    /// A document without a version is one of upstream's internal form, which shares no field's name with any version.
    fn without_version(
        &self,
        endpoint: &Endpoint,
        document: Value,
        mut issues: json::Issues,
    ) -> Result<Patched, Status> {
        let fields = document.as_object().into_iter().flat_map(serde_json::Map::keys);
        let unknown = fields.filter(|name| !matches!(name.as_str(), "apiVersion" | "kind"));
        unknown.for_each(|name| issues.add(json::Issue::Unknown(name.as_str().into())));
        let warnings = self.judge(&document, &issues)?;
        Ok(Patched { object: Owned::new(endpoint.kind.hub), warnings, empty: Vec::new(), document })
    }

    /// The answer when what the patch made is no object of the kind: upstream shows the document, or of a strategic merge patch the patch.
    fn undecodable(&self, document: &Value, why: &str) -> Status {
        match self.kind {
            PatchType::Apply => Status::bad_request(why),
            PatchType::Strategic => patch::undecodable(self.bytes, why),
            PatchType::Json | PatchType::Merge => patch::undecodable_document(document, why),
        }
    }

    /// What the patch makes of a document, with what is odd about the patch.
    fn patched(&self, endpoint: &Endpoint, document: &Value) -> Result<(Value, json::Issues), Status> {
        let mut issues = json::Issues::collect();
        let mut patched = match self.kind {
            PatchType::Json => patch::json_patch(document, self.bytes, &mut issues),
            PatchType::Merge => patch::merge_patch(document, self.bytes, &mut issues),
            PatchType::Strategic => patch::strategic_merge(endpoint.kind.def, document, self.bytes, &mut issues),
            PatchType::Apply => Err(Status::internal("an apply patch is no plain patch")),
        }?;
        if endpoint.open.is_some() {
            // Upstream keeps these in maps, and shows them in order of their names.
            patched.sort_all_objects();
        }
        Ok((patched, issues))
    }

    /// Unknown and duplicate fields, as the caller wants them treated.
    fn judge(&self, document: &Value, issues: &json::Issues) -> Result<Vec<String>, Status> {
        match self.validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => Ok(body::warnings(issues)),
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(self.undecodable(document, &why)),
                None => Ok(Vec::new()),
            },
        }
    }
}

/// What Go calls the type of a JSON value; null has none.
fn go_kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("bool"),
        Value::Number(_) => Some("number"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

fn without_owners(mut document: Value) -> Value {
    if let Some(Value::Object(metadata)) = document.get_mut("metadata") {
        metadata.shift_remove("managedFields");
    }
    document
}

/// Upstream applies to the Scale of a custom resource, and then finds no version of the custom resource to give the result; unless nothing
/// changes.
fn inapplicable(config: &Value) -> Status {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text(&config["metadata"]["namespace"]), text(&config["metadata"]["name"]));
    let (api_version, kind) = (text(&config["apiVersion"]), text(&config["kind"]));
    let (group, version) = parse_api_version(&api_version);
    let of = format!("{namespace}/{name}; {group}/{version}, Kind={kind}");
    let why = format!("request to convert CR to an invalid group/version: {api_version}");
    Status::new(500, "", format!("failed to convert new object ({of}) to proper version: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_patches_name_of_an_object() {
        let check = |kind: PatchType, patch: &str, expect: Option<&str>| {
            let bytes = patch.as_bytes();
            let names = Patch { kind, bytes, validation: FieldValidation::Ignore }.names();
            assert_eq!(names.map(|names| Value::Object(names).to_string()).as_deref(), expect, "{patch}");
        };
        let label = r#"{"metadata":{"labels":{"a":"b"}}}"#;
        check(PatchType::Merge, label, Some(label));
        check(PatchType::Strategic, label, Some(label));
        check(PatchType::Strategic, r#"{"$patch":"replace","spec":{}}"#, None);
        check(PatchType::Merge, r#"{"kind":"Pod"}"#, None);
        check(PatchType::Merge, "[]", None);
        check(
            PatchType::Json,
            r#"[{"op":"move","from":"/spec/a","path":"/spec/b~1c"},{"op":"test","path":"/metadata/labels/a"},{"op":"remove","path":"/metadata"}]"#,
            Some(r#"{"spec":{"b/c":null,"a":null},"metadata":null}"#),
        );
        check(PatchType::Json, r#"[{"op":"test","path":"","value":{}}]"#, None);
    }
}
