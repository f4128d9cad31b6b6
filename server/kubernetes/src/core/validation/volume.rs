//! The volumes of a pod.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

use super::claim_spec::{ClaimOptions, validate_claim_template};
use super::container::validate_pull_policy;
use super::exclusive::Exclusive;
use super::items::validate_downward_api;
use super::options::PodOptions;
use super::projected::validate_projected;
use super::volume_sources::*;
use generated::core::v1::{EphemeralVolumeSource, ImageVolumeSource, Volume, VolumeSource};

const ONE_TYPE: &str = "may not specify more than 1 volume type";
const LONG_PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

/// Volumes by name, those without a mistake.
pub(super) type Volumes<'s> = BTreeMap<&'s str, &'s VolumeSource>;

/// `ValidateVolumes`; `pod` is the pod's name, empty in templates.
pub(super) fn validate_volumes<'s>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    volumes: &'s [Volume],
    pod: &str,
    options: &PodOptions,
) -> Volumes<'s> {
    let ephemeral = volumes.iter().filter(|volume| !pod.is_empty() && volume.volume_source.ephemeral.is_some());
    let made: BTreeSet<String> = ephemeral.map(|volume| format!("{pod}-{}", volume.name)).collect();
    let mut valid = Volumes::new();
    for (index, volume) in volumes.iter().enumerate() {
        let (path, before) = (path.index(index), v.errors.len());
        validate_volume(v, &path, volume, pod, options);
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

fn validate_volume(v: &mut Validation<'_>, path: &Path<'_>, volume: &Volume, pod: &str, options: &PodOptions) {
    validate_source(v, path, &volume.name, &volume.volume_source, pod, options);
    if volume.name.is_empty() {
        v.required(&path.child("name"), "");
    } else {
        v.name(&path.child("name"), &volume.name, NameRule::Dns1123Label);
    }
}

/// `validateVolumeSource`, in upstream's order of types and with its names of them.
fn validate_source(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    name: &str,
    source: &VolumeSource,
    pod: &str,
    options: &PodOptions,
) {
    let s = source;
    let mut types = Exclusive::new(v, path, ONE_TYPE);
    types
        .member("emptyDir", &s.empty_dir, validate_empty_dir)
        .member("hostPath", &s.host_path, validate_declared)
        .member("gitRepo", &s.git_repo, validate_git_repo)
        .member_named("gcePersistentDisk", "persistentDisk", &s.gce_persistent_disk, validate_declared)
        .member("awsElasticBlockStore", &s.aws_elastic_block_store, validate_declared)
        .member("secret", &s.secret, validate_secret)
        .member("nfs", &s.nfs, validate_declared)
        .member("iscsi", &s.iscsi, validate_iscsi)
        .also(|v, path| validate_portal_length(v, path, name, source))
        .member("glusterfs", &s.glusterfs, validate_declared)
        .member("flocker", &s.flocker, validate_flocker)
        .member("persistentVolumeClaim", &s.persistent_volume_claim, validate_declared)
        .member("rbd", &s.rbd, validate_declared)
        .member("cinder", &s.cinder, validate_declared)
        .member_named("cephFS", "cephfs", &s.cephfs, validate_declared)
        .member("quobyte", &s.quobyte, validate_quobyte)
        .member_named("downwarAPI", "downwardAPI", &s.downward_api, validate_downward_api)
        .member("fc", &s.fc, validate_declared)
        .member("flexVolume", &s.flex_volume, validate_flex_volume)
        .member("configMap", &s.config_map, validate_config_map)
        .member("azureFile", &s.azure_file, validate_declared)
        .member("vsphereVolume", &s.vsphere_volume, validate_declared)
        .member("photonPersistentDisk", &s.photon_persistent_disk, validate_declared)
        .member("portworxVolume", &s.portworx_volume, validate_declared)
        .member("azureDisk", &s.azure_disk, validate_declared)
        .member("storageos", &s.storageos, validate_declared)
        .member("projected", &s.projected, |v, path, s| validate_projected(v, path, s, options))
        .member("scaleIO", &s.scale_io, validate_declared)
        .member("csi", &s.csi, validate_csi)
        .member("ephemeral", &s.ephemeral, |v, at, s| {
            validate_ephemeral(v, at, s);
            validate_claim_name(v, &path.child("name"), name, pod);
        })
        .member("image", &s.image, |v, path, s| validate_image(v, path, s, options));
    if !types.found() {
        v.required(path, "must specify a volume type");
    }
}

fn validate_portal_length(v: &mut Validation<'_>, path: &Path<'_>, name: &str, source: &VolumeSource) {
    let Some(iscsi) = source.iscsi.as_deref().filter(|iscsi| iscsi.initiator_name.is_some()) else { return };
    if name.len() + 1 + iscsi.target_portal.len() > 64 {
        v.invalid(&path.child("name"), name, LONG_PORTAL);
    }
}

/// `validateEphemeralVolumeSource`
fn validate_ephemeral(v: &mut Validation<'_>, path: &Path<'_>, source: &EphemeralVolumeSource) {
    let path = path.child("volumeClaimTemplate");
    match source.volume_claim_template.as_deref() {
        Some(template) => validate_claim_template(v, &path, template, ClaimOptions::default()),
        None => v.required(&path, ""),
    }
}

/// The claim of an ephemeral volume is named after pod and volume.
fn validate_claim_name(v: &mut Validation<'_>, path: &Path<'_>, volume: &str, pod: &str) {
    if pod.is_empty() || volume.is_empty() {
        return;
    }
    let name = format!("{pod}-{volume}");
    for message in NameRule::Dns1123Subdomain.check(&name, false) {
        v.invalid(path, volume, format!("PVC name {}: {message}", quote(&name)));
    }
}

/// `validateImageVolumeSource`; templates may leave the image to whoever makes pods of them.
fn validate_image(v: &mut Validation<'_>, path: &Path<'_>, source: &ImageVolumeSource, options: &PodOptions) {
    if options.is_pod {
        v.filled(&path.child("reference"), &source.reference);
    }
    validate_pull_policy(v, &path.child("pullPolicy"), &source.pull_policy);
}
