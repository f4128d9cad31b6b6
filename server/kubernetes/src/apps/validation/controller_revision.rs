//! Controller revisions: what they keep is an object, and stays.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::RawExtension;

use generated::apps::v1::ControllerRevision;

/// By hand: the text of a document is looked at, and the message shows it.
pub fn validate_revision_data(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ControllerRevision,
    old: Option<&ControllerRevision>,
) {
    let path = path.child("data");
    match old {
        Some(old) if new.data != old.data => v.invalid(&path, shown(&new.data), "field is immutable"),
        None if !new.data.is_empty() && !text(&new.data).trim_start().starts_with('{') => {
            v.required(&path, "data must be a valid JSON object");
        }
        _ => {}
    }
}

/// As Go's encoder shows it: without spaces, with the characters of HTML escaped.
fn shown(data: &RawExtension) -> BadValue {
    let mut out = Vec::new();
    data.append_json(&mut out);
    if data.is_empty() { BadValue::None } else { BadValue::Json(String::from_utf8_lossy(&out).into_owned()) }
}

fn text(data: &RawExtension) -> String {
    String::from_utf8_lossy(data.as_bytes()).into_owned()
}
