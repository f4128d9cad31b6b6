//! Patches: their media types, and their application to stored objects.

use apimachinery::meta::v1::ObjectMeta;
use bytes::Bytes;
use machinery::budget::DecodeError;
use machinery::catalog::{KindDef, parse_api_version};
use machinery::json::SelectedNames;
use machinery::reflect::{Mut, Owned, Struct};
use machinery::status::Status;
use machinery::{cbor, json, yaml};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::gvk::{self, ResolvedKind};
use crate::managed::{self, Manager};
use crate::media::SupportedEncodings;
use crate::open::Origin;
use crate::options::FieldValidation;
use crate::{body, empty, response};

/// The type of a patch, from its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// Patches of kinds of open form, which have no strategic merge. The last one requires CBOR.
const OPEN_TYPES: [&str; 4] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml", APPLY_CBOR];
const APPLY_CBOR: &str = "application/apply-patch+cbor";

impl PatchType {
    /// Parses the Content-Type header.
    pub fn parse(
        endpoint: &Endpoint,
        supported: SupportedEncodings,
        content_type: Option<&str>,
    ) -> Result<Self, Status> {
        match Self::of_any(content_type, supported) {
            Err(_) | Ok(PatchType::Strategic) if endpoint.open.is_some() => {
                Err(Status::unsupported_media_type(if supported.cbor { &OPEN_TYPES } else { &OPEN_TYPES[..3] }))
            }
            parsed => parsed,
        }
    }

    fn of_any(content_type: Option<&str>, supported: SupportedEncodings) -> Result<Self, Status> {
        match media_type(content_type) {
            APPLY_CBOR if supported.cbor => Ok(PatchType::Apply),
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

/// Converts a CBOR patch to JSON. Other patches are YAML or JSON already.
pub fn readable(bytes: Bytes, content_type: Option<&str>) -> Result<Bytes, Status> {
    if media_type(content_type) != APPLY_CBOR {
        return Ok(bytes);
    }
    let malformed = |why| Status::bad_request(format!("error decoding CBOR: {why}"));
    let text = cbor::to_json(&bytes).map_err(|e| e.into_status(malformed))?;
    Ok(text.into())
}

/// A patch and its field validation.
pub struct Patch<'a> {
    pub kind: PatchType,
    pub bytes: &'a [u8],
    pub validation: FieldValidation,
}

/// A patched object in hub form, with its warnings.
pub struct PatchedObject {
    pub object: Owned,
    pub warnings: Vec<String>,
    /// Paths of lists that the patch makes empty.
    pub empty: Vec<empty::ListPath>,
    /// The patched document, or the part of it that the patch names.
    pub document: Value,
}

impl Patch<'_> {
    /// Applies the patch to a stored object in hub form.
    pub fn apply(&self, endpoint: &Endpoint, current: &Owned) -> Result<PatchedObject, Status> {
        if let Some(names) = self.names()
            && let Ok(patched) = self.apply_to_part(endpoint, current, &names)
        {
            return Ok(patched);
        }
        // Error messages include the whole document.
        let document = managed::document(endpoint, current);
        let (decoding, patched, issues) = self.patched(endpoint, &document)?;
        decoding.decoded(patched, issues)
    }

    /// Applies the patch to a part of the object. Most patches name few fields; only those are
    /// converted to a document and decoded again.
    fn apply_to_part(
        &self,
        endpoint: &Endpoint,
        current: &Owned,
        names: &SelectedNames,
    ) -> Result<PatchedObject, Status> {
        let kind = endpoint.kind;
        let mut value = response::in_version(kind, current.clone());
        let mut part = json::part_to_value(value.as_ref(), names);
        managed::set_type_meta(&mut part, &kind.api_version(), kind.kind);
        let (decoding, patched, issues) = self.patched(endpoint, &part)?;
        json::clear_part(value.as_mut(), names);
        decoding.decoded_into(value, kind, patched, issues)
    }

    /// Returns the fields that the patch may read or change. Returns nothing if it may be all
    /// fields, or if the patch is malformed.
    fn names(&self) -> Option<SelectedNames> {
        let names = match (self.kind, json::parse(self.bytes, &mut json::Issues::only_limit()).ok()?) {
            (PatchType::Merge | PatchType::Strategic, Value::Object(names)) => names,
            (PatchType::Json, Value::Array(operations)) => patch::names_of_operations(&operations)?,
            _ => return None,
        };
        if self.kind != PatchType::Strategic && patch::has_odd_numbers(self.bytes) {
            return None;
        }
        // A patch with `kind` may change the kind. Directives affect the whole object.
        let is_about_all = |name: &str| matches!(name, "kind" | "apiVersion") || name.starts_with('$');
        (!names.keys().any(|name| is_about_all(name))).then_some(names)
    }

    /// Applies a configuration to the stored object, or creates an object from it.
    pub fn apply_configuration(
        &self,
        endpoint: &Endpoint,
        current: Option<&Owned>,
        manager: &Manager<'_>,
        force: bool,
    ) -> Result<PatchedObject, Status> {
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
        let decoding = Decoding { patch: self, endpoint, source: &config, text: Vec::new() };
        let owners = applied.object["metadata"]["managedFields"].take();
        if let Some(current) = current.filter(|_| !applied.changed) {
            // The stored object gets no defaults, because its stored version may not have them.
            let mut object = current.clone();
            managed::set_entries(&mut object, owners)?;
            return Ok(PatchedObject {
                object,
                warnings: decoding.check_fields(&issues)?,
                empty: Vec::new(),
                document: applied.object,
            });
        }
        // Upstream checks the configuration for duplicate fields, and does not check for unknown
        // fields.
        let warnings = decoding.check_fields(&issues)?;
        let mut patched = decoding.decoded(applied.object, json::Issues::only_limit())?;
        managed::set_entries(&mut patched.object, owners)?;
        // A new object had no fields, though its document has zero values.
        let document = if current.is_none() { config } else { patched.document };
        Ok(PatchedObject { warnings, document, ..patched })
    }

    /// Applies the patch to a document and collects issues of the patch.
    fn patched<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        document: &'a Value,
    ) -> Result<(Decoding<'a>, Value, json::Issues), Status> {
        let mut issues = json::Issues::collect();
        let mut decoding = Decoding { patch: self, endpoint, source: document, text: Vec::new() };
        let mut patched = match self.kind {
            PatchType::Strategic => {
                let patched = patch::strategic_merge(endpoint.kind.def, document, self.bytes, &mut issues)?;
                return Ok((decoding, patched, issues));
            }
            PatchType::Apply => return Err(Status::internal("an apply patch is no plain patch")),
            PatchType::Json | PatchType::Merge => patch::with_numbers(self.bytes, document, |bytes| match self.kind {
                PatchType::Json => patch::json_patch(document, bytes, &mut issues),
                _ if self.validation == FieldValidation::Ignore => patch::merge_patch_unchecked(document, bytes),
                _ => patch::merge_patch(document, bytes, &mut issues),
            })?,
        };
        if endpoint.open.is_some() {
            // Upstream keeps these in maps, and encodes them sorted by name.
            patched.document.sort_all_objects();
        }
        decoding.text = patched.text();
        Ok((decoding, patched.into_document(), issues))
    }
}

/// Reports the fields of a custom object that declares another version of its group, because no
/// schema has them. Fields of an object of another group are not checked.
fn unknown_of_other_version(kind: &KindDef, document: &Value, issues: &mut json::Issues) {
    let api_version = document.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if parse_api_version(api_version).0 != kind.group {
        return;
    }
    for (name, _) in document.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            issues.add(json::Issue::Unknown(name.as_str().into()));
        }
    }
}

/// Decodes a patched document.
struct Decoding<'a> {
    patch: &'a Patch<'a>,
    endpoint: &'a Endpoint,
    /// The document before the patch, or the applied configuration.
    source: &'a Value,
    /// The text of the document that a JSON patch or a merge patch produced.
    text: Vec<u8>,
}

impl Decoding<'_> {
    /// Decodes a patched document into an object with defaults.
    fn decoded(&self, document: Value, issues: json::Issues) -> Result<PatchedObject, Status> {
        let endpoint = self.endpoint;
        let kind = match self.patch.kind {
            PatchType::Json | PatchType::Merge => {
                self.check_type_meta(&document)?;
                match endpoint.open {
                    Some(_) => self.custom_kind(&document).map(Some)?,
                    None => self.gvk(&document)?,
                }
            }
            _ => Some(endpoint.kind),
        };
        let Some(kind) = kind else { return self.without_version(document, issues) };
        self.decoded_into(Owned::new(kind.def), kind, document, issues)
    }

    /// Same as `decoded`, into an object that already has the fields the document lacks.
    fn decoded_into(
        &self,
        mut value: Owned,
        kind: &'static KindDef,
        mut document: Value,
        mut issues: json::Issues,
    ) -> Result<PatchedObject, Status> {
        let endpoint = self.endpoint;
        if matches!(self.patch.kind, PatchType::Strategic | PatchType::Apply) && endpoint.open.is_none() {
            patch::fit_integers(kind.def, &mut document);
        }
        let decoded = match self.patch.kind {
            PatchType::Json | PatchType::Merge => {
                json::decode_version(&self.text, kind.version, value.as_mut(), &mut issues)
            }
            _ => json::from_value_version(&document, kind.version, value.as_mut(), &mut issues),
        };
        decoded.map_err(|e| e.into_status(|e| self.malformed(kind, &document, &e.to_string())))?;
        let is_applied = self.patch.kind == PatchType::Apply;
        let origin = if is_applied { Origin::Applied } else { Origin::RequestDocument };
        match &endpoint.open {
            Some(open) if self.has_path_version(kind, &document) => open
                .complete(&mut value, origin, &mut issues)
                .map_err(|e| e.into_status(|why| self.undecodable(&why.to_string())))?,
            Some(_) => unknown_of_other_version(kind, &document, &mut issues),
            None => {}
        }
        if endpoint.open.is_some() || matches!(self.patch.kind, PatchType::Strategic | PatchType::Apply) {
            issues.show_unknown_unescaped();
        }
        let warnings = self.check_fields(&issues)?;
        if !std::ptr::eq(kind.hub, endpoint.kind.hub) {
            let why = gvk::no_conversion(endpoint.kind, kind.version, kind.kind);
            return Err(self.undecodable(&why));
        }
        let empty = empty::lists(kind.def, &document);
        Ok(PatchedObject { object: body::internal(kind, value), warnings, empty, document })
    }

    /// Checks `apiVersion` and `kind` of a document from a JSON patch or a merge patch. Upstream
    /// reads them before anything else.
    fn check_type_meta(&self, document: &Value) -> Result<(), Status> {
        if document.is_array() {
            let why = body::anonymous("json: cannot unmarshal array into Go value of type TypeMeta");
            return Err(self.undecodable(&format!("couldn't get version/kind; json parse error: {why}")));
        }
        for name in ["apiVersion", "kind"] {
            let Some(other) = document.get(name).filter(|value| !value.is_string()).and_then(go_kind) else {
                continue;
            };
            let why = format!("json: cannot unmarshal {other} into Go struct field .{name} of type string");
            let why = format!("couldn't get version/kind; json parse error: {why}");
            return Err(self.undecodable(&why));
        }
        Ok(())
    }

    /// Returns the kind of a custom object, which must declare a kind and a version. Validation
    /// rejects versions other than that of the path.
    fn custom_kind(&self, document: &Value) -> Result<&'static KindDef, Status> {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("kind").is_empty() {
            return Err(self.undecodable(&gvk::no_kind(&self.text)));
        }
        if let Some(why) = gvk::malformed_version(text("apiVersion")) {
            return Err(self.undecodable(&why));
        }
        if text("apiVersion").is_empty() {
            // Upstream detects this when it records owners, and returns this error.
            return Err(Status::internal("Object 'apiVersion' is missing in 'object has no apiVersion field'"));
        }
        Ok(self.endpoint.kind)
    }

    /// Whether a patched custom object has the version of the path. An applied object always has.
    fn has_path_version(&self, kind: &KindDef, document: &Value) -> bool {
        let is_checked = matches!(self.patch.kind, PatchType::Json | PatchType::Merge);
        !is_checked || document.get("apiVersion").and_then(Value::as_str) == Some(&kind.api_version())
    }

    /// Returns the kind that the document declares after a JSON patch or a merge patch, which may
    /// change it. Returns nothing if it declares no version.
    fn gvk(&self, document: &Value) -> Result<Option<&'static KindDef>, Status> {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
        let endpoint = self.endpoint;
        if let Some(why) = gvk::malformed_version(text("apiVersion")) {
            return Err(self.undecodable(&why));
        }
        let own = (endpoint.kind.group, "");
        if gvk::group_version(text("apiVersion"), own) == own {
            return match gvk::internal_refused(endpoint.catalog, endpoint.kind, text("kind")) {
                Some(why) => Err(self.undecodable(&why)),
                None => Ok(None),
            };
        }
        match gvk::resolve(endpoint.catalog, endpoint.kind, text("apiVersion"), text("kind")) {
            ResolvedKind::Same(kind) | ResolvedKind::Other(kind) => Ok(Some(kind)),
            ResolvedKind::Internal => Ok(None),
            ResolvedKind::NoVersion => Err(self.undecodable(&gvk::no_version(&self.text))),
            ResolvedKind::Machinery(def) => {
                Err(self.undecodable(&gvk::machinery_refused(endpoint.kind, def, &self.text)?))
            }
            ResolvedKind::Refused(why) => Err(self.undecodable(&why)),
        }
    }

    /// Decodes a document without a version, which is of upstream's internal form. Go embeds the
    /// metadata in the object there, so metadata fields are siblings of `kind`. No other field has
    /// its JSON name.
    fn without_version(&self, document: Value, mut issues: json::Issues) -> Result<PatchedObject, Status> {
        gvk::unknown_internal_fields(self.endpoint.kind, &document, &mut issues);
        let is_metadata = |name: &str| ObjectMeta::def().fields.iter().any(|field| field.json == name);
        let members = document.as_object().into_iter().flatten().filter(|(name, _)| is_metadata(name));
        let metadata: Value = members.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut object = Owned::new(self.endpoint.kind.hub);
        if let Some(meta) = registry::meta_mut(&mut object) {
            let embedded = |why: String| {
                let field = format!("Go struct field {}.ObjectMeta.", self.endpoint.kind.kind);
                why.replace("Go struct field ObjectMeta.", &field)
            };
            json::from_value(&metadata, Mut::of(meta), &mut issues)
                .map_err(|e| e.into_status(|e| self.undecodable(&embedded(e.to_string()))))?;
        }
        let warnings = self.check_fields(&issues)?;
        Ok(PatchedObject { object, warnings, empty: Vec::new(), document })
    }

    /// Returns the error for a document that does not match the kind's type. Upstream converts
    /// strategic merge and apply patches before decoding, and reports that error first.
    fn malformed(&self, kind: &KindDef, document: &Value, why: &str) -> Status {
        let shape = || patch::shape_error(kind.def, kind.version, document);
        match self.patch.kind {
            PatchType::Strategic => self.undecodable(&shape().unwrap_or_else(|| why.into())),
            PatchType::Apply if self.endpoint.open.is_none() => match shape() {
                Some(why) => not_convertible(
                    self.source,
                    &format!(
                        "unable to convert unstructured object to {}: {why}",
                        group_version_kind(&kind.api_version(), kind.kind)
                    ),
                ),
                None => self.undecodable(why),
            },
            _ => self.undecodable(why),
        }
    }

    /// Returns the error for an undecodable result. Upstream includes the document, or for a
    /// strategic merge patch the patch.
    fn undecodable(&self, why: &str) -> Status {
        match self.patch.kind {
            PatchType::Apply => Status::bad_request(why),
            PatchType::Strategic => patch::undecodable(self.endpoint.kind.def, self.source, self.patch.bytes, why),
            PatchType::Json | PatchType::Merge => patch::undecodable_document(&self.text, why),
        }
    }

    /// Checks unknown and duplicate fields, depending on `fieldValidation`. Returns the warnings.
    fn check_fields(&self, issues: &json::Issues) -> Result<Vec<String>, Status> {
        match self.patch.validation {
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Warn => Ok(body::warnings(issues)),
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(self.undecodable(&why)),
                None => Ok(Vec::new()),
            },
        }
    }
}

/// The Go name of the type of a JSON value; null has none.
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

/// The error of an apply to the Scale of a custom resource. Upstream applies, and then finds no
/// version of the custom resource for the result, unless nothing changes.
fn inapplicable(config: &Value) -> Status {
    let api_version = config["apiVersion"].as_str().unwrap_or_default();
    not_convertible(config, &format!("request to convert CR to an invalid group/version: {api_version}"))
}

/// Returns the error for an apply with a result that cannot be converted to its version.
fn not_convertible(config: &Value, why: &str) -> Status {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text(&config["metadata"]["namespace"]), text(&config["metadata"]["name"]));
    let kind = group_version_kind(&text(&config["apiVersion"]), &text(&config["kind"]));
    Status::new(500, "", format!("failed to convert new object ({namespace}/{name}; {kind}) to proper version: {why}"))
}

/// `apps/v1, Kind=Deployment`
fn group_version_kind(api_version: &str, kind: &str) -> String {
    let (group, version) = parse_api_version(api_version);
    format!("{group}/{version}, Kind={kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_named_fields() {
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
