//! The volumes of a pod.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;
use machinery::scalar::go_text::quote;

use super::claim_spec::{ClaimOptions, validate_claim_template};
use generated::core::v1::{PersistentVolumeClaimTemplate, Volume, VolumeSource};

/// Volumes by name, those without a mistake.
pub(super) type Volumes<'s> = BTreeMap<&'s str, &'s VolumeSource>;

/// `ValidateVolumes`; `pod` is the pod's name, empty in templates. By hand: which volumes have no mistake counts for
/// mounts.
pub(super) fn validate_volumes<'s>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    volumes: &'s [Volume],
    pod: &str,
) -> Volumes<'s> {
    let ephemeral = volumes.iter().filter(|volume| !pod.is_empty() && volume.volume_source.ephemeral.is_some());
    let made: BTreeSet<String> = ephemeral.map(|volume| format!("{pod}-{}", volume.name)).collect();
    let mut valid = Volumes::new();
    for (index, volume) in volumes.iter().enumerate() {
        let (path, before) = (path.index(index), v.errors.len());
        v.checks(&path, Ref::of(volume), None);
        if valid.contains_key(volume.name.as_str()) {
            v.duplicate(&path.child("name"), &volume.name);
        }
        if v.errors.len() == before {
            valid.insert(&volume.name, &volume.volume_source);
        }
        let claim = volume.volume_source.persistent_volume_claim.as_deref();
        if let Some(claim) = claim.filter(|claim| made.contains(&claim.claim_name)) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            v.invalid(&path.child("persistentVolumeClaim.claimName"), &claim.claim_name, detail);
        }
    }
    valid
}

/// Name and portal together have to fit into a name of a target. By hand: two lengths are added.
pub fn validate_portal_length(v: &mut Validation<'_>, path: &Path<'_>, volume: &Volume, _: Option<&Volume>) {
    let portal = volume.volume_source.iscsi.as_deref().map_or("", |iscsi| &iscsi.target_portal);
    if volume.name.len() + 1 + portal.len() > MAX_TARGET {
        v.invalid(&path.child("name"), &volume.name, LONG_PORTAL);
    }
}

/// The longest `<volume name>:<portal>`.
pub(super) const MAX_TARGET: usize = 64;
pub(super) const LONG_PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is \
     specified.";

/// The claim of an ephemeral volume, for which a template stands.
pub fn validate_claim_template_of_pod(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PersistentVolumeClaimTemplate,
    _: Option<&PersistentVolumeClaimTemplate>,
) {
    validate_claim_template(v, path, template, ClaimOptions::default());
}

/// The claim of an ephemeral volume is named after pod and volume. By hand: the name is made of two.
pub fn validate_generated_claim(v: &mut Validation<'_>, path: &Path<'_>, volume: &Volume, _: Option<&Volume>) {
    let pod = v.option(options::OBJECT_NAME).unwrap_or_default();
    if pod.is_empty() || volume.name.is_empty() {
        return;
    }
    let name = format!("{pod}-{}", volume.name);
    for message in NameRule::Dns1123Subdomain.check(&name, false) {
        v.invalid(&path.child("name"), &volume.name, format!("PVC name {}: {message}", quote(&name)));
    }
}
