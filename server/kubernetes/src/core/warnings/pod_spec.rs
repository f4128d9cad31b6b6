//! Warnings about the spec and metadata of pods and pod templates (`warningsForPodSpecAndMeta`).

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format::ip::warnings_for_ip;
use machinery::json_name;
use machinery::scalar::go_text::quote;

use super::node_labels::deprecation;
use super::volumes::warn_of_fraction;
use super::{node_labels, overlaps, ports, volumes};
use crate::core::app_armor::profile_of_annotation;
use crate::core::meta::annotation_of_container;
use crate::core::validation::annotations::{APP_ARMOR_OF_CONTAINER, SECCOMP_OF_CONTAINER, SECCOMP_OF_POD};
use crate::core::validation::visit::{AnyContainer, for_each_container};
use generated::core::v1::{
    Affinity, Container, EnvVar, HostAlias, LocalObjectReference, PodAffinity, PodAffinityTerm, PodDNSConfig, PodSpec,
    PodTemplateSpec, ResourceRequirements, TopologySpreadConstraint, WeightedPodAffinityTerm, resource_name,
};
use generated::meta::v1::ObjectMeta;

const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    ("security.alpha.kubernetes.io/sysctls", r#"non-functional in v1.11+; use the "sysctls" field instead"#),
    ("security.alpha.kubernetes.io/unsafe-sysctls", r#"non-functional in v1.11+; use the "sysctls" field instead"#),
];
const OLD_SECCOMP: &str = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;
const OLD_APP_ARMOR: &str = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;

/// `path` is that of the object or template; AppArmor annotations are reported only in templates.
pub(super) fn warn(path: &Path<'_>, (meta, spec): (&ObjectMeta, &PodSpec), is_template: bool, out: &mut Vec<String>) {
    let annotations = path.child(json_name!(PodTemplateSpec.metadata));
    let (annotations, path) =
        (annotations.child(json_name!(ObjectMeta.annotations)), path.child(json_name!(PodTemplateSpec.spec)));
    node_labels::warn(&path, spec, out);
    warn_of_spreads(&path.child(json_name!(PodSpec.topology_spread_constraints)), spec, out);
    for (key, what) in OLD_ANNOTATIONS.iter().filter(|(key, _)| meta.annotations.contains_key(*key)) {
        out.push(format!("{}: {what}", annotations.key(key)));
    }
    volumes::warn(&path.child(json_name!(PodSpec.volumes)), &spec.volumes, false, out);
    overlaps::warn(&spec.volumes, out);
    warn_of_repetitions(&path, spec, out);
    for resource in [resource_name::MEMORY, resource_name::EPHEMERAL_STORAGE] {
        warn_of_fraction(&path.child(json_name!(PodSpec.overhead)), &spec.overhead, resource, out);
    }
    let security = spec.security_context.as_deref();
    if security.is_none_or(|c| c.seccomp_profile.is_none()) && meta.annotations.contains_key(SECCOMP_OF_POD) {
        out.push(format!("{}: {OLD_SECCOMP}", annotations.key(SECCOMP_OF_POD)));
    }
    for_each_container(spec, &path, |path, container| {
        warn_of_annotations(&annotations, (meta, spec), container, is_template, out);
        warn_of_container(path, container, out);
    });
    ports::warn(&path, spec, out);
    if spec.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0) {
        let path = path.child(json_name!(PodSpec.termination_grace_period_seconds));
        out.push(format!("{path}: must be >= 0; negative values are invalid and will be treated as 1"));
    }
    warn_of_affinity(&path.child(json_name!(PodSpec.affinity)), spec, out);
    warn_of_addresses(&path, spec, out);
}

fn warn_of_spreads(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    for (index, constraint) in spec.topology_spread_constraints.iter().enumerate() {
        let (path, key) = (path.index(index), &constraint.topology_key);
        out.extend(
            deprecation(key).map(|why| {
                format!("{}: {key} is {why}", path.child(json_name!(TopologySpreadConstraint.topology_key)))
            }),
        );
        if constraint.label_selector.is_none() {
            out.push(format!("{}: {NO_SELECTOR}", path.child(json_name!(TopologySpreadConstraint.label_selector))));
        }
    }
}

fn warn_of_repetitions(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    let (mut seen, aliases) = (BTreeSet::new(), path.child(json_name!(PodSpec.host_aliases)));
    for (index, alias) in spec.host_aliases.iter().enumerate().filter(|(_, alias)| !seen.insert(&alias.ip)) {
        out.push(format!(
            "{}: duplicate ip {}",
            aliases.index(index).child(json_name!(HostAlias.ip)),
            quote(&alias.ip)
        ));
    }
    let (mut seen, secrets) = (BTreeSet::new(), path.child(json_name!(PodSpec.image_pull_secrets)));
    for (index, secret) in spec.image_pull_secrets.iter().enumerate().filter(|(_, secret)| !seen.insert(&secret.name)) {
        out.push(format!(
            "{}: duplicate name {}",
            secrets.index(index).child(json_name!(LocalObjectReference.name)),
            quote(&secret.name)
        ));
    }
    for (index, _) in spec.image_pull_secrets.iter().enumerate().filter(|(_, secret)| secret.name.is_empty()) {
        out.push(format!(
            "{}: invalid empty name \"\"",
            secrets.index(index).child(json_name!(LocalObjectReference.name))
        ));
    }
}

/// Warnings about obsolete annotations of a container, unless fields have the same values.
fn warn_of_annotations(
    path: &Path<'_>,
    (meta, spec): (&ObjectMeta, &PodSpec),
    container: AnyContainer<'_>,
    is_template: bool,
    out: &mut Vec<String>,
) {
    let own = container.security_context;
    if own.is_none_or(|c| c.seccomp_profile.is_none())
        && let Some((key, _)) = annotation_of_container(&meta.annotations, SECCOMP_OF_CONTAINER, container.name)
    {
        out.push(format!("{}: {OLD_SECCOMP}", path.key(key)));
    }
    let annotation = annotation_of_container(&meta.annotations, APP_ARMOR_OF_CONTAINER, container.name);
    if let Some((key, annotation)) = annotation.filter(|_| is_template)
        && own.is_none_or(|c| c.app_armor_profile.is_none())
    {
        let of_pod = spec.security_context.as_deref().and_then(|c| c.app_armor_profile.as_deref());
        if of_pod.is_none() || of_pod != profile_of_annotation(annotation).as_ref() {
            out.push(format!("{}: {OLD_APP_ARMOR}", path.key(key)));
        }
    }
}

fn warn_of_container(path: &Path<'_>, container: AnyContainer<'_>, out: &mut Vec<String>) {
    let resources = path.child(json_name!(Container.resources));
    for resource in [resource_name::MEMORY, resource_name::EPHEMERAL_STORAGE] {
        warn_of_fraction(
            &resources.child(json_name!(ResourceRequirements.limits)),
            &container.resources.limits,
            resource,
            out,
        );
        warn_of_fraction(
            &resources.child(json_name!(ResourceRequirements.requests)),
            &container.resources.requests,
            resource,
            out,
        );
    }
    let (mut seen, path) = (BTreeSet::new(), path.child(json_name!(Container.env)));
    for (index, variable) in container.env.iter().enumerate() {
        if !seen.insert(&variable.name) && !extends_itself(variable) {
            let (path, name) = (path.index(index), quote(&variable.name));
            out.push(format!("{path}: hides previous definition of {name}, which may be dropped when using apply"));
        }
    }
}

/// Whether the value of a variable refers to its previous value and extends it.
fn extends_itself(variable: &EnvVar) -> bool {
    let before = format!("$({})", variable.name);
    variable.value_from.is_none() && variable.value != before && variable.value.contains(&before)
}

fn warn_of_affinity(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    let Some(affinity) = spec.affinity.as_deref() else { return };
    if let Some(near) = affinity.pod_affinity.as_deref() {
        let required = &near.required_during_scheduling_ignored_during_execution;
        let preferred = &near.preferred_during_scheduling_ignored_during_execution;
        warn_of_terms(&path.child(json_name!(Affinity.pod_affinity)), required, preferred, out);
    }
    if let Some(far) = affinity.pod_anti_affinity.as_deref() {
        let required = &far.required_during_scheduling_ignored_during_execution;
        let preferred = &far.preferred_during_scheduling_ignored_during_execution;
        warn_of_terms(&path.child(json_name!(Affinity.pod_anti_affinity)), required, preferred, out);
    }
}

fn warn_of_terms(
    path: &Path<'_>,
    required: &[PodAffinityTerm],
    preferred: &[WeightedPodAffinityTerm],
    out: &mut Vec<String>,
) {
    let terms = path.child(json_name!(PodAffinity.required_during_scheduling_ignored_during_execution));
    for (index, _) in required.iter().enumerate().filter(|(_, term)| term.label_selector.is_none()) {
        out.push(format!("{}: {NO_SELECTOR}", terms.index(index).child(json_name!(PodAffinityTerm.label_selector))));
    }
    let terms = path.child(json_name!(PodAffinity.preferred_during_scheduling_ignored_during_execution));
    for (index, _) in preferred.iter().enumerate().filter(|(_, term)| term.pod_affinity_term.label_selector.is_none()) {
        out.push(format!(
            "{}: {NO_SELECTOR}",
            terms
                .index(index)
                .child(json_name!(WeightedPodAffinityTerm.pod_affinity_term))
                .child(json_name!(PodAffinityTerm.label_selector))
        ));
    }
}

fn warn_of_addresses(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    let dns = path.child(json_name!(PodSpec.dns_config));
    let dns = dns.child(json_name!(PodDNSConfig.nameservers));
    let servers = spec.dns_config.as_deref().map_or(&[][..], |config| &config.nameservers);
    for (index, server) in servers.iter().enumerate() {
        out.extend(warnings_for_ip(&dns.index(index), server));
    }
    let aliases = path.child(json_name!(PodSpec.host_aliases));
    for (index, alias) in spec.host_aliases.iter().enumerate() {
        out.extend(warnings_for_ip(&aliases.index(index).child(json_name!(HostAlias.ip)), &alias.ip));
    }
}
