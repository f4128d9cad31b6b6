//! Converts an encoded object (a file, a value dumped from etcd) to another encoding or version,
//! without a server.
//!
//! The first bytes of the input determine its encoding: the protobuf envelope, CBOR's
//! self-describing tag, a JSON object; everything else is YAML.

use machinery::catalog::{Catalog, KindDef, parse_api_version};
use machinery::reflect::{Owned, Slot};
use machinery::type_meta::TypeMeta;
use machinery::{cbor, envelope, json, protobuf, yaml};

/// An encoding of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectEncoding {
    /// JSON, indented when written.
    Json,
    /// YAML.
    Yaml,
    /// Protobuf in Kubernetes' envelope, as in stores.
    Protobuf,
    /// CBOR with its self-describing tag.
    Cbor,
}

/// The reason of a failed conversion.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither the input nor a hint names a kind.
    #[error("the input has no type metadata: `kind` and `apiVersion` are required")]
    NoKind,
    /// The catalog has no such kind.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind {
        /// `group/version` of the input.
        api_version: String,
        /// Name of the kind in the input.
        kind: String,
    },
    /// The kind has no such version.
    #[error("{kind} exists in no version {version:?}; it has: {known}")]
    UnknownVersion {
        /// Name of the kind.
        kind: String,
        /// The requested version.
        version: String,
        /// The versions of the kind, separated by commas.
        known: String,
    },
    /// The input is malformed, or the object has no form in YAML.
    #[error("cannot decode the {form} input: {why}")]
    Malformed {
        /// Name of the encoding.
        form: &'static str,
        /// The reason, for the user.
        why: String,
    },
}

/// A decoded object.
pub struct Object {
    /// The kind, in the version of `value`.
    pub kind: &'static KindDef,
    /// `group/version` of the input; kinds of options exist in every group.
    pub api_version: String,
    /// The decoded fields.
    pub value: Owned,
}

/// Detects the encoding of the input by its first bytes.
pub fn detect(input: &[u8]) -> ObjectEncoding {
    if envelope::is_envelope(input) {
        ObjectEncoding::Protobuf
    } else if cbor::is_self_described(input) {
        ObjectEncoding::Cbor
    } else if input.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        ObjectEncoding::Json
    } else {
        ObjectEncoding::Yaml
    }
}

/// The kind with a name: in the group version itself, or one of the kinds of every group version
/// (options, Status, WatchEvent).
pub fn find_kind(catalog: &Catalog, api_version: &str, kind: &str) -> Option<&'static KindDef> {
    let (group, version) = parse_api_version(api_version);
    catalog.kind(group, version, kind).or_else(|| catalog.kind("meta.k8s.io", "v1", kind))
}

/// Decodes an object in any encoding. `hint` gives version and kind of inputs without type
/// metadata.
///
/// # Errors
/// If the input is malformed, or if the catalog does not have its kind.
pub fn decode(catalog: &Catalog, input: &[u8], hint: Option<(&str, &str)>) -> Result<Object, Error> {
    match detect(input) {
        ObjectEncoding::Protobuf => decode_protobuf(catalog, input, hint),
        ObjectEncoding::Json => decode_json(catalog, input, hint, "JSON"),
        ObjectEncoding::Yaml => {
            let text = yaml::to_json(input, &mut json::Issues::ignore()).map_err(|e| malformed("YAML", e))?;
            decode_json(catalog, &text, hint, "YAML")
        }
        ObjectEncoding::Cbor => {
            let text = cbor::to_json(input).map_err(|e| malformed("CBOR", e))?;
            decode_json(catalog, &text, hint, "CBOR")
        }
    }
}

fn malformed(form: &'static str, why: impl std::fmt::Display) -> Error {
    Error::Malformed { form, why: why.to_string() }
}

fn decode_protobuf(catalog: &Catalog, input: &[u8], hint: Option<(&str, &str)>) -> Result<Object, Error> {
    let parts = envelope::split(input).map_err(|e| malformed("protobuf", e))?;
    let kind = known_kind(catalog, parts.api_version, parts.kind, hint)?;
    let mut value = Owned::new(kind.def);
    protobuf::decode(parts.raw, value.as_mut()).map_err(|e| malformed("protobuf", e))?;
    Ok(Object { kind, api_version: api_version_or_hint(parts.api_version, hint), value })
}

fn decode_json(
    catalog: &Catalog,
    text: &[u8],
    hint: Option<(&str, &str)>,
    form: &'static str,
) -> Result<Object, Error> {
    let mut type_meta = TypeMeta::default();
    json::decode(text, machinery::reflect::Mut::of(&mut type_meta), &mut json::Issues::ignore())
        .map_err(|e| malformed(form, e))?;
    let kind = known_kind(catalog, &type_meta.api_version, &type_meta.kind, hint)?;
    let mut value = Owned::new(kind.def);
    json::decode(text, value.as_mut(), &mut json::Issues::ignore()).map_err(|e| malformed(form, e))?;
    Ok(Object { kind, api_version: api_version_or_hint(&type_meta.api_version, hint), value })
}

fn api_version_or_hint(api_version: &str, hint: Option<(&str, &str)>) -> String {
    if api_version.is_empty() {
        hint.map_or(String::new(), |(version, _)| version.to_string())
    } else {
        api_version.to_string()
    }
}

fn known_kind(
    catalog: &Catalog,
    api_version: &str,
    kind: &str,
    hint: Option<(&str, &str)>,
) -> Result<&'static KindDef, Error> {
    let (api_version, kind) = match hint {
        Some(hint) if kind.is_empty() => hint,
        _ => (api_version, kind),
    };
    if kind.is_empty() {
        return Err(Error::NoKind);
    }
    find_kind(catalog, api_version, kind)
        .ok_or_else(|| Error::UnknownKind { api_version: api_version.into(), kind: kind.into() })
}

/// Converts an object to another version of its kind: `version` is `v1` or `group/v1`. An Event may
/// change its group.
///
/// # Errors
/// If the kind does not have the version.
pub fn to_version(catalog: &Catalog, object: Object, version: &str) -> Result<Object, Error> {
    let group = version.rsplit_once('/').map_or(object.kind.group, |(group, _)| group);
    let name = version.rsplit('/').next().unwrap_or(version);
    let target = catalog.kind(group, name, object.kind.kind).filter(|k| std::ptr::eq(k.hub, object.kind.hub));
    let Some(target) = target else {
        let known = catalog.kinds.iter().filter(|k| std::ptr::eq(k.hub, object.kind.hub) && k.kind == object.kind.kind);
        let known = known.map(KindDef::api_version).collect::<Vec<_>>().join(", ");
        return Err(Error::UnknownVersion { kind: object.kind.kind.into(), version: version.into(), known });
    };
    let value = target.from_hub(object.kind.to_hub(object.value));
    Ok(Object { kind: target, api_version: target.api_version(), value })
}

/// Encodes an object. Sets its type metadata.
///
/// # Errors
/// If YAML cannot express the object.
pub fn encode(object: &mut Object, form: ObjectEncoding) -> Result<Vec<u8>, Error> {
    let (api_version, kind) = if set_type_meta(&mut object.value, &object.api_version, object.kind.kind) {
        (object.api_version.as_str(), object.kind.kind)
    } else {
        ("", "")
    };
    let mut out = Vec::new();
    match form {
        ObjectEncoding::Json => json::encode_pretty(object.value.as_ref(), &mut out),
        ObjectEncoding::Yaml => yaml::encode(object.value.as_ref(), &mut out).map_err(|e| malformed("YAML", e))?,
        ObjectEncoding::Protobuf => envelope::encode_object(api_version, kind, object.value.as_ref(), &mut out),
        ObjectEncoding::Cbor => cbor::encode(object.value.as_ref(), &mut out),
    }
    Ok(out)
}

/// Sets `apiVersion` and `kind` of an object. Returns false for the few kinds without these fields
/// (`WatchEvent`).
pub fn set_type_meta(value: &mut Owned, api_version: &str, kind: &str) -> bool {
    if value.def().fields.first().is_some_and(|f| f.json.is_empty())
        && let Slot::Struct(meta) = value.as_mut().into_slot(0)
        && let Some(meta) = meta.downcast::<TypeMeta>()
    {
        meta.kind = kind.to_string();
        meta.api_version = api_version.to_string();
        return true;
    }
    false
}
