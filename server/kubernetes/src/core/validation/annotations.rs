//! Annotations that mean something to pods, most of them older than the fields that say the same.
//! By hand: they hold documents, and are compared with fields.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::format::field;
use machinery::hooks::Validation;
use machinery::json::{self, Issues};
use machinery::reflect::Mut;
use machinery::scalar::go_text::quote;

use super::options::PodOptions;
use super::tolerations::validate_tolerations;
use super::visit::{all_containers, for_each_container};
use generated::core::v1::{AppArmorProfile, PodSpec, SeccompProfile, Toleration};

type Annotations = BTreeMap<String, String>;

/// On pods that a kubelet has made by itself.
pub const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// The seccomp profile of a pod.
pub const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
/// Begins what names the seccomp profile of a container.
pub const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
/// Begins what names the AppArmor profile of a container.
pub const APP_ARMOR_OF_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";
/// Begins the value of an annotation that names a file.
pub const LOCALHOST: &str = "localhost/";
/// The value for what the container runtime has.
pub const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
/// The value for no restriction.
pub const UNCONFINED: &str = "unconfined";

/// `ValidatePodSpecificAnnotations`
pub fn validate_pod_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    annotations: &Annotations,
    spec: &PodSpec,
    options: &PodOptions,
) {
    if let Some(value) = annotations.get(MIRROR).filter(|_| spec.node_name.is_empty()) {
        v.invalid(&path.key(MIRROR), value, "must set spec.nodeName if mirror pod annotation is set");
    }
    if let Some(text) = annotations.get(TOLERATIONS).filter(|text| !text.is_empty()) {
        match read_tolerations(text) {
            Ok(tolerations) => {
                validate_tolerations(v, &path.child(TOLERATIONS), &tolerations, options.compare_tolerations);
            }
            Err(why) => v.invalid(path, TOLERATIONS, why),
        }
    }
    if let Err(cost) = deletion_cost(annotations)
        && !options.allow_invalid_deletion_cost
    {
        v.invalid(&path.key(DELETION_COST), cost, "must be a 32bit integer");
    }
    validate_seccomp(v, path, annotations);
    validate_app_armor(v, path, annotations, spec);
}

fn read_tolerations(text: &str) -> Result<Vec<Toleration>, String> {
    if let Some(why) = json::syntax_error(text.as_bytes()) {
        return Err(why);
    }
    let mut spec = PodSpec::default();
    let document = format!("{{\"tolerations\":{text}}}");
    json::decode(document.as_bytes(), Mut::of(&mut spec), &mut Issues::only_limit()).map_err(|why| why.to_string())?;
    Ok(spec.tolerations)
}

/// What deleting the pod costs, or the text that does not tell (`GetDeletionCostFromPodAnnotations`).
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
        let names = names.get_or_insert_with(|| all_containers(spec).map(|container| container.name).collect());
        if !names.contains(name) {
            v.invalid(&path, name, "container not found");
        }
        let known = ["", RUNTIME_DEFAULT, UNCONFINED].contains(&profile.as_str()) || profile.starts_with(LOCALHOST);
        if !known {
            v.invalid(&path, profile, format!("invalid AppArmor profile name: {}", quote(profile)));
        }
    }
}

/// Annotations and fields that say different things (`validateSeccompAnnotationsAndFields`,
/// `validateAppArmorAnnotationsAndFieldsMatchOnCreate`).
pub(super) fn validate_against_fields(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    annotations: &Annotations,
    spec: &PodSpec,
) {
    let of_pod = spec.security_context.as_deref();
    if let (Some(said), Some(profile)) =
        (annotations.get(SECCOMP_OF_POD), of_pod.and_then(|context| context.seccomp_profile.as_deref()))
    {
        Profile::from(profile).validate(v, &path.child("securityContext").child("seccompProfile"), said);
    }
    for_each_container(spec, path, |path, container| {
        let said = annotations.get(&format!("{SECCOMP_OF_CONTAINER}{}", container.name));
        let profile = container.security_context.and_then(|context| context.seccomp_profile.as_deref());
        if let (Some(said), Some(profile)) = (said, profile) {
            Profile::from(profile).validate(v, &path.child("securityContext").child("seccompProfile"), said);
        }
    });
    if spec.os.as_deref().is_some_and(|os| os.name == "windows") {
        return;
    }
    for_each_container(spec, path, |path, container| {
        let said = annotations.get(&format!("{APP_ARMOR_OF_CONTAINER}{}", container.name));
        let own = container.security_context.and_then(|context| context.app_armor_profile.as_deref());
        let profile = own.or_else(|| of_pod.and_then(|context| context.app_armor_profile.as_deref()));
        if let (Some(said), Some(profile)) = (said, profile) {
            Profile::from(profile).validate(v, &path.child("securityContext").child("appArmorProfile"), said);
        }
    });
}

/// A profile as a field names it.
struct Profile<'p> {
    /// What errors call it.
    feature: &'static str,
    kind: &'p str,
    file: Option<&'p str>,
    /// What annotations call the runtime's own.
    defaults: &'static [&'static str],
}

impl<'p> From<&'p SeccompProfile> for Profile<'p> {
    fn from(profile: &'p SeccompProfile) -> Self {
        let defaults = &[RUNTIME_DEFAULT, DOCKER_DEFAULT];
        Profile { feature: "seccomp", kind: &profile.r#type, file: profile.localhost_profile.as_deref(), defaults }
    }
}

impl<'p> From<&'p AppArmorProfile> for Profile<'p> {
    fn from(profile: &'p AppArmorProfile) -> Self {
        let defaults = &[RUNTIME_DEFAULT];
        Profile { feature: "apparmor", kind: &profile.r#type, file: profile.localhost_profile.as_deref(), defaults }
    }
}

impl Profile<'_> {
    /// Compares it with what an annotation says.
    fn validate(&self, v: &mut Validation<'_>, path: &Path<'_>, said: &str) {
        let same_type = match self.kind {
            "Unconfined" => said == UNCONFINED,
            "RuntimeDefault" => self.defaults.contains(&said),
            "Localhost" => said.starts_with(LOCALHOST),
            _ => true,
        };
        let feature = self.feature;
        if !same_type {
            v.forbidden(&path.child("type"), format!("{feature} type in annotation and field must match"));
        } else if self.kind == "Localhost" && said.strip_prefix(LOCALHOST) != self.file {
            let detail = format!("{feature} profile in annotation and field must match");
            v.forbidden(&path.child("localhostProfile"), detail);
        }
    }
}

/// `ValidatePodSpecificAnnotationUpdates`
pub(super) fn validate_annotations_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    (new, old): (&Annotations, &Annotations),
    spec: &PodSpec,
    options: &PodOptions,
) {
    for key in old.iter().filter(|(key, value)| new.get(*key) != Some(value)).map(|(key, _)| key) {
        if key.starts_with(APP_ARMOR_OF_CONTAINER) {
            v.forbidden(&path.key(key), "may not remove or update AppArmor annotations");
        }
        if key == MIRROR {
            v.forbidden(&path.key(key), "may not remove or update mirror pod annotation");
        }
    }
    for key in new.keys().filter(|key| !old.contains_key(*key)) {
        if key.starts_with(APP_ARMOR_OF_CONTAINER) {
            v.forbidden(&path.key(key), "may not add AppArmor annotations");
        }
        if key == MIRROR {
            v.forbidden(&path.key(key), "may not add mirror pod annotation");
        }
    }
    validate_pod_annotations(v, path, new, spec, options);
}
