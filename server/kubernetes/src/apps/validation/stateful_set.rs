//! Stateful sets.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::options::ANY_TEMPLATE;
use machinery::reflect::Ref;
use machinery::selector::LabelSelector;

use super::percent::{is_none, shown};
use super::selector::{usable_selector, validate_selected};
use crate::core::internal::internal_value;
use crate::core::validation::claim_spec::{ClaimOptions, validate_claim_spec};
use crate::core::{PodOptions, validate_pod_template_spec, validate_template_annotations};
use generated::apps::v1::{RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetSpec, StatefulSetUpdateStrategy};
use generated::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, PodTemplateSpec, Volume, VolumeSource,
};
use meta::{validate_annotations, validate_labels, validate_whole_object_meta, validate_whole_object_meta_update};

const IMMUTABLE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
    'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are \
    forbidden";

/// By hand: of a status the metadata comes second, of everything else first.
pub fn validate_stateful_set_metadata(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &StatefulSet,
    old: Option<&StatefulSet>,
) {
    match old {
        Some(old) => validate_whole_object_meta_update(v, &new.metadata, &old.metadata),
        None => validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Label),
    }
}

/// Lets an update leave a template that was not always checked. By hand: what is stored is validated, too.
pub fn allow_stored_template(v: &mut Validation<'_>, _: &Path<'_>, _: &StatefulSetSpec, old: Option<&StatefulSetSpec>) {
    let Some(old) = old else { return };
    let errors = &mut Vec::new();
    Validation::new(v.context, errors).checks(&Path::NONE, Ref::of(old), Some(Ref::of(old)));
    v.set_option(ANY_TEMPLATE, !errors.is_empty());
}

/// By hand: the whole spec is compared with what is stored, except for what may change.
pub fn validate_stateful_set_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StatefulSetSpec,
    old: Option<&StatefulSetSpec>,
) {
    if old.is_some_and(|old| without_mutable(new, old) != *old) {
        v.forbidden(path, IMMUTABLE);
    }
}

/// By hand: what is stored decides what templates may hold, and labels are compared with the selector.
pub fn validate_stateful_set_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StatefulSetSpec,
    old: Option<&StatefulSetSpec>,
) {
    let options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    if let Some(selector) = usable_selector(v, &path.child("selector"), new.selector.as_deref(), "") {
        validate_template(v, &path.child("template"), new, &selector, &options);
    }
}

/// `ValidatePodTemplateSpecForStatefulSet`
fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &StatefulSetSpec,
    selector: &LabelSelector,
    options: &PodOptions,
) {
    if !selector.is_empty() {
        validate_selected(v, path, &spec.template, selector);
    }
    if !v.has_option(ANY_TEMPLATE) {
        validate_pod_template_spec(v, path, &as_pods_have_it(spec), options);
    }
    // Upstream checks labels and annotations once more, and reports what is wrong with them twice.
    let (meta, annotations) = (&spec.template.metadata, path.child("annotations"));
    validate_labels(v, &path.child("labels"), &meta.labels);
    validate_annotations(v, &annotations, &meta.annotations);
    validate_template_annotations(v, &annotations, &spec.template, options);
}

/// The template as the controller makes pods of it: the set's own claims are volumes before the others, and the names of
/// the pod and of its service replace host name and subdomain.
fn as_pods_have_it(spec: &StatefulSetSpec) -> PodTemplateSpec {
    let mut template = spec.template.clone();
    template.spec.hostname.clear();
    template.spec.subdomain.clear();
    let mut volumes: Vec<Volume> = Vec::with_capacity(spec.volume_claim_templates.len());
    let mut names = HashSet::new();
    for claim in &spec.volume_claim_templates {
        let name = claim.metadata.name.clone();
        if names.insert(name.clone()) {
            let source = PersistentVolumeClaimVolumeSource { claim_name: name.clone(), ..Default::default() };
            let volume_source =
                VolumeSource { persistent_volume_claim: Some(Box::new(source)), ..VolumeSource::default() };
            volumes.push(Volume { name, volume_source });
        }
    }
    template.spec.volumes.retain(|volume| !names.contains(&volume.name));
    volumes.append(&mut template.spec.volumes);
    template.spec.volumes = volumes;
    template
}

/// By hand: what claims may be is an option.
pub fn validate_claim_template_of_set(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PersistentVolumeClaim,
    _: Option<&PersistentVolumeClaim>,
) {
    validate_claim_spec(v, &path.child("spec"), &new.spec, ClaimOptions::default());
}

/// A strategy without rolling updates. By hand: the messages show a partition that is not given as 0.
pub fn validate_stateful_set_strategy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StatefulSetUpdateStrategy,
    _: Option<&StatefulSetUpdateStrategy>,
) {
    let mut strategy = new.clone();
    if let Some(update) = strategy.rolling_update.as_deref_mut() {
        update.partition.get_or_insert_default();
    }
    if new.r#type != "OnDelete" {
        v.invalid(path, internal_value(&strategy), "must be 'RollingUpdate' or 'OnDelete'");
    } else if let Some(update) = strategy.rolling_update.as_deref() {
        let path = path.child("rollingUpdate");
        v.invalid(&path, internal_value(update), "only allowed for updateStrategy 'RollingUpdate'");
    }
}

/// By hand: numbers and percentages are 0 in many spellings.
pub fn validate_progress_of_set(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &RollingUpdateStatefulSetStrategy,
    _: Option<&RollingUpdateStatefulSetStrategy>,
) {
    let unavailable = new.max_unavailable.as_ref();
    if is_none(unavailable) {
        v.invalid(&path.child("maxUnavailable"), shown(unavailable), "cannot be 0");
    }
}

/// The new spec with what may change as it was. Claims as they are stored say what they are, those of a request need
/// not.
fn without_mutable(new: &StatefulSetSpec, old: &StatefulSetSpec) -> StatefulSetSpec {
    let mut volume_claim_templates = new.volume_claim_templates.clone();
    for (new, old) in volume_claim_templates.iter_mut().zip(&old.volume_claim_templates) {
        new.type_meta = old.type_meta.clone();
    }
    StatefulSetSpec {
        volume_claim_templates,
        replicas: old.replicas,
        template: old.template.clone(),
        update_strategy: old.update_strategy.clone(),
        min_ready_seconds: old.min_ready_seconds,
        ordinals: old.ordinals.clone(),
        revision_history_limit: old.revision_history_limit,
        persistent_volume_claim_retention_policy: old.persistent_volume_claim_retention_policy.clone(),
        ..new.clone()
    }
}
