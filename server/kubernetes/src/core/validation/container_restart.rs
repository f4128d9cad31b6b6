//! When init containers are restarted, whatever their pod's policy says.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::options::PodOptions;
use generated::core::v1::Container;

/// `validateInitContainerRestartPolicy`. By hand: what is asked depends on two options, the policy and the rules at
/// once.
pub(super) fn validate_init_restart_policy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    container: &Container,
    options: &PodOptions,
) {
    let (policy, rules) = (container.restart_policy.as_deref(), &container.restart_policy_rules);
    match policy {
        None if !rules.is_empty() => {
            v.required(&path.child("restartPolicy"), "must specify restartPolicy when restart rules are used");
        }
        None => {}
        Some("Always") if !options.container_restart_rules => {}
        Some(other) if !options.container_restart_rules => {
            v.not_supported(&path.child("restartPolicy"), BadValue::json_string(other), &["Always"]);
        }
        Some("Always") if !options.restart_all_containers && rules.is_empty() => {}
        Some("Always") if !options.restart_all_containers => {
            let detail = "restartPolicyRules are not allowed for init containers with restart policy Always";
            v.forbidden(&path.child("restartPolicyRules"), detail);
        }
        Some(_) => v.checks_of("restarts", path, Ref::of(container), None),
    }
}
