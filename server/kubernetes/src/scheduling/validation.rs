//! Hand-written validation of priority classes that definitions cannot declare
//! (`pkg/apis/scheduling/validation`).

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use apimachinery::meta::v1::ObjectMeta;
use generated::scheduling::v1::PriorityClass;

use super::SYSTEM_PRIORITY_CLASSES;

/// Prefix of names that are reserved for Kubernetes.
const SYSTEM: &str = "system-";
/// Maximum value of user-defined classes.
const MAX_VALUE: i32 = 1_000_000_000;

/// Validates name and value of a new class. Hand-written, because the rules depend on the name's
/// prefix, and messages show the names.
pub fn validate_priority(v: &mut Validation<'_>, path: &Path<'_>, new: &PriorityClass, _: Option<&PriorityClass>) {
    let name = new.metadata.name.as_str();
    let is_system = SYSTEM_PRIORITY_CLASSES.iter().any(|(class, ..)| *class == name);
    if name.starts_with(SYSTEM) && !is_system {
        let detail = format!(
            "priority class names with '{SYSTEM}' prefix are reserved for system use only. error: {name} is not a \
             known system priority class"
        );
        v.forbidden(&path.child(json_name!(PriorityClass.metadata)).child(json_name!(ObjectMeta.name)), detail);
    } else if !name.starts_with(SYSTEM) && new.value > MAX_VALUE {
        let detail = format!("maximum allowed value of a user defined priority is {MAX_VALUE}");
        v.forbidden(&path.child(json_name!(PriorityClass.value)), detail);
    }
}
