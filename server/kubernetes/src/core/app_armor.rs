//! AppArmor profiles in annotations, which predate the fields (KEP-24).

use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::meta::annotation_of_container;
use crate::core::validation::annotations::{APP_ARMOR_OF_CONTAINER, LOCALHOST, RUNTIME_DEFAULT, UNCONFINED};
use crate::core::validation::security_context::is_app_armor_profile;
use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{AppArmorProfile, Pod, SecurityContext, app_armor_profile_type, os_name};

/// The profile of an annotation's value, in the form of the field.
pub(super) fn profile_of_annotation(annotation: &str) -> Option<AppArmorProfile> {
    let (kind, file) = match annotation {
        UNCONFINED => (app_armor_profile_type::UNCONFINED, None),
        RUNTIME_DEFAULT => (app_armor_profile_type::RUNTIME_DEFAULT, None),
        local => (
            app_armor_profile_type::LOCALHOST,
            Some(local.strip_prefix(LOCALHOST).filter(|file| !file.is_empty())?.to_owned()),
        ),
    };
    Some(AppArmorProfile { r#type: kind.into(), localhost_profile: file })
}

/// Sets the fields of containers that have only annotations, and warns about those
/// (`applyAppArmorVersionSkew`).
pub(super) fn fields_from_annotations(context: &WriteContext, pod: &mut Pod) {
    let (meta, spec) = (&pod.metadata, &mut pod.spec);
    if spec.os.as_deref().is_some_and(|os| os.name == os_name::WINDOWS) {
        return;
    }
    let of_pod = spec.security_context.as_deref().and_then(|c| c.app_armor_profile.as_deref());
    let apply = |name: &str, own: &mut Option<Box<SecurityContext>>| {
        let found = annotation_of_container(&meta.annotations, APP_ARMOR_OF_CONTAINER, name);
        let Some((key, annotation)) = found else { return };
        if own.as_deref().is_some_and(|c| c.app_armor_profile.is_some()) {
            return;
        }
        let profile = profile_of_annotation(annotation).filter(|profile| is_app_armor_profile(context, profile));
        if profile.is_some() && profile.as_ref() == of_pod {
            return;
        }
        if profile.is_some() {
            own.get_or_insert_default().app_armor_profile = profile.map(Box::new);
        }
        let path = Path::new(json_name!(Pod.metadata));
        let path = path.child(json_name!(ObjectMeta.annotations));
        let path = path.key(key);
        context.warnings.add(&format!(r#"{path}: deprecated since v1.30; use the "appArmorProfile" field instead"#));
    };
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        apply(&container.name, &mut container.security_context);
    }
    for container in &mut spec.ephemeral_containers {
        let common = &mut container.ephemeral_container_common;
        apply(&common.name, &mut common.security_context);
    }
}
