//! Which nodes will do. By hand: functions choose the option.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;

use generated::core::v1::NodeSelector;

/// `ValidateNodeSelector`; stored ones may hold values that no label has.
pub fn validate_node_selector(v: &mut Validation<'_>, path: &Path<'_>, selector: &NodeSelector, any_values: bool) {
    v.set_option(options::ANY_VALUES_OF_NODES, any_values);
    v.checks(path, Ref::of(selector), None);
}
