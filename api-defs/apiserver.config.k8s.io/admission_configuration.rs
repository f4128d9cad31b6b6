//! What admission plugins are told by a file.

/// What admission plugins are configured with (`--admission-control-config-file`).
#[kind]
#[versions(v1, v1alpha1)]
#[proto(none)]
pub struct AdmissionConfiguration {
    /// Plugins that are told something, each by its name.
    #[field(json_only, list = atomic)]
    pub plugins: Vec<AdmissionPluginConfiguration>,
}

/// What one plugin is told: the document here, or the one in a file.
#[proto(none)]
pub struct AdmissionPluginConfiguration {
    /// The plugin's name.
    #[field(json_only, required)]
    pub name: String,

    /// A file that holds the document; relative to the one that this stands in.
    #[field(json_only)]
    pub path: String,

    /// The document itself, which counts before the file.
    #[field(json_only)]
    pub configuration: Option<RawExtension>,
}
