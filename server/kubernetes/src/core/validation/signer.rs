//! Names of signers of certificates.

/// Whether a signer is one of Kubernetes' own.
pub fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split_once('/').map_or(name, |(host, _)| host);
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}
