//! Hand-written validation of volumes.

use machinery::field_path::Path;
use machinery::format::{ANNOTATIONS_MAX_SIZE, NameRule};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::scalar::go_text::quote;

use super::claim_spec::{ClaimOptions, validate_claim_template};
use generated::core::v1::{
    ISCSIPersistentVolumeSource, PersistentVolumeClaimTemplate, PodCertificateProjection, PodSpec, Volume,
};

/// Maximum length of `<volume name>:<portal>`.
const MAX_TARGET: usize = 64;
const LONG_PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is \
     specified.";

/// Checks that name and portal together fit into the name of a target. Hand-written, because two
/// lengths are added.
pub fn validate_portal_length(v: &mut Validation<'_>, path: &Path<'_>, volume: &Volume, _: Option<&Volume>) {
    let portal = volume.volume_source.iscsi.as_deref().map_or("", |iscsi| &iscsi.target_portal);
    if volume.name.len() + 1 + portal.len() > MAX_TARGET {
        v.invalid(&path.child(json_name!(Volume.name)), &volume.name, LONG_PORTAL);
    }
}

/// Checks that the name of the persistent volume and the portal together fit into the name of a target.
/// Hand-written, because two lengths are added.
pub fn validate_target_length(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ISCSIPersistentVolumeSource,
    _: Option<&ISCSIPersistentVolumeSource>,
) {
    let volume = v.option(options::OBJECT_NAME).unwrap_or_default().len();
    if volume + 1 + source.target_portal.len() > MAX_TARGET {
        v.invalid(&path.child("targetportal"), &source.target_portal, LONG_PORTAL);
    }
}

/// `ValidateUserAnnotations`. Hand-written, because the sizes of keys and values are added.
pub fn validate_user_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    certificate: &PodCertificateProjection,
    _: Option<&PodCertificateProjection>,
) {
    let path = &path.child(json_name!(PodCertificateProjection.user_annotations));
    let size: usize = certificate.user_annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX_SIZE {
        v.too_long(path, ANNOTATIONS_MAX_SIZE);
    }
}

/// Records the names of generated claims of ephemeral volumes. Hand-written, because the names are
/// built from pod and volume.
pub fn note_made_claims(v: &mut Validation<'_>, _: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let pod = v.option(options::OBJECT_NAME).unwrap_or_default().to_owned();
    for volume in spec.volumes.iter().filter(|volume| !pod.is_empty() && volume.volume_source.ephemeral.is_some()) {
        v.note(options::MADE_CLAIMS, &format!("{pod}-{}", volume.name));
    }
}

/// Checks that the name of a generated claim is a valid object name. Hand-written for the same reason.
pub fn validate_generated_claim(v: &mut Validation<'_>, path: &Path<'_>, volume: &Volume, _: Option<&Volume>) {
    let pod = v.option(options::OBJECT_NAME).unwrap_or_default();
    if pod.is_empty() || volume.name.is_empty() {
        return;
    }
    let name = format!("{pod}-{}", volume.name);
    for message in NameRule::Dns1123Subdomain.check(&name, false) {
        v.invalid(&path.child(json_name!(Volume.name)), &volume.name, format!("PVC name {}: {message}", quote(&name)));
    }
}

/// Validates the claim template of an ephemeral volume. Hand-written, because the rules for claims
/// depend on options.
pub fn validate_claim_template_of_pod(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PersistentVolumeClaimTemplate,
    _: Option<&PersistentVolumeClaimTemplate>,
) {
    validate_claim_template(v, path, template, ClaimOptions::default());
}
