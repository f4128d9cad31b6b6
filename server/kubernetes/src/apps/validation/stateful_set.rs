//! Stateful sets.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::selector::LabelSelector;

use super::percent::{is_none, shown, validate_count_or_percent, validate_not_more_than_all};
use super::selector::{validate_runs_on, validate_selected, validate_selector};
use super::status::{validate_available, validate_collisions, validate_counts, validate_parts};
use crate::core::internal::internal_value;
use crate::core::validation::annotations::validate_pod_annotations;
use crate::core::validation::claim_spec::{ClaimOptions, validate_claim_spec};
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::apps::v1::{
    RollingUpdateStatefulSetStrategy, StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec,
    StatefulSetStatus, StatefulSetUpdateStrategy,
};
use generated::core::v1::{PersistentVolumeClaimVolumeSource, PodTemplateSpec, Volume, VolumeSource};
use meta::{validate_annotations, validate_labels, validate_whole_object_meta, validate_whole_object_meta_update};

const CLAIM_POLICIES: [&str; 2] = ["Retain", "Delete"];
const IMMUTABLE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
    'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/// What of a set is not looked at (`StatefulSetValidationOptions`).
#[derive(Clone, Copy, Debug, Default)]
struct SetOptions {
    /// What cannot change was not always checked.
    skip_immutable: bool,
    /// Stored templates were not always checked either.
    skip_template: bool,
}

/// `ValidateStatefulSet`, `ValidateStatefulSetUpdate`, `ValidateStatefulSetStatusUpdate`
pub fn validate_stateful_set(v: &mut Validation<'_>, _: &Path<'_>, new: &StatefulSet, old: Option<&StatefulSet>) {
    // Of a status the metadata comes second, of everything else first.
    let metadata = |v: &mut Validation<'_>| match old {
        Some(old) => validate_whole_object_meta_update(v, &new.metadata, &old.metadata),
        None => validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Label),
    };
    if v.context.subresource == "status" {
        let path = Path::new("status");
        validate_status(v, &path, &new.status);
        metadata(v);
        let before = old.and_then(|old| old.status.collision_count);
        return validate_collisions(v, &path, new.status.collision_count, before);
    }
    metadata(v);
    let path = Path::new("spec");
    let options = PodOptions::of_template(v.context, old.map(|old| &old.spec.template));
    let kept = old.map_or(SetOptions::default(), |old| kept_by(v, &old.spec, &options));
    validate_spec(v, &path, &new.spec, &options, kept);
    if let Some(old) = old
        && without_mutable(&new.spec, &old.spec) != old.spec
    {
        v.forbidden(&path, IMMUTABLE);
    }
}

/// What a stored set may keep although it is wrong.
fn kept_by(v: &Validation<'_>, old: &StatefulSetSpec, options: &PodOptions) -> SetOptions {
    let errors = &mut Vec::new();
    let mut scratch = Validation::new(v.context, errors);
    let stored = SetOptions { skip_immutable: true, skip_template: false };
    validate_spec(&mut scratch, &Path::NONE, old, options, stored);
    SetOptions { skip_template: !errors.is_empty(), ..stored }
}

/// `ValidateStatefulSetSpec`
fn validate_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &StatefulSetSpec,
    options: &PodOptions,
    kept: SetOptions,
) {
    let policy = spec.pod_management_policy.as_str();
    match policy {
        "OrderedReady" | "Parallel" => {}
        "" => v.required(&path.child("podManagementPolicy"), ""),
        unknown => {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            v.invalid(&path.child("podManagementPolicy"), BadValue::json_string(unknown), detail);
        }
    }
    validate_strategy(v, &path.child("updateStrategy"), &spec.update_strategy);
    if let Some(policy) = spec.persistent_volume_claim_retention_policy.as_deref() {
        validate_retention(v, &path.child("persistentVolumeClaimRetentionPolicy"), policy);
    }
    if !kept.skip_immutable {
        validate_claims(v, &path.child("volumeClaimTemplates"), spec);
    }
    v.not_negative(&path.child("replicas"), spec.replicas.unwrap_or(0));
    v.not_negative(&path.child("minReadySeconds"), spec.min_ready_seconds);
    if let Some(ordinals) = spec.ordinals.as_deref() {
        v.not_negative(&path.child("ordinals.start"), ordinals.start);
    }
    if !kept.skip_immutable {
        v.malformed_name(&path.child("serviceName"), &spec.service_name, NameRule::Dns1123Label, false);
    }
    let (selector, template) = (spec.selector.as_deref(), path.child("template"));
    if let Some(selector) = validate_selector(v, &path.child("selector"), selector, "statefulset", "") {
        validate_template(v, &template, spec, (&selector, options), kept.skip_template);
    }
    validate_runs_on(v, &template.child("spec"), &spec.template, "StatefulSet");
}

/// `ValidatePodTemplateSpecForStatefulSet`
fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &StatefulSetSpec,
    (selector, options): (&LabelSelector, &PodOptions),
    skip: bool,
) {
    if !selector.is_empty() {
        validate_selected(v, path, &spec.template, selector);
    }
    if !skip {
        validate_pod_template_spec(v, path, &as_pods_have_it(spec), options);
    }
    // Upstream checks labels and annotations once more, and reports what is wrong with them twice.
    let (meta, annotations) = (&spec.template.metadata, path.child("annotations"));
    validate_labels(v, &path.child("labels"), &meta.labels);
    validate_annotations(v, &annotations, &meta.annotations);
    validate_pod_annotations(v, &annotations, &meta.annotations, &spec.template.spec, options);
}

/// The template as the controller makes pods of it: the set's own claims are volumes before the others, and the names of the
/// pod and of its service replace host name and subdomain.
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

/// `validateVolumeClaimTemplates`
fn validate_claims(v: &mut Validation<'_>, path: &Path<'_>, spec: &StatefulSetSpec) {
    for (index, claim) in spec.volume_claim_templates.iter().enumerate() {
        validate_claim_spec(v, &path.index(index).child("spec"), &claim.spec, ClaimOptions::default());
    }
}

fn validate_strategy(v: &mut Validation<'_>, path: &Path<'_>, strategy: &StatefulSetUpdateStrategy) {
    let rolling = path.child("rollingUpdate");
    match (strategy.r#type.as_str(), strategy.rolling_update.as_deref()) {
        ("", _) => v.required(path, ""),
        ("OnDelete" | "RollingUpdate", None) => {}
        ("OnDelete", Some(update)) => {
            v.invalid(&rolling, shown_update(update), "only allowed for updateStrategy 'RollingUpdate'");
        }
        ("RollingUpdate", Some(update)) => validate_rolling_update(v, &rolling, update),
        _ => {
            let mut strategy = strategy.clone();
            strategy.rolling_update = strategy.rolling_update.map(|update| Box::new(with_partition(&update)));
            v.invalid(path, internal_value(&strategy), "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

fn shown_update(update: &RollingUpdateStatefulSetStrategy) -> BadValue {
    internal_value(&with_partition(update))
}

/// Inside, a partition that is not said is zero.
fn with_partition(update: &RollingUpdateStatefulSetStrategy) -> RollingUpdateStatefulSetStrategy {
    RollingUpdateStatefulSetStrategy { partition: Some(update.partition.unwrap_or(0)), ..update.clone() }
}

/// `validateRollingUpdateStatefulSet`
fn validate_rolling_update(v: &mut Validation<'_>, path: &Path<'_>, update: &RollingUpdateStatefulSetStrategy) {
    v.not_negative(&path.child("partition"), update.partition.unwrap_or(0));
    if let Some(unavailable) = &update.max_unavailable {
        let path = path.child("maxUnavailable");
        validate_count_or_percent(v, &path, unavailable);
        if is_none(unavailable) {
            v.invalid(&path, shown(unavailable), "cannot be 0");
        }
        validate_not_more_than_all(v, &path, unavailable);
    }
}

/// `ValidatePersistentVolumeClaimRetentionPolicy`
fn validate_retention(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    policy: &StatefulSetPersistentVolumeClaimRetentionPolicy,
) {
    v.one_of(&path.child("whenDeleted"), &policy.when_deleted, &CLAIM_POLICIES);
    v.one_of(&path.child("whenScaled"), &policy.when_scaled, &CLAIM_POLICIES);
}

/// The new spec with what may change as it was. Claims as they are stored say what they are, those of a request need not.
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

/// `ValidateStatefulSetStatus`
fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &StatefulSetStatus) {
    let s = status;
    validate_counts(
        v,
        path,
        &[
            ("replicas", Some(s.replicas.into())),
            ("readyReplicas", Some(s.ready_replicas.into())),
            ("currentReplicas", Some(s.current_replicas.into())),
            ("updatedReplicas", Some(s.updated_replicas.into())),
            ("availableReplicas", Some(s.available_replicas.into())),
            ("observedGeneration", Some(s.observed_generation)),
            ("collisionCount", s.collision_count.map(i64::from)),
        ],
    );
    let parts = [
        ("readyReplicas", s.ready_replicas),
        ("currentReplicas", s.current_replicas),
        ("updatedReplicas", s.updated_replicas),
        ("availableReplicas", s.available_replicas),
    ];
    validate_parts(v, path, s.replicas, &parts);
    validate_available(v, path, s.available_replicas, ("status.readyReplicas", s.ready_replicas));
}
