//! Trust bundles.

use std::collections::BTreeMap;

use machinery::field_path::Path;
use machinery::format::{Messages, NameRule};
use machinery::hooks::Validation;
use meta::{validate_object_names, validate_whole_object_meta_update};
use x509::{Block, Certificate};

use super::CERTIFICATE;
use crate::core::validation::signer::validate_signer_name;
use generated::certificates::v1beta1::ClusterTrustBundle;

const MAX_SIZE: usize = 1024 * 1024;
const OMITTED: &str = "<value omitted>";

/// `ValidateClusterTrustBundle`, `ValidateClusterTrustBundleUpdate`
pub fn validate_cluster_trust_bundle(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ClusterTrustBundle,
    old: Option<&ClusterTrustBundle>,
) {
    let (metadata, spec) = (path.child("metadata"), path.child("spec"));
    let (meta, signer) = (&new.metadata, &new.spec.signer_name);
    validate_object_names(v, &metadata, meta, 0, |name, prefix| refusal_of_name(name, prefix, signer));
    if !signer.is_empty() {
        validate_signer_name(v, &spec.child("signerName"), signer);
    }
    if old.is_none_or(|old| old.spec.trust_bundle != new.spec.trust_bundle) {
        validate_anchors(v, &spec.child("trustBundle"), &new.spec.trust_bundle);
    }
    if let Some(old) = old {
        validate_whole_object_meta_update(v, meta, &old.metadata);
        if old.spec.signer_name != *signer {
            v.invalid(&spec.child("signerName"), signer, "field is immutable");
        }
    }
}

/// `ValidateClusterTrustBundleName`
fn refusal_of_name(name: &str, prefix: bool, signer: &str) -> Messages {
    if signer.is_empty() {
        if name.contains(':') {
            return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".into()];
        }
        return NameRule::Dns1123Subdomain.check(name, prefix);
    }
    let beginning = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&beginning) {
        Some(rest) => NameRule::Dns1123Subdomain.check(rest, prefix),
        None => {
            let message = format!("ClusterTrustBundle for signerName {signer} must be named with prefix {beginning}");
            vec![message.into()]
        }
    }
}

/// `validateTrustBundle`: certificates of authorities, each once.
fn validate_anchors(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    if text.len() > MAX_SIZE {
        return v.too_long(path, MAX_SIZE);
    }
    let mut places = BTreeMap::<Vec<u8>, Vec<usize>>::new();
    let before = v.errors.len();
    for (index, block) in x509::blocks(text).enumerate() {
        match refusal_of_anchor(&block) {
            Some(why) => v.invalid(path, OMITTED, format!("entry {index} {why}")),
            None => places.entry(block.bytes).or_default().push(index),
        }
    }
    if v.errors.len() > before {
        return;
    }
    if places.is_empty() {
        v.invalid(path, OMITTED, "at least one trust anchor must be provided");
    }
    for places in places.values().filter(|places| places.len() > 1) {
        let shown: Vec<String> = places.iter().map(usize::to_string).collect();
        v.invalid(path, OMITTED, format!("duplicate trust anchor (indices [{}])", shown.join(" ")));
    }
}

fn refusal_of_anchor(block: &Block) -> Option<String> {
    if block.label != CERTIFICATE {
        return Some(format!("has bad block type: {}", block.label));
    }
    if block.has_headers {
        return Some("has PEM block headers".to_owned());
    }
    match Certificate::parse(&block.bytes) {
        Err(_) => Some("does not parse as X.509".to_owned()),
        Ok(certificate) => (!certificate.is_ca).then(|| "does not have the CA bit set".to_owned()),
    }
}
