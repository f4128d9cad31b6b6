//! Controller revisions: what they keep is an object, and stays.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::RawExtension;

use crate::apps::v1::ControllerRevision;

/// `ValidateControllerRevisionCreate`, `ValidateControllerRevisionUpdate`
pub fn validate_controller_revision(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ControllerRevision,
    old: Option<&ControllerRevision>,
) {
    v.not_negative(&Path::new("revision"), new.revision);
    let path = Path::new("data");
    match old {
        Some(old) if new.data != old.data => {
            let shown = if new.data.is_empty() { BadValue::None } else { BadValue::Json(text(&new.data)) };
            v.invalid(&path, shown, "field is immutable");
        }
        Some(_) => {}
        None if new.data.is_empty() => v.required(&path, "data is mandatory"),
        None if !text(&new.data).trim_start().starts_with('{') => {
            v.required(&path, "data must be a valid JSON object");
        }
        None => {}
    }
}

fn text(data: &RawExtension) -> String {
    String::from_utf8_lossy(data.as_bytes()).into_owned()
}
