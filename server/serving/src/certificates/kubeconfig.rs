//! The kubeconfig of the administrator.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Formats a kubeconfig with embedded certificates. The names and addresses need no YAML quotes.
pub(super) fn text(server: &str, ca: &[u8], user: &str, certificate: &[u8], key: &[u8]) -> String {
    let [ca, certificate, key] = [ca, certificate, key].map(|pem| STANDARD.encode(pem));
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster:
    server: {server}
    certificate-authority-data: {ca}
users:
- name: {user}
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: {user}@kubernetes
  context:
    cluster: kubernetes
    user: {user}
current-context: {user}@kubernetes
"
    )
}
