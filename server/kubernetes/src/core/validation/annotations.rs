//! Validation of annotations with a meaning for pods; most of them predate the corresponding fields.
//! Hand-written, because they contain documents, and are compared with fields.

use std::collections::{BTreeMap, BTreeSet};

use machinery::features;
use machinery::field_path::Path;
use machinery::format::field;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::scalar::go_text::quote;

use super::visit::for_each_container;
use crate::core::annotation_json::parse_list;
use crate::core::internal::internal_list_error;
use crate::core::meta::annotation_of_container;
use generated::core::v1::{
    AppArmorProfile, Pod, PodSpec, PodTemplateSpec, SeccompProfile, app_armor_profile_type, os_name,
};
use generated::meta::v1::ObjectMeta;

type Annotations = BTreeMap<String, String>;

/// Annotation of pods that a kubelet created itself (static pods).
pub const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// Seccomp profile of a pod.
pub const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// Prefix of annotations for the seccomp profile of a container.
pub const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// Prefix of annotations for the AppArmor profile of a container.
pub const APP_ARMOR_OF_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";
/// Prefix of values that refer to a file.
pub const LOCALHOST: &str = "localhost/";
/// Value for the profile of the container runtime.
pub const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
/// Value for no restriction.
pub const UNCONFINED: &str = "unconfined";

/// Disables validation of the deletion cost if the feature gate is off, or if the stored value is
/// invalid.
pub fn choose_by_meta(v: &mut Validation<'_>, _: &Path<'_>, _: &ObjectMeta, old: Option<&ObjectMeta>) {
    let was_invalid = old.is_some_and(|old| deletion_cost(&old.annotations).is_err());
    v.set_option(options::ANY_DELETION_COST, was_invalid || !v.context.enabled(features::PodDeletionCost));
    v.set_option(options::PRIVILEGED_ALLOWED, v.context.allow_privileged);
}

/// Validates the annotations of a pod.
pub fn validate_annotations_of_pod(v: &mut Validation<'_>, path: &Path<'_>, pod: &Pod, _: Option<&Pod>) {
    let path = path.child(json_name!(Pod.metadata));
    validate_pod_annotations(v, &path.child(json_name!(ObjectMeta.annotations)), &pod.metadata.annotations, &pod.spec);
}

/// Validates the annotations of a template.
pub fn validate_annotations_of_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    _: Option<&PodTemplateSpec>,
) {
    validate_pod_annotations(
        v,
        &path.child(json_name!(ObjectMeta.annotations)),
        &template.metadata.annotations,
        &template.spec,
    );
}

/// Compares the annotations of a new pod with its fields.
pub fn validate_pod_against_annotations(v: &mut Validation<'_>, path: &Path<'_>, pod: &Pod, _: Option<&Pod>) {
    validate_against_fields(v, &path.child(json_name!(Pod.spec)), &pod.metadata.annotations, &pod.spec);
}

/// Compares the annotations of a template with its fields.
pub fn validate_template_against_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    _: Option<&PodTemplateSpec>,
) {
    validate_against_fields(
        v,
        &path.child(json_name!(PodTemplateSpec.spec)),
        &template.metadata.annotations,
        &template.spec,
    );
}

/// `ValidatePodSpecificAnnotations`
pub(super) fn validate_pod_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    annotations: &Annotations,
    spec: &PodSpec,
) {
    if let Some(value) = annotations.get(MIRROR).filter(|_| spec.node_name.is_empty()) {
        v.invalid(&path.key(MIRROR), value, "must set spec.nodeName if mirror pod annotation is set");
    }
    if let Some(text) = annotations.get(TOLERATIONS).filter(|text| !text.is_empty()) {
        match parse_list::<PodSpec>("tolerations", text) {
            Ok(spec) => v.checks_of_items(&path.child(TOLERATIONS), &spec.tolerations),
            Err(error) => v.invalid(path, TOLERATIONS, internal_list_error(&error, "tolerations")),
        }
    }
    if let Err(cost) = deletion_cost(annotations)
        && !v.has_option(options::ANY_DELETION_COST)
    {
        v.invalid(&path.key(DELETION_COST), cost, "must be a 32bit integer");
    }
    validate_seccomp(v, path, annotations);
    validate_app_armor(v, path, annotations, spec);
}

/// The deletion cost, or the invalid text (`GetDeletionCostFromPodAnnotations`).
pub(super) fn deletion_cost(annotations: &Annotations) -> Result<i32, &str> {
    let Some(text) = annotations.get(DELETION_COST) else { return Ok(0) };
    let canonical = text == "0" || text.starts_with(|c: char| matches!(c, '-' | '1'..='9'));
    text.parse().ok().filter(|_| canonical).ok_or(text)
}

/// `ValidateSeccompPodAnnotations`
fn validate_seccomp(v: &mut Validation<'_>, path: &Path<'_>, annotations: &Annotations) {
    let of_containers = annotations.iter().filter(|(key, _)| key.starts_with(SECCOMP_OF_CONTAINER));
    for (key, profile) in annotations.get_key_value(SECCOMP_OF_POD).into_iter().chain(of_containers) {
        let path = path.child(key);
        if let Some(file) = profile.strip_prefix(LOCALHOST) {
            v.errors.extend(field::relative_path(&path, file));
        } else if ![RUNTIME_DEFAULT, DOCKER_DEFAULT, UNCONFINED].contains(&profile.as_str()) {
            v.invalid(&path, profile, "must be a valid seccomp profile");
        }
    }
}

/// `ValidateAppArmorPodAnnotations`
fn validate_app_armor(v: &mut Validation<'_>, path: &Path<'_>, annotations: &Annotations, spec: &PodSpec) {
    let mut names: Option<BTreeSet<&str>> = None;
    for (key, profile) in annotations {
        let Some(name) = key.strip_prefix(APP_ARMOR_OF_CONTAINER) else { continue };
        let path = path.key(key);
        let names = names.get_or_insert_with(|| {
            let mut names = BTreeSet::new();
            for_each_container(spec, &Path::NONE, |_, container| _ = names.insert(container.name));
            names
        });
        if !names.contains(name) {
            v.invalid(&path, name, "container not found");
        }
        let known = ["", RUNTIME_DEFAULT, UNCONFINED].contains(&profile.as_str()) || profile.starts_with(LOCALHOST);
        if !known {
            v.invalid(&path, profile, format!("invalid AppArmor profile name: {}", quote(profile)));
        }
    }
}

/// Reports annotations that contradict fields (`validateSeccompAnnotationsAndFields`,
/// `validateAppArmorAnnotationsAndFieldsMatchOnCreate`).
fn validate_against_fields(v: &mut Validation<'_>, path: &Path<'_>, annotations: &Annotations, spec: &PodSpec) {
    if annotations.is_empty() {
        return;
    }
    let of_pod = spec.security_context.as_deref();
    let annotation = |prefix, name| annotation_of_container(annotations, prefix, name).map(|(_, value)| value);
    if let (Some(value), Some(profile)) =
        (annotations.get(SECCOMP_OF_POD), of_pod.and_then(|context| context.seccomp_profile.as_deref()))
    {
        Profile::from(profile).validate(v, path, value);
    }
    for_each_container(spec, path, |path, container| {
        let profile = container.security_context.and_then(|context| context.seccomp_profile.as_deref());
        if let (Some(value), Some(profile)) = (annotation(SECCOMP_OF_CONTAINER, container.name), profile) {
            Profile::from(profile).validate(v, path, value);
        }
    });
    if spec.os.as_deref().is_some_and(|os| os.name == os_name::WINDOWS) {
        return;
    }
    for_each_container(spec, path, |path, container| {
        let own = container.security_context.and_then(|context| context.app_armor_profile.as_deref());
        let profile = own.or_else(|| of_pod.and_then(|context| context.app_armor_profile.as_deref()));
        if let (Some(value), Some(profile)) = (annotation(APP_ARMOR_OF_CONTAINER, container.name), profile) {
            Profile::from(profile).validate(v, path, value);
        }
    });
}

/// A profile in the form of the field.
struct Profile<'p> {
    /// Name of the feature in errors.
    feature: &'static str,
    field: &'static str,
    kind: &'p str,
    file: Option<&'p str>,
    /// Annotation values for the runtime's default profile.
    defaults: &'static [&'static str],
}

impl<'p> From<&'p SeccompProfile> for Profile<'p> {
    fn from(profile: &'p SeccompProfile) -> Self {
        let (kind, file) = (profile.r#type.as_str(), profile.localhost_profile.as_deref());
        let defaults = &[RUNTIME_DEFAULT, DOCKER_DEFAULT];
        Profile { feature: "seccomp", field: "seccompProfile", kind, file, defaults }
    }
}

impl<'p> From<&'p AppArmorProfile> for Profile<'p> {
    fn from(profile: &'p AppArmorProfile) -> Self {
        let (kind, file) = (profile.r#type.as_str(), profile.localhost_profile.as_deref());
        Profile { feature: "apparmor", field: "appArmorProfile", kind, file, defaults: &[RUNTIME_DEFAULT] }
    }
}

impl Profile<'_> {
    /// Compares the profile with the value of an annotation; `path` is that of the pod's spec or of a
    /// container.
    fn validate(&self, v: &mut Validation<'_>, path: &Path<'_>, value: &str) {
        let path = path.child(json_name!(PodSpec.security_context));
        let (path, feature) = (path.child(self.field), self.feature);
        let same_type = match self.kind {
            app_armor_profile_type::UNCONFINED => value == UNCONFINED,
            app_armor_profile_type::RUNTIME_DEFAULT => self.defaults.contains(&value),
            app_armor_profile_type::LOCALHOST => value.starts_with(LOCALHOST),
            _ => true,
        };
        if !same_type {
            v.forbidden(
                &path.child(json_name!(AppArmorProfile.r#type)),
                format!("{feature} type in annotation and field must match"),
            );
        } else if self.kind == app_armor_profile_type::LOCALHOST && value.strip_prefix(LOCALHOST) != self.file {
            let detail = format!("{feature} profile in annotation and field must match");
            v.forbidden(&path.child(json_name!(AppArmorProfile.localhost_profile)), detail);
        }
    }
}

/// `ValidatePodSpecificAnnotationUpdates`
pub fn validate_annotations_change(v: &mut Validation<'_>, path: &Path<'_>, pod: &Pod, old: Option<&Pod>) {
    let Some(old) = old else { return };
    let path = path.child(json_name!(Pod.metadata));
    let (path, new, old) =
        (path.child(json_name!(ObjectMeta.annotations)), &pod.metadata.annotations, &old.metadata.annotations);
    let changed =
        old.iter().filter(|(key, value)| new.get(*key) != Some(value)).map(|(key, _)| (key, "remove or update"));
    let added = new.keys().filter(|key| !old.contains_key(*key)).map(|key| (key, "add"));
    for (key, change) in changed.chain(added) {
        if key.starts_with(APP_ARMOR_OF_CONTAINER) {
            v.forbidden(&path.key(key), format!("may not {change} AppArmor annotations"));
        }
        if key == MIRROR {
            v.forbidden(&path.key(key), format!("may not {change} mirror pod annotation"));
        }
    }
    validate_pod_annotations(v, &path, new, &pod.spec);
}
