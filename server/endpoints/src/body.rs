//! Request bodies: reading, decoding, and checks against the path.

use std::sync::Arc;

use bytes::Bytes;
use machinery::budget::DecodeError;
use machinery::catalog::{Catalog, KindDef};
use machinery::hooks::Warnings;
use machinery::limits::MAX_BODY;
use machinery::reflect::{Mut, Owned};
use machinery::scalar::go_text::quote;
use machinery::status::Status;
use machinery::type_meta::TypeMeta;
use machinery::{cbor, defaulting, envelope, json, protobuf, yaml};

use request::User;
use serving::work::memory::{self, HeldMemory};

use crate::empty;
use crate::endpoint::Endpoint;
use crate::gvk::{self, ResolvedKind};
use crate::media::Encoding;
use crate::open::{OpenKind, Origin};
use crate::options::FieldValidation;

/// A decoded body.
pub struct Decoded {
    pub value: Owned,
    /// Paths of lists that are empty in the body.
    pub empty: Vec<empty::ListPath>,
}

/// Reads the body of a request of `user`. The size of a large body is counted in `held`.
pub async fn read(body: request::Body, user: &Arc<User>, held: &mut HeldMemory) -> Result<Bytes, Status> {
    let mut counted = 0;
    let count = |length: usize| match length as u64 {
        length if length > memory::SMALL => {
            held.add(user, length - counted)?;
            counted = length;
            Ok(())
        }
        _ => Ok(()),
    };
    body.read_counted(MAX_BODY, count).await.map_err(|e| match e {
        request::body::ReadError::TooLarge { limit } => Status::too_large(limit),
        request::body::ReadError::NoMemory(exceeded) => exceeded.into(),
        broken => Status::bad_request(broken.to_string()),
    })
}

/// Decodes an object of the endpoint's kind, applies defaults and converts it to hub form.
pub fn decode(
    endpoint: &Endpoint,
    encoding: Encoding,
    bytes: &[u8],
    validation: FieldValidation,
    warnings: &Warnings,
) -> Result<Decoded, Status> {
    let (catalog, kind) = (endpoint.catalog, endpoint.kind);
    let open = endpoint.open.as_deref();
    let within_open = endpoint.is_part_of_open();
    let reader = BodyDecoder { catalog, expected: kind, open, validation, any_version: false, within_open, warnings };
    reader.object(encoding, bytes)
}

/// Parses a body as a JSON document. Returns nothing for protobuf, which has no empty lists.
pub fn document(encoding: Encoding, bytes: &[u8]) -> Option<serde_json::Value> {
    let mut issues = json::Issues::only_limit();
    match encoding {
        Encoding::Json => json::parse(bytes, &mut issues).ok(),
        Encoding::Yaml => yaml::to_value(bytes, &mut issues).ok(),
        Encoding::Cbor => json::parse(&cbor::to_json(bytes).ok()?, &mut issues).ok(),
        Encoding::Protobuf => None,
    }
}

/// Applies defaults to a decoded value and converts it to hub form.
pub fn internal(kind: &'static KindDef, mut value: Owned) -> Owned {
    defaulting::apply_defaults(value.as_mut());
    let mut hub = kind.to_hub(value);
    defaulting::normalize(hub.as_mut());
    hub
}

/// Decodes bodies of one expected kind.
pub struct BodyDecoder<'e> {
    pub catalog: &'static Catalog,
    pub expected: &'static KindDef,
    /// The definition of a kind of open form.
    pub open: Option<&'e dyn OpenKind>,
    pub validation: FieldValidation,
    /// Whether the body may be in another version of the kind.
    pub any_version: bool,
    /// Whether the request is for a kind of open form. Its scheme has no other kinds.
    pub within_open: bool,
    /// Receives warnings for the client, also those of a rejected body.
    pub warnings: &'e Warnings,
}

/// A decoded value and the kind that the body declares.
struct Read {
    kind: &'static KindDef,
    value: Owned,
    empty: Vec<empty::ListPath>,
}

impl BodyDecoder<'_> {
    /// Decodes an object, applies defaults and converts it to hub form.
    pub fn object(&self, encoding: Encoding, bytes: &[u8]) -> Result<Decoded, Status> {
        let Read { kind, value, empty } = self.read(encoding, bytes)?;
        Ok(Decoded { value: internal(kind, value), empty })
    }

    fn read(&self, encoding: Encoding, bytes: &[u8]) -> Result<Read, Status> {
        let kind = self.expected;
        match encoding {
            Encoding::Protobuf => self.protobuf(bytes),
            Encoding::Json => self.json(bytes, bytes, json::Issues::collect()),
            Encoding::Cbor => {
                let text = cbor::to_json(bytes).map_err(|e| e.into_status(|e| unrecognized(kind, &e, bytes)))?;
                self.json(&text, bytes, json::Issues::collect())
            }
            Encoding::Yaml => {
                let mut issues = json::Issues::collect();
                let text =
                    yaml::to_json(bytes, &mut issues).map_err(|e| e.into_status(|e| unrecognized(kind, &e, bytes)))?;
                self.json(&text, bytes, issues)
            }
        }
    }

    fn protobuf(&self, bytes: &[u8]) -> Result<Read, Status> {
        let parts = envelope::split(bytes).map_err(|e| unrecognized(self.expected, &e, bytes))?;
        let declared = Names { api_version: parts.api_version, kind: parts.kind };
        let kind = match self.kind(&declared, None, bytes)? {
            Found::Version(kind) => kind,
            Found::Internal => return Err(self.other_version(&declared)),
        };
        let mut value = Owned::new(kind.def);
        protobuf::decode_body(parts.raw, value.as_mut())
            .map_err(|e| e.into_status(|malformed| self.refused(&declared, &malformed)))?;
        self.check_kind(&declared, kind)?;
        self.check_version(&declared, kind)?;
        Ok(Read { kind, value, empty: Vec::new() })
    }

    /// Decodes JSON. `sent` is the original body, for messages.
    fn json(&self, text: &[u8], sent: &[u8], mut issues: json::Issues) -> Result<Read, Status> {
        let meta = type_meta(text, |why| unrecognized(self.expected, &why, sent))?;
        let declared = Names { api_version: &meta.api_version, kind: &meta.kind };
        let kind = match self.open {
            Some(_) => self.open_kind(&declared, text, sent)?,
            None => match self.kind(&declared, Some(text), sent)? {
                Found::Version(kind) => kind,
                Found::Internal => return Err(self.internal_form(&declared, text, issues)),
            },
        };
        let mut value = Owned::new(kind.def);
        json::decode_version(text, kind.version, value.as_mut(), &mut issues)
            .map_err(|e| e.into_status(|malformed| self.refused(&declared, &malformed)))?;
        if let Some(open) = self.open {
            open.complete(&mut value, Origin::RequestDocument, &mut issues)
                .map_err(|e| e.into_status(|why| self.refused(&declared, &why)))?;
            issues.show_unknown_unescaped();
        }
        self.check_kind(&declared, kind)?;
        self.check_fields(&declared, &issues)?;
        self.check_version(&declared, kind)?;
        Ok(Read { kind, value, empty: empty::lists_of_text(kind.def, text)? })
    }

    /// Rejects unknown and duplicate fields, or warns of them, depending on `fieldValidation`.
    fn check_fields(&self, declared: &Names<'_>, issues: &json::Issues) -> Result<(), Status> {
        match self.validation {
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(self.refused(declared, &why)),
                None => Ok(()),
            },
            FieldValidation::Warn => {
                warnings(issues).iter().for_each(|text| self.warnings.add(text));
                Ok(())
            }
            FieldValidation::Ignore => Ok(()),
        }
    }

    /// Returns the error for a document of the kind in upstream's internal form. No path accepts
    /// that form.
    fn internal_form(&self, declared: &Names<'_>, text: &[u8], mut issues: json::Issues) -> Status {
        match json::parse(text, &mut json::Issues::only_limit()) {
            Ok(document) => gvk::unknown_internal_fields(self.expected, &document, &mut issues),
            Err(error) => return error.into_status(|malformed| self.refused(declared, &malformed)),
        }
        self.check_fields(declared, &issues).err().unwrap_or_else(|| self.other_version(declared))
    }

    /// Returns the kind to decode: the kind that the body declares, if it exists. `text` is the
    /// body as JSON, `sent` is the original body.
    fn kind(&self, declared: &Names<'_>, text: Option<&[u8]>, sent: &[u8]) -> Result<Found, Status> {
        match gvk::resolve(self.catalog, self.expected, declared.api_version, declared.kind) {
            ResolvedKind::Same(kind) | ResolvedKind::Other(kind) => Ok(Found::Version(kind)),
            ResolvedKind::Internal => Ok(Found::Internal),
            ResolvedKind::NoVersion => Err(self.other_kind(declared, &gvk::no_version(sent))),
            ResolvedKind::Machinery(def) => {
                let why = match text {
                    Some(text) => gvk::machinery_refused(self.expected, def, text)?,
                    None => gvk::no_conversion(self.expected, "v1", def.name),
                };
                Err(self.other_kind(declared, &why))
            }
            ResolvedKind::Refused(why) => Err(self.other_kind(declared, &why)),
        }
    }

    /// Returns the kind of a body of open form. Such bodies must declare a kind; validation checks
    /// it.
    fn open_kind(&self, declared: &Names<'_>, text: &[u8], sent: &[u8]) -> Result<&'static KindDef, Status> {
        let expected = self.expected.api_version();
        match (declared.kind, declared.api_version) {
            ("", _) => Err(unrecognized(self.expected, &gvk::no_kind(text), sent)),
            (_, version) if version == expected => Ok(self.expected),
            _ => Err(self.other_version(declared)),
        }
    }

    /// Rejects a decoded body of a kind other than that of the path.
    fn check_kind(&self, declared: &Names<'_>, kind: &'static KindDef) -> Result<(), Status> {
        match std::ptr::eq(kind, self.expected) || gvk::is_version_of(kind, self.expected) {
            true => Ok(()),
            false => Err(self.other_kind(declared, &gvk::no_conversion(self.expected, kind.version, kind.kind))),
        }
    }

    /// Rejects a decoded body in a version other than that of the path, unless any version is
    /// accepted.
    fn check_version(&self, declared: &Names<'_>, kind: &'static KindDef) -> Result<(), Status> {
        match std::ptr::eq(kind, self.expected) || self.any_version {
            true => Ok(()),
            false => Err(self.other_version(declared)),
        }
    }

    fn other_version(&self, declared: &Names<'_>) -> Status {
        Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            declared.api_version,
            self.expected.api_version()
        ))
    }

    fn other_kind(&self, declared: &Names<'_>, why: &str) -> Status {
        match self.within_open {
            true => Status::bad_request(gvk::not_in_scheme(self.expected)),
            false => self.refused(declared, &why),
        }
    }

    fn refused(&self, declared: &Names<'_>, why: &dyn std::fmt::Display) -> Status {
        let expected = self.expected;
        let name = if declared.kind.is_empty() { expected.kind } else { declared.kind };
        let (_, version) = gvk::group_version(declared.api_version, (expected.group, expected.version));
        let version = quote(version);
        Status::bad_request(format!("{name} in version {version} cannot be handled as a {}: {why}", expected.kind))
    }
}

/// The kind that a body is decoded as.
enum Found {
    /// A version of a kind.
    Version(&'static KindDef),
    /// The kind of the path in upstream's internal form.
    Internal,
}

/// `apiVersion` and `kind` of a body; either may be empty.
struct Names<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// Parses `apiVersion` and `kind` of a JSON body.
///
/// # Errors
/// Returns 413 or 429 when a memory budget is exceeded. For malformed text, returns the result of
/// `malformed` for the message.
pub fn type_meta(text: &[u8], malformed: impl Fn(String) -> Status) -> Result<TypeMeta, Status> {
    let mut meta = TypeMeta::default();
    let message =
        |e: json::Error| format!("couldn't get version/kind; json parse error: {}", anonymous(&e.to_string()));
    json::decode(text, Mut::of(&mut meta), &mut json::Issues::ignore())
        .map_err(|e| e.into_status(|e| malformed(message(e))))?;
    match gvk::malformed_version(&meta.api_version) {
        Some(why) => Err(malformed(why)),
        None => Ok(meta),
    }
}

/// Returns warning texts for unknown and duplicate fields. YAML issues are split into one warning
/// per line.
pub fn warnings(issues: &json::Issues) -> Vec<String> {
    let lines = |text: String| match text.strip_prefix("yaml: unmarshal errors:\n") {
        Some(list) => list.lines().map(|line| line.trim().to_string()).collect(),
        None => vec![text],
    };
    issues.iter().flat_map(|issue| lines(issue.to_string())).collect()
}

/// Returns the error for a body with an unreadable kind (`transformDecodeError`).
fn unrecognized(kind: &KindDef, why: &dyn std::fmt::Display, sent: &[u8]) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({})",
        kind.kind,
        excerpt(sent)
    ))
}

/// Replaces the type in a decoding error. Upstream decodes kind and version into an anonymous
/// struct.
pub fn anonymous(why: &str) -> String {
    const STRUCT: &str = r#"Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    match why.split_once("Go value of type ") {
        Some((before, _)) => format!("{before}{STRUCT}"),
        None => why.replace("Go struct field TypeMeta.", "Go struct field ."),
    }
}

/// Maximum number of body bytes in a message.
const EXCERPT: usize = 30;

/// The start of a body for messages: JSON as text, everything else in hexadecimal
/// (`summarizeData`).
fn excerpt(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(EXCERPT)];
    let shown = match head.first() {
        None => return "<empty>".into(),
        Some(b'{') => json::to_text(head).into_owned(),
        Some(_) => head.iter().map(|b| format!("{b:02x}")).collect(),
    };
    if bytes.len() > EXCERPT { format!("{shown} ...") } else { shown }
}
