//! Configuration of the webhook admission plugins.

/// Credentials for admission webhooks, and webhooks that are configured by files.
#[kind]
#[versions(v1)]
#[proto(none)]
pub struct WebhookAdmissionConfiguration {
    /// Path of a kubeconfig; each user is named after the webhook server it authenticates to.
    #[field(json_only, required)]
    pub kube_config_file: String,

    /// Folder with manifests of webhook configurations.
    #[field(json_only)]
    pub static_manifests_dir: String,
}
