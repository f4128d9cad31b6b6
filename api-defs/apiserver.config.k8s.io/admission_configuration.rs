//! Configuration of admission plugins.

/// Configuration of admission plugins (`--admission-control-config-file`).
#[kind]
#[versions(v1, v1alpha1)]
#[proto(none)]
pub struct AdmissionConfiguration {
    /// Plugins with a configuration, each listed once.
    #[field(json_only, list = atomic)]
    pub plugins: Vec<AdmissionPluginConfiguration>,
}

/// Configuration of one plugin: an inline document, or a file.
#[proto(none)]
pub struct AdmissionPluginConfiguration {
    /// Name of the plugin.
    #[field(json_only, required)]
    pub name: String,

    /// File with the plugin's configuration; relative paths start at the folder of this file.
    #[field(json_only)]
    pub path: String,

    /// Inline configuration of the plugin; takes precedence over `path`.
    #[field(json_only)]
    pub configuration: Option<RawExtension>,
}
