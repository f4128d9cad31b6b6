//! The taints of nodes that pods put up with. By hand: functions choose the option.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;

use generated::core::v1::Toleration;

/// `ValidateTolerations`; `compare`: numbers may be compared.
pub fn validate_tolerations(v: &mut Validation<'_>, path: &Path<'_>, tolerations: &[Toleration], compare: bool) {
    v.set_option(options::COMPARED_TOLERATIONS, compare);
    v.checks_of_items(path, tolerations);
}
