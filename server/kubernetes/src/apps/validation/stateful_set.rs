//! Validation of stateful sets.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options::ANY_TEMPLATE;
use machinery::reflect::Ref;

use crate::core::validation::claim_spec::{ClaimOptions, validate_claim_spec};
use crate::core::{PodOptions, validate_pod_template_spec, validate_template_annotations};
use generated::apps::v1::StatefulSetSpec;
use generated::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, PodTemplateSpec, Volume, VolumeSource,
};
use generated::meta::v1::ObjectMeta;
use meta::{validate_annotations, validate_labels, validate_whole_object_meta, validate_whole_object_meta_update};

/// Validates the metadata. Hand-written, because status updates report its errors second, all other
/// writes first.
pub fn validate_stateful_set_metadata(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ObjectMeta,
    old: Option<&ObjectMeta>,
) {
    match old {
        Some(old) => validate_whole_object_meta_update(v, new, old),
        None => validate_whole_object_meta(v, new, true, NameRule::Dns1123Label),
    }
}

/// Lets an update keep a template that was accepted before it was fully validated. Hand-written,
/// because the stored template is validated, too.
pub fn allow_stored_template(v: &mut Validation<'_>, _: &Path<'_>, _: &StatefulSetSpec, old: Option<&StatefulSetSpec>) {
    let Some(old) = old else { return };
    let errors = &mut Vec::new();
    Validation::new(v.context, errors).checks(&Path::NONE, Ref::of(old), Some(Ref::of(old)));
    v.set_option(ANY_TEMPLATE, !errors.is_empty());
}

/// Validates the pods of a set. Hand-written, because pods have the volumes of the set's claims.
/// Upstream validates labels and annotations once more, and reports their errors twice
/// (`ValidatePodTemplateSpecForStatefulSet`).
pub fn validate_stateful_set_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StatefulSetSpec,
    old: Option<&StatefulSetSpec>,
) {
    let options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    let (path, meta) = (path.child(json_name!(StatefulSetSpec.template)), &new.template.metadata);
    if !v.has_option(ANY_TEMPLATE) {
        validate_pod_template_spec(v, &path, &as_pods_have_it(new), &options);
    }
    let annotations = path.child(json_name!(ObjectMeta.annotations));
    validate_labels(v, &path.child(json_name!(ObjectMeta.labels)), &meta.labels);
    validate_annotations(v, &annotations, &meta.annotations);
    validate_template_annotations(v, &annotations, &new.template, &options);
}

/// The template in the form of the controller's pods: the set's claims are volumes before the others,
/// and the names of the pod and of its service replace host name and subdomain.
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

/// Validates a claim template. Hand-written, because the rules for claims depend on options.
pub fn validate_claim_template_of_set(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PersistentVolumeClaim,
    _: Option<&PersistentVolumeClaim>,
) {
    validate_claim_spec(v, &path.child(json_name!(PersistentVolumeClaim.spec)), &new.spec, ClaimOptions::default());
}
