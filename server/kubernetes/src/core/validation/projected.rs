//! Projected volumes: files from several sources in one volume.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format::{ANNOTATIONS_MAX_SIZE, Messages, NameRule, field};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::signer::is_kubernetes_signer;
use generated::core::v1::{
    ClusterTrustBundleProjection, KeyToPath, PodCertificateProjection, ProjectedVolumeSource, VolumeProjection,
};

/// Seconds that certificates for pods may last: in general, and those of Kubernetes' own signers.
const MAX_EXPIRATION: i32 = 91 * 24 * 3600;
const KUBERNETES_MAX_EXPIRATION: i32 = 24 * 3600;

/// `validateProjectedVolumeSource`. By hand: files of all sources are compared with each other, in between of the
/// checks of
/// each, and conflicts are reported at the volume.
pub fn validate_projected(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ProjectedVolumeSource,
    _: Option<&ProjectedVolumeSource>,
) {
    let (sources, mut files) = (path.child("sources"), Files { volume: path, seen: BTreeSet::new() });
    for (index, source) in source.sources.iter().enumerate() {
        validate_source(v, &sources.index(index), source, &mut files);
    }
}

fn validate_source<'a>(v: &mut Validation<'_>, path: &Path<'_>, source: &'a VolumeProjection, files: &mut Files<'a>) {
    if let Some(secret) = source.secret.as_deref() {
        let path = path.child("secret");
        v.checks(&path, Ref::of(secret), None);
        validate_items(v, &path, &secret.local_object_reference.name, &secret.items, files);
    }
    if let Some(map) = source.config_map.as_deref() {
        let path = path.child("configMap");
        v.checks(&path, Ref::of(map), None);
        validate_items(v, &path, &map.local_object_reference.name, &map.items, files);
    }
    for file in source.downward_api.iter().flat_map(|fields| &fields.items) {
        v.checks(&path.child("downwardAPI"), Ref::of(file), None);
        if !file.path.is_empty() {
            files.add(v, &file.path, &file.path);
        }
    }
    if let Some(token) = source.service_account_token.as_deref() {
        v.checks(&path.child("serviceAccountToken"), Ref::of(token), None);
    }
    if let Some(bundle) = source.cluster_trust_bundle.as_deref() {
        v.checks(&path.child("clusterTrustBundle"), Ref::of(bundle), None);
        files.add(v, &bundle.path, &bundle.path);
    }
    if let Some(certificate) = source.pod_certificate.as_deref() {
        validate_certificate(v, &path.child("podCertificate"), certificate, files);
    }
    v.checks(path, Ref::of(source), None);
}

/// Keys of an object, and the files they become.
fn validate_items<'a>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    object: &str,
    items: &'a [KeyToPath],
    files: &mut Files<'a>,
) {
    let list = path.child("items");
    for (index, item) in items.iter().enumerate() {
        v.checks(&list.index(index), Ref::of(item), None);
        if !item.path.is_empty() {
            files.add(v, &item.path, object);
        }
    }
}

fn validate_certificate<'a>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    certificate: &'a PodCertificateProjection,
    files: &mut Files<'a>,
) {
    v.checks(path, Ref::of(certificate), None);
    for (field, file) in [
        ("credentialBundlePath", &certificate.credential_bundle_path),
        ("keyPath", &certificate.key_path),
        ("certificateChainPath", &certificate.certificate_chain_path),
    ] {
        if !file.is_empty() {
            v.errors.extend(field::volume_path(&path.child(field), file));
            files.add(v, file, file);
        }
    }
    v.checks_of("paths", path, Ref::of(certificate), None);
}

/// The files of one volume, to see that no two have the same path.
struct Files<'a> {
    volume: &'a Path<'a>,
    seen: BTreeSet<&'a str>,
}

impl<'a> Files<'a> {
    /// Takes a file; `shown` is the value that a conflict is shown with.
    fn add(&mut self, v: &mut Validation<'_>, file: &'a str, shown: &str) {
        if !self.seen.insert(file) {
            v.invalid(self.volume, shown, "conflicting duplicate paths");
        }
    }
}

/// `ValidateUserAnnotations`. By hand: keys and values are counted together.
pub fn validate_user_annotations(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    certificate: &PodCertificateProjection,
    _: Option<&PodCertificateProjection>,
) {
    let path = &path.child("userAnnotations");
    let size: usize = certificate.user_annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX_SIZE {
        v.too_long(path, ANNOTATIONS_MAX_SIZE);
    }
}

/// By hand: the bound depends on whose the signer is.
pub fn validate_longest_expiration(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    certificate: &PodCertificateProjection,
    _: Option<&PodCertificateProjection>,
) {
    let max = if is_kubernetes_signer(&certificate.signer_name) { KUBERNETES_MAX_EXPIRATION } else { MAX_EXPIRATION };
    if let Some(seconds) = certificate.max_expiration_seconds.filter(|seconds| *seconds > max) {
        let detail = format!("if provided, maxExpirationSeconds must be <= {max}");
        v.invalid(&path.child("maxExpirationSeconds"), seconds, detail);
    }
}

/// By hand: the name has that of a signer in it, whose messages name both.
pub fn validate_trust_bundle_name(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    bundle: &ClusterTrustBundleProjection,
    _: Option<&ClusterTrustBundleProjection>,
) {
    let name = bundle.name.as_deref().unwrap_or_default();
    for message in check_trust_bundle_name(name) {
        v.invalid(&path.child("name"), name, format!("not a valid clustertrustbundlename: {message}"));
    }
}

/// The name of a ClusterTrustBundle, which starts with that of its signer, if it has one (`ValidateClusterTrustBundleName`).
fn check_trust_bundle_name(name: &str) -> Messages {
    let own = match name.rsplit_once(':') {
        None => name,
        Some(("", _)) => return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".into()],
        Some((prefix, own)) if !prefix.contains('/') => own,
        Some((prefix, _)) => {
            let (signer, prefix) = (prefix.replace(':', "/"), prefix.replace('/', ":"));
            let message = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}:");
            return vec![message.into()];
        }
    };
    NameRule::Dns1123Subdomain.check(own, false)
}
