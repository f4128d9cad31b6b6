//! Names of signers of certificates (`ValidateSignerName`).

use machinery::field_path::Path;
use machinery::format::{
    DNS_LABEL_MAX_LENGTH, DNS_SUBDOMAIN_MAX_LENGTH, Messages, is_dns1123_label, is_dns1123_subdomain,
};
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

/// Room for a domain, a slash, a namespace, a dot and a name.
const MAX_LENGTH: usize = 2 * DNS_SUBDOMAIN_MAX_LENGTH + DNS_LABEL_MAX_LENGTH + 2;

/// Whether a signer is one of Kubernetes' own.
pub fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}

/// A domain, a slash and a path of names with dots between them.
pub fn validate_signer_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        return v.required(path, "");
    }
    let (domain, rest) = match name.split_once('/') {
        Some((domain, rest)) if !rest.contains('/') => (domain, rest),
        _ => {
            let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
            return v.invalid(path, name, detail);
        }
    };
    if domain.len() > DNS_SUBDOMAIN_MAX_LENGTH {
        v.too_long(path, DNS_SUBDOMAIN_MAX_LENGTH);
    }
    validate_labels(v, path, domain, is_dns1123_label);
    if !domain.contains('.') {
        v.invalid(path, domain, "should be a domain with at least two segments separated by dots");
    }
    validate_labels(v, path, rest, is_dns1123_subdomain);
    if name.len() > MAX_LENGTH {
        v.too_long(path, MAX_LENGTH);
    }
}

/// Reports the first part that is malformed.
fn validate_labels(v: &mut Validation<'_>, path: &Path<'_>, name: &str, check: fn(&str) -> Messages) {
    let wrong = name.split('.').map(|label| (label, check(label))).find(|(_, messages)| !messages.is_empty());
    if let Some((label, messages)) = wrong {
        for message in messages {
            v.invalid(path, name, format!("validating label {}: {message}", quote(label)));
        }
    }
}
