//! Projected volumes: files from several sources in one volume.

use machinery::field_path::Path;
use machinery::format::{ANNOTATIONS_MAX_SIZE, Messages, NameRule, field};
use machinery::hooks::Validation;

use super::items::{Files, validate_downward_api_file, validate_item};
use super::options::PodOptions;
use super::paths::{validate_file_mode, validate_volume_path};
use super::signer::{is_kubernetes_signer, validate_signer_name};
use crate::core::internal::internal_value;
use generated::core::v1::{
    ClusterTrustBundleProjection, KeyToPath, LocalObjectReference, PodCertificateProjection, ProjectedVolumeSource,
    ServiceAccountTokenProjection, VolumeProjection,
};
use meta::{SelectorOptions, validate_label_selector_with};

const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// Seconds that certificates for pods may last: in general, and those of Kubernetes' own signers.
const MAX_EXPIRATION: i32 = 91 * 24 * 3600;
const KUBERNETES_MAX_EXPIRATION: i32 = 24 * 3600;

/// `validateProjectedVolumeSource`
pub(super) fn validate_projected(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ProjectedVolumeSource,
    options: &PodOptions,
) {
    validate_file_mode(v, &path.child("defaultMode"), source.default_mode);
    let (sources, mut files) = (path.child("sources"), Files::default());
    for (index, source) in source.sources.iter().enumerate() {
        Projection { volume: path, path: &sources.index(index), options }.validate(v, source, &mut files);
    }
}

/// One source. Some of its errors are reported at the volume, as upstream does.
struct Projection<'p> {
    volume: &'p Path<'p>,
    path: &'p Path<'p>,
    options: &'p PodOptions,
}

impl Projection<'_> {
    fn validate<'a>(&self, v: &mut Validation<'_>, source: &'a VolumeProjection, files: &mut Files<'a>) {
        let mut count = 0;
        if let Some(secret) = source.secret.as_deref() {
            count += 1;
            self.items(v, &self.path.child("secret"), &secret.local_object_reference, &secret.items, files);
        }
        if let Some(map) = source.config_map.as_deref() {
            count += 1;
            self.items(v, &self.path.child("configMap"), &map.local_object_reference, &map.items, files);
        }
        if let Some(fields) = source.downward_api.as_deref() {
            count += 1;
            for file in &fields.items {
                validate_downward_api_file(v, &self.path.child("downwardAPI"), file);
                if !file.path.is_empty() {
                    files.add(v, self.volume, &file.path, &file.path);
                }
            }
        }
        if let Some(token) = source.service_account_token.as_deref() {
            count += 1;
            self.token(v, &self.path.child("serviceAccountToken"), token);
        }
        if let Some(bundle) = source.cluster_trust_bundle.as_deref() {
            count += 1;
            validate_trust_bundle(v, &self.path.child("clusterTrustBundle"), bundle);
            files.add(v, self.volume, &bundle.path, &bundle.path);
        }
        if let Some(certificate) = source.pod_certificate.as_deref() {
            count += 1;
            self.certificate(v, &self.path.child("podCertificate"), certificate, files);
        }
        if count > 1 {
            v.forbidden(self.path, "may not specify more than 1 volume type per source");
        }
    }

    fn items<'a>(
        &self,
        v: &mut Validation<'_>,
        path: &Path<'_>,
        object: &LocalObjectReference,
        items: &'a [KeyToPath],
        files: &mut Files<'a>,
    ) {
        v.filled(&path.child("name"), &object.name);
        let list = path.child("items");
        for (index, item) in items.iter().enumerate() {
            validate_item(v, &list.index(index), item);
            if !item.path.is_empty() {
                files.add(v, self.volume, &item.path, &object.name);
            }
        }
    }

    fn token(&self, v: &mut Validation<'_>, path: &Path<'_>, token: &ServiceAccountTokenProjection) {
        let seconds = token.expiration_seconds.unwrap_or_default();
        if seconds < 10 * 60 {
            v.invalid(&path.child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds > 1 << 32 {
            v.invalid(&path.child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds");
        }
        if token.path.is_empty() {
            v.required(&self.volume.child("path"), "");
        } else if !self.options.allow_any_token_path {
            validate_volume_path(v, &self.volume.child("path"), &token.path);
        }
    }

    fn certificate<'a>(
        &self,
        v: &mut Validation<'_>,
        path: &Path<'_>,
        certificate: &'a PodCertificateProjection,
        files: &mut Files<'a>,
    ) {
        validate_signer_name(v, &path.child("signerName"), &certificate.signer_name);
        validate_user_annotations(v, &path.child("userAnnotations"), certificate);
        if !KEY_TYPES.contains(&certificate.key_type.as_str()) {
            v.not_supported(&path.child("keyType"), &certificate.key_type, &KEY_TYPES);
        }
        if let Some(seconds) = certificate.max_expiration_seconds {
            let kubernetes = is_kubernetes_signer(&certificate.signer_name);
            let max = if kubernetes { KUBERNETES_MAX_EXPIRATION } else { MAX_EXPIRATION };
            validate_expiration(v, &path.child("maxExpirationSeconds"), seconds, max);
        }
        let paths = [
            ("credentialBundlePath", &certificate.credential_bundle_path),
            ("keyPath", &certificate.key_path),
            ("certificateChainPath", &certificate.certificate_chain_path),
        ];
        for (field, file) in paths.into_iter().filter(|(_, file)| !file.is_empty()) {
            validate_volume_path(v, &path.child(field), file);
            files.add(v, self.volume, file, file);
        }
        if paths.iter().all(|(_, file)| file.is_empty()) {
            v.required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
        }
    }
}

/// `ValidateUserAnnotations`
fn validate_user_annotations(v: &mut Validation<'_>, path: &Path<'_>, certificate: &PodCertificateProjection) {
    for key in certificate.user_annotations.keys() {
        v.errors.extend(field::domain_prefixed_key(path, &key.to_lowercase()));
    }
    let size: usize = certificate.user_annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX_SIZE {
        v.too_long(path, ANNOTATIONS_MAX_SIZE);
    }
}

fn validate_expiration(v: &mut Validation<'_>, path: &Path<'_>, seconds: i32, max: i32) {
    if seconds < 3600 {
        v.invalid(path, seconds, "if provided, maxExpirationSeconds must be >= 3600");
    }
    if seconds > max {
        v.invalid(path, seconds, format!("if provided, maxExpirationSeconds must be <= {max}"));
    }
}

fn validate_trust_bundle(v: &mut Validation<'_>, path: &Path<'_>, bundle: &ClusterTrustBundleProjection) {
    match (&bundle.name, &bundle.signer_name) {
        (Some(_), Some(_)) => {
            v.invalid(path, internal_value(bundle), "only one of name and signerName may be used");
        }
        (Some(name), None) => {
            if name.is_empty() {
                v.required(&path.child("name"), "must be a valid object name");
            }
            for message in check_trust_bundle_name(name) {
                v.invalid(&path.child("name"), name, format!("not a valid clustertrustbundlename: {message}"));
            }
            if let Some(selector) = bundle.label_selector.as_deref() {
                let value = internal_value(selector);
                v.invalid(&path.child("labelSelector"), value, "labelSelector must be unset if name is specified");
            }
        }
        (None, Some(signer)) => {
            if signer.is_empty() {
                v.required(&path.child("signerName"), "must be a valid signer name");
            }
            validate_signer_name(v, &path.child("signerName"), signer);
            if let Some(selector) = bundle.label_selector.as_deref() {
                let path = path.child("labelSelector");
                validate_label_selector_with(v, &path, selector, SelectorOptions::default());
            }
        }
        (None, None) => v.required(path, "either name or signerName must be specified"),
    }
    v.filled(&path.child("path"), &bundle.path);
    validate_volume_path(v, &path.child("path"), &bundle.path);
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
