//! Validation of trust bundles.

use std::collections::BTreeMap;

use machinery::field_path::Path;
use machinery::format::{Messages, NameRule};
use machinery::hooks::Validation;
use machinery::json_name;
use meta::validate_object_names;
use x509::{Block, Certificate};

use super::CERTIFICATE;
use generated::certificates::v1beta1::{ClusterTrustBundle, ClusterTrustBundleSpec};

const OMITTED: &str = "<value omitted>";

/// Validates the name. Hand-written, because the name begins with that of the signer.
pub fn validate_bundle_name(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ClusterTrustBundle,
    _: Option<&ClusterTrustBundle>,
) {
    let (path, signer) = (path.child(json_name!(ClusterTrustBundle.metadata)), &new.spec.signer_name);
    validate_object_names(v, &path, &new.metadata, 0, |name, prefix| refusal_of_name(name, prefix, signer));
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

/// Validates trust anchors. Hand-written, because CA certificates are parsed, and each may occur only
/// once (`validateTrustBundle`).
pub fn validate_anchors(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ClusterTrustBundleSpec,
    _: Option<&ClusterTrustBundleSpec>,
) {
    let path = &path.child(json_name!(ClusterTrustBundleSpec.trust_bundle));
    let mut places = BTreeMap::<Vec<u8>, Vec<usize>>::new();
    let before = v.errors.len();
    for (index, block) in x509::blocks(&new.trust_bundle).enumerate() {
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
