//! What upstream checks by hand in flow schemas and priority levels (`pkg/apis/flowcontrol/validation`).

mod flow_schema;
mod mandatory;
mod priority_level;

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

pub use flow_schema::*;
pub use priority_level::*;

/// Every type is there, and once.
fn validate_condition_types<'c>(v: &mut Validation<'_>, path: &Path<'_>, types: impl Iterator<Item = &'c String>) {
    let path = path.child("conditions");
    let mut seen = HashSet::new();
    for (index, kind) in types.enumerate() {
        let path = path.index(index);
        let path = path.child("type");
        if !seen.insert(kind) {
            v.duplicate(&path, BadValue::json_string(kind));
        }
        v.filled(&path, kind);
    }
}
