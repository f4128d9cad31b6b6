//! Request bodies: read, decoded, checked against what the path says.

use bytes::Bytes;
use machinery::catalog::KindDef;
use machinery::reflect::{Mut, Owned};
use machinery::status::Status;
use machinery::type_meta::TypeMeta;
use machinery::{defaulting, envelope, json, protobuf, yaml};
use serving::Body;

use crate::media::Encoding;
use crate::query::FieldValidation;

/// Most bytes of a body (upstream's `MaxRequestBodyBytes`).
pub const MAX_BODY: usize = 3 * 1024 * 1024;

/// A decoded body and what to warn its sender of.
pub struct Decoded {
    pub value: Owned,
    pub warnings: Vec<String>,
}

/// All bytes of a body.
pub async fn read(body: Body) -> Result<Bytes, Status> {
    body.read(MAX_BODY).await.map_err(|e| match e {
        serving::body::ReadError::TooLarge { limit } => Status::too_large(limit),
        broken => Status::bad_request(broken.to_string()),
    })
}

/// Decodes an object of `kind`, applies defaults and makes the internal form of it.
pub fn decode(
    kind: &'static KindDef,
    encoding: Encoding,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let mut decoded = decode_plain(kind, encoding, bytes, validation)?;
    decoded.value = internal(kind, decoded.value);
    Ok(decoded)
}

/// Defaults and hub form of a decoded value.
pub fn internal(kind: &'static KindDef, mut value: Owned) -> Owned {
    defaulting::apply_defaults(value.as_mut());
    let mut hub = kind.to_hub(value);
    defaulting::normalize(hub.as_mut());
    hub
}

/// Decodes an object of `kind` and nothing more.
pub fn decode_plain(
    kind: &'static KindDef,
    encoding: Encoding,
    bytes: &[u8],
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let refused = |why: &dyn std::fmt::Display| refused(kind, why);
    match encoding {
        Encoding::Protobuf => {
            let parts = envelope::split(bytes).map_err(|e| unrecognized(kind, &e, bytes))?;
            check_kind(kind, parts.api_version, parts.kind)?;
            let mut value = Owned::new(kind.def);
            protobuf::decode(parts.raw, value.as_mut()).map_err(|e| refused(&e))?;
            Ok(Decoded { value, warnings: Vec::new() })
        }
        Encoding::Json => decode_json(kind, bytes, bytes, json::Issues::collect(), validation),
        Encoding::Yaml => {
            let mut issues = json::Issues::collect();
            let text = yaml::to_json(bytes, &mut issues).map_err(|e| unrecognized(kind, &e, bytes))?;
            decode_json(kind, &text, bytes, issues, validation)
        }
    }
}

/// `sent` is the body as it came, which messages show.
fn decode_json(
    kind: &'static KindDef,
    text: &[u8],
    sent: &[u8],
    mut issues: json::Issues,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let meta = type_meta(text).map_err(|why| unrecognized(kind, &why, sent))?;
    check_kind(kind, &meta.api_version, &meta.kind)?;
    let mut value = Owned::new(kind.def);
    json::decode_version(text, kind.version, value.as_mut(), &mut issues).map_err(|e| refused(kind, &e))?;
    match validation {
        FieldValidation::Strict => match json::strict_error(&issues) {
            Some(why) => Err(refused(kind, &why)),
            None => Ok(Decoded { value, warnings: Vec::new() }),
        },
        FieldValidation::Warn => Ok(Decoded { value, warnings: warnings(&issues) }),
        FieldValidation::Ignore => Ok(Decoded { value, warnings: Vec::new() }),
    }
}

/// Kind and version that a JSON body says it is of; the error is text for a client.
pub fn type_meta(text: &[u8]) -> Result<TypeMeta, String> {
    let mut meta = TypeMeta::default();
    json::decode(text, Mut::of(&mut meta), &mut json::Issues::ignore())
        .map_err(|e| format!("couldn't get version/kind; json parse error: {}", anonymous(&e.to_string())))?;
    Ok(meta)
}

fn refused(kind: &KindDef, why: &dyn std::fmt::Display) -> Status {
    let name = kind.kind;
    Status::bad_request(format!("{name} in version {:?} cannot be handled as a {name}: {why}", kind.version))
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
fn anonymous(why: &str) -> String {
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
        Some(b'{') => String::from_utf8_lossy(head).into_owned(),
        Some(_) => head.iter().map(|b| format!("{b:02x}")).collect(),
    };
    if bytes.len() > EXCERPT { format!("{shown} ...") } else { shown }
}

/// A body may leave out kind and version, but not contradict the path.
fn check_kind(kind: &KindDef, api_version: &str, said: &str) -> Result<(), Status> {
    let expected = kind.api_version();
    let same = (said.is_empty() || said == kind.kind) && (api_version.is_empty() || api_version == expected);
    if same {
        return Ok(());
    }
    if api_version == expected {
        let internal = kind.group.split('.').next().filter(|g| !g.is_empty()).unwrap_or("core");
        let (version, name) = (kind.version, kind.kind);
        return Err(Status::bad_request(format!(
            "{said} in version {version:?} cannot be handled as a {name}: converting ({version}.{said}) to ({internal}.{name}): unknown conversion"
        )));
    }
    Err(Status::bad_request(format!(
        "the API version in the data ({api_version}) does not match the expected API version ({expected})"
    )))
}
