//! Configuration files: documents of declared kinds in YAML or JSON.

use machinery::catalog::parse_api_version;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Struct};
use machinery::type_meta::TypeMeta;
use machinery::yaml;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::DocumentError;

/// How unknown and duplicate fields are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Refused,
    /// Ignored, with a warning in the log.
    Warned,
}

/// Decodes a document of this kind in one of these versions of its group, which differ in name
/// only.
///
/// # Errors
/// The document is invalid; the text is upstream's.
pub fn parse<T: Struct>(
    text: &[u8],
    group: &str,
    versions: &[&str],
    kind: &str,
    unknown: Unknown,
) -> Result<T, DocumentError> {
    let mut issues = Issues::collect();
    let text = as_json(text, &mut issues)?;
    check_kind(&text, group, versions, kind)?;
    let mut document = T::default();
    json::decode(&text, Mut::of(&mut document), &mut issues)?;
    match (json::strict_error(&issues), unknown) {
        (None, _) => Ok(document),
        (Some(why), Unknown::Refused) => Err(DocumentError::Strict(why)),
        (Some(why), Unknown::Warned) => {
            tracing::warn!(why, "ignoring unknown or duplicate fields of a {kind} configuration");
            Ok(document)
        }
    }
}

/// Decodes a small document of this kind in one of these versions of its group. Unknown fields are
/// rejected.
///
/// # Errors
/// The document is invalid.
pub fn parse_small<T: DeserializeOwned>(
    text: &[u8],
    group: &str,
    versions: &[&str],
    kind: &str,
) -> Result<T, DocumentError> {
    let mut issues = Issues::collect();
    let text = as_json(text, &mut issues)?;
    check_kind(&text, group, versions, kind)?;
    if let Some(why) = json::strict_error(&issues) {
        return Err(DocumentError::Strict(why));
    }
    let mut document: Map<String, Value> = serde_json::from_slice(&text).map_err(DocumentError::Json)?;
    document.retain(|name, _| name != "apiVersion" && name != "kind");
    serde_json::from_value(document.into()).map_err(DocumentError::Fields)
}

fn as_json(text: &[u8], issues: &mut Issues) -> Result<Vec<u8>, DocumentError> {
    match text.trim_ascii_start().first() {
        Some(b'{') => Ok(text.to_vec()),
        _ => Ok(yaml::to_json(text, issues)?),
    }
}

fn check_kind(text: &[u8], group: &str, versions: &[&str], kind: &str) -> Result<(), DocumentError> {
    let mut type_meta = TypeMeta::default();
    json::decode(text, Mut::of(&mut type_meta), &mut Issues::ignore()).map_err(DocumentError::TypeMeta)?;
    let (actual_group, actual_version) = parse_api_version(&type_meta.api_version);
    match (type_meta.kind.as_str(), type_meta.api_version.as_str()) {
        ("", _) => Err(DocumentError::NoKind),
        (_, "") => Err(DocumentError::NoVersion),
        (actual, _) if actual == kind && actual_group == group && versions.contains(&actual_version) => Ok(()),
        (kind, api_version) => {
            Err(DocumentError::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apimachinery::audit::v1::Policy;

    fn read(text: &str, unknown: Unknown) -> Result<usize, DocumentError> {
        let policy: Policy = parse(text.as_bytes(), "audit.k8s.io", &["v1"], "Policy", unknown)?;
        Ok(policy.rules.len())
    }

    #[test]
    fn rejects_unexpected_kind_version_and_fields() {
        let good = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n";
        assert_eq!(read(good, Unknown::Refused).unwrap(), 1);
        assert_eq!(read(r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}"#, Unknown::Refused).unwrap(), 0);
        let odd = format!("{good}rules: []\nextra: 1\n");
        assert_eq!(
            read(&odd, Unknown::Refused).unwrap_err().to_string(),
            "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"rules\" already set in map, unknown field \"extra\""
        );
        assert_eq!(read(&odd, Unknown::Warned).unwrap(), 0);
        for (text, expect) in [
            ("apiVersion: audit.k8s.io/v1", "Object 'Kind' is missing"),
            ("kind: Policy", "Object 'apiVersion' is missing"),
            (
                "apiVersion: audit.k8s.io/v2\nkind: Policy",
                "no kind \"Policy\" is registered for version \"audit.k8s.io/v2\"",
            ),
        ] {
            assert_eq!(read(text, Unknown::Refused).unwrap_err().to_string(), expect);
        }
    }
}
