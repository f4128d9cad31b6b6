//! What containers and pods may do on their node, as far as no declaration says it.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use machinery::options;
use machinery::reflect::Ref;

use super::sysctl::{self, HostNamespaces};
use crate::core::internal::internal_value;
use generated::core::v1::{AppArmorProfile, PodSpec, SecurityContext};

/// By hand: upstream reports each time that the capability is named.
pub fn validate_added_capabilities(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    context: &SecurityContext,
    _: Option<&SecurityContext>,
) {
    let added = context.capabilities.as_deref().map_or(&[][..], |capabilities| &capabilities.add);
    for _ in added.iter().filter(|capability| *capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        v.invalid(path, internal_value(context), detail);
    }
}

/// Whether a profile is as it should be.
pub(crate) fn is_app_armor_profile(context: &Context, profile: &AppArmorProfile) -> bool {
    let mut errors = Vec::new();
    Validation::new(context, &mut errors).checks(&Path::NONE, Ref::of(profile), None);
    errors.is_empty()
}

/// `validateSysctls`. By hand: which parameters are those of the node is a table.
pub fn validate_sysctls_of_pod(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let (host, path) = (HostNamespaces::of(spec), path.child("securityContext"));
    let path = path.child("sysctls");
    let allow_host = v.has_option(options::SYSCTLS_OF_HOST);
    let mut names = BTreeSet::new();
    for (index, sysctl) in spec.security_context.iter().flat_map(|context| &context.sysctls).enumerate() {
        let (path, name) = (path.index(index), sysctl.name.as_str());
        let path = path.child("name");
        if name.is_empty() {
            v.required(&path, "");
        } else if !sysctl::is_name(name) {
            v.invalid(&path, name, sysctl::NAME_RULE);
        } else if names.contains(name) {
            v.duplicate(&path, name);
        }
        if let Some(why) = host.refusal(name).filter(|_| !allow_host) {
            v.invalid(&path, name, why);
        }
        names.insert(name);
    }
}
