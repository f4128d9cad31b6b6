//! Names of signers of certificates.

use machinery::field_path::Path;
use machinery::format::field;
use machinery::hooks::Validation;

/// Whether a signer is one of Kubernetes' own.
pub fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

/// A domain, a slash and a path of names with dots between them (`ValidateSignerName`).
pub fn validate_signer_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.errors.extend(field::signer_name(path, name));
}
