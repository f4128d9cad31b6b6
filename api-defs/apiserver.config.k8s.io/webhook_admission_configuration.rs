//! What the admission plugins of webhooks are told by a file.

/// How the server makes itself known to admission webhooks.
#[kind]
#[versions(v1)]
#[proto(none)]
pub struct WebhookAdmissionConfiguration {
    /// A kubeconfig whose users are named by the servers that they are for.
    #[field(json_only, required)]
    pub kube_config_file: String,

    /// A folder of configurations of webhooks.
    #[field(json_only)]
    pub static_manifests_dir: String,
}
