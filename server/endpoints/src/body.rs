//! Request bodies: read, decoded, checked against what the path says.

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

use serving::User;
use serving::work::memory::{self, Held};

use crate::empty;
use crate::endpoint::Endpoint;
use crate::gvk::{self, ResolvedKind};
use crate::media::Encoding;
use crate::open::{OpenKind, Origin};
use crate::options::FieldValidation;

/// A decoded body.
pub struct Decoded {
    pub value: Owned,
    /// Lists that the body says are empty.
    pub empty: Vec<empty::Path>,
}

/// All bytes of a body of a request of `user`. Those of a large one are counted in `held`.
pub async fn read(body: serving::Body, user: &Arc<User>, held: &mut Held) -> Result<Bytes, Status> {
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
        serving::body::ReadError::TooLarge { limit } => Status::too_large(limit),
        serving::body::ReadError::NoMemory(exceeded) => exceeded.into(),
        broken => Status::bad_request(broken.to_string()),
    })
}

/// Decodes an object of the endpoint's kind, applies defaults and makes the internal form of it.
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
    let reader = Reader { catalog, expected: kind, open, validation, any_version: false, within_open, warnings };
    reader.object(encoding, bytes)
}

/// A body as a document; nothing of protobuf, which does not tell an empty list from none.
pub fn document(encoding: Encoding, bytes: &[u8]) -> Option<serde_json::Value> {
    let mut issues = json::Issues::only_limit();
    match encoding {
        Encoding::Json => json::parse(bytes, &mut issues).ok(),
        Encoding::Yaml => yaml::to_value(bytes, &mut issues).ok(),
        Encoding::Cbor => json::parse(&cbor::to_json(bytes).ok()?, &mut issues).ok(),
        Encoding::Protobuf => None,
    }
}

/// Defaults and hub form of a decoded value.
pub fn internal(kind: &'static KindDef, mut value: Owned) -> Owned {
    defaulting::apply_defaults(value.as_mut());
    let mut hub = kind.to_hub(value);
    defaulting::normalize(hub.as_mut());
    hub
}

/// Reads bodies that are to be of one kind.
pub struct Reader<'e> {
    pub catalog: &'static Catalog,
    pub expected: &'static KindDef,
    /// What is known of a kind of open form.
    pub open: Option<&'e dyn OpenKind>,
    pub validation: FieldValidation,
    /// Whether a body may be of another version of the kind.
    pub any_version: bool,
    /// Whether it is posted to a kind of open form: then no other kind is known at all.
    pub within_open: bool,
    /// Where the sender's warnings go, also those of a body that is refused.
    pub warnings: &'e Warnings,
}

/// A value as a body has it, with the kind that it says it is of.
struct Read {
    kind: &'static KindDef,
    value: Owned,
    empty: Vec<empty::Path>,
}

impl Reader<'_> {
    /// An object with defaults, in its internal form.
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
        let said = Names { api_version: parts.api_version, kind: parts.kind };
        let kind = match self.kind(&said, None, bytes)? {
            Found::Version(kind) => kind,
            Found::Internal => return Err(self.other_version(&said)),
        };
        let mut value = Owned::new(kind.def);
        protobuf::decode_body(parts.raw, value.as_mut())
            .map_err(|e| e.into_status(|malformed| self.refused(&said, &malformed)))?;
        self.check_kind(&said, kind)?;
        self.check_version(&said, kind)?;
        Ok(Read { kind, value, empty: Vec::new() })
    }

    /// `sent` is the body as it came, which messages show.
    fn json(&self, text: &[u8], sent: &[u8], mut issues: json::Issues) -> Result<Read, Status> {
        let meta = type_meta(text, |why| unrecognized(self.expected, &why, sent))?;
        let said = Names { api_version: &meta.api_version, kind: &meta.kind };
        let kind = match self.open {
            Some(_) => self.open_kind(&said, text, sent)?,
            None => match self.kind(&said, Some(text), sent)? {
                Found::Version(kind) => kind,
                Found::Internal => return Err(self.internal_form(&said, text, issues)),
            },
        };
        let mut value = Owned::new(kind.def);
        json::decode_version(text, kind.version, value.as_mut(), &mut issues)
            .map_err(|e| e.into_status(|malformed| self.refused(&said, &malformed)))?;
        if let Some(open) = self.open {
            open.complete(&mut value, Origin::RequestDocument, &mut issues)
                .map_err(|e| e.into_status(|why| self.refused(&said, &why)))?;
            issues.show_unknown_unescaped();
        }
        self.check_kind(&said, kind)?;
        self.judge(&said, &issues)?;
        self.check_version(&said, kind)?;
        Ok(Read { kind, value, empty: empty::lists_of_text(kind.def, text)? })
    }

    /// Refuses unknown and duplicate fields, or warns of them, as `fieldValidation` says.
    fn judge(&self, said: &Names<'_>, issues: &json::Issues) -> Result<(), Status> {
        match self.validation {
            FieldValidation::Strict => match json::strict_error(issues) {
                Some(why) => Err(self.refused(said, &why)),
                None => Ok(()),
            },
            FieldValidation::Warn => {
                warnings(issues).iter().for_each(|text| self.warnings.add(text));
                Ok(())
            }
            FieldValidation::Ignore => Ok(()),
        }
    }

    /// The answer to a document of the kind in upstream's internal form, which no path expects.
    fn internal_form(&self, said: &Names<'_>, text: &[u8], mut issues: json::Issues) -> Status {
        match json::parse(text, &mut json::Issues::only_limit()) {
            Ok(document) => gvk::unknown_internal_fields(self.expected, &document, &mut issues),
            Err(error) => return error.into_status(|malformed| self.refused(said, &malformed)),
        }
        self.judge(said, &issues).err().unwrap_or_else(|| self.other_version(said))
    }

    /// The kind to decode as: the one that the body says, where there is such. `text` is the body as JSON, `sent` as
    /// it came.
    fn kind(&self, said: &Names<'_>, text: Option<&[u8]>, sent: &[u8]) -> Result<Found, Status> {
        match gvk::resolve(self.catalog, self.expected, said.api_version, said.kind) {
            ResolvedKind::Same(kind) | ResolvedKind::Other(kind) => Ok(Found::Version(kind)),
            ResolvedKind::Internal => Ok(Found::Internal),
            ResolvedKind::NoVersion => Err(self.other_kind(said, &gvk::no_version(sent))),
            ResolvedKind::Machinery(def) => {
                let why = match text {
                    Some(text) => gvk::machinery_refused(self.expected, def, text)?,
                    None => gvk::no_conversion(self.expected, "v1", def.name),
                };
                Err(self.other_kind(said, &why))
            }
            ResolvedKind::Refused(why) => Err(self.other_kind(said, &why)),
        }
    }

    /// Kinds of open form have to say what they are; it is validation that looks at the kind that they say.
    fn open_kind(&self, said: &Names<'_>, text: &[u8], sent: &[u8]) -> Result<&'static KindDef, Status> {
        let expected = self.expected.api_version();
        match (said.kind, said.api_version) {
            ("", _) => Err(unrecognized(self.expected, &gvk::no_kind(text), sent)),
            (_, version) if version == expected => Ok(self.expected),
            _ => Err(self.other_version(said)),
        }
    }

    /// A decoded body must be of the kind of the path.
    fn check_kind(&self, said: &Names<'_>, kind: &'static KindDef) -> Result<(), Status> {
        match std::ptr::eq(kind, self.expected) || gvk::is_version_of(kind, self.expected) {
            true => Ok(()),
            false => Err(self.other_kind(said, &gvk::no_conversion(self.expected, kind.version, kind.kind))),
        }
    }

    /// A decoded body must be of the version of the path, unless any version of its kind is accepted.
    fn check_version(&self, said: &Names<'_>, kind: &'static KindDef) -> Result<(), Status> {
        match std::ptr::eq(kind, self.expected) || self.any_version {
            true => Ok(()),
            false => Err(self.other_version(said)),
        }
    }

    fn other_version(&self, said: &Names<'_>) -> Status {
        Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            said.api_version,
            self.expected.api_version()
        ))
    }

    fn other_kind(&self, said: &Names<'_>, why: &str) -> Status {
        match self.within_open {
            true => Status::bad_request(gvk::not_in_scheme(self.expected)),
            false => self.refused(said, &why),
        }
    }

    fn refused(&self, said: &Names<'_>, why: &dyn std::fmt::Display) -> Status {
        let expected = self.expected;
        let name = if said.kind.is_empty() { expected.kind } else { said.kind };
        let (_, version) = gvk::group_version(said.api_version, (expected.group, expected.version));
        let version = quote(version);
        Status::bad_request(format!("{name} in version {version} cannot be handled as a {}: {why}", expected.kind))
    }
}

/// What a body is decoded as.
enum Found {
    /// A version of a kind.
    Version(&'static KindDef),
    /// The kind of the path in upstream's internal form.
    Internal,
}

/// Kind and version in the words of a body; either may be left out.
struct Names<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// `apiVersion` and `kind` of a JSON body.
///
/// # Errors
/// 413 or 429 when a memory budget is exceeded; for text that is malformed, what `malformed` makes of the message.
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

/// What unknown and duplicate fields are warned of; those of YAML come as a list under a heading.
pub fn warnings(issues: &json::Issues) -> Vec<String> {
    let lines = |text: String| match text.strip_prefix("yaml: unmarshal errors:\n") {
        Some(list) => list.lines().map(|line| line.trim().to_string()).collect(),
        None => vec![text],
    };
    issues.iter().flat_map(|issue| lines(issue.to_string())).collect()
}

/// A body of which not even the kind can be read (`transformDecodeError`).
fn unrecognized(kind: &KindDef, why: &dyn std::fmt::Display, sent: &[u8]) -> Status {
    Status::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({})",
        kind.kind,
        excerpt(sent)
    ))
}

/// Upstream reads kind and version into a struct without a name.
pub fn anonymous(why: &str) -> String {
    const STRUCT: &str = r#"Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    match why.split_once("Go value of type ") {
        Some((before, _)) => format!("{before}{STRUCT}"),
        None => why.replace("Go struct field TypeMeta.", "Go struct field ."),
    }
}

/// Most bytes of a body that a message shows.
const EXCERPT: usize = 30;

/// The beginning of a body as messages show it: JSON as text, everything else in hexadecimal (`summarizeData`).
fn excerpt(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(EXCERPT)];
    let shown = match head.first() {
        None => return "<empty>".into(),
        Some(b'{') => json::to_text(head).into_owned(),
        Some(_) => head.iter().map(|b| format!("{b:02x}")).collect(),
    };
    if bytes.len() > EXCERPT { format!("{shown} ...") } else { shown }
}
