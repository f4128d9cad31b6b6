//! The configuration of `PodSecurity`.

/// Levels where namespaces ask for none, and what no level is about.
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct PodSecurityConfiguration {
    /// Levels of namespaces without labels.
    #[field(json_only)]
    pub defaults: PodSecurityDefaults,

    /// What is let pass whatever the level is.
    #[field(json_only)]
    pub exemptions: PodSecurityExemptions,
}

/// A level for each mode, and the release whose rules it has; `privileged` and `latest` unless said.
#[proto(none)]
pub struct PodSecurityDefaults {
    /// The level that refuses pods.
    #[field(json_only)]
    pub enforce: String,

    /// The release of that level: `latest` or `v1.x`.
    #[field(json_only, json = "enforce-version")]
    pub enforce_version: String,

    /// The level whose violations the audit log shows.
    #[field(json_only)]
    pub audit: String,

    /// The release of that level.
    #[field(json_only, json = "audit-version")]
    pub audit_version: String,

    /// The level whose violations writers are warned of.
    #[field(json_only)]
    pub warn: String,

    /// The release of that level.
    #[field(json_only, json = "warn-version")]
    pub warn_version: String,
}

/// What is let pass.
#[proto(none)]
pub struct PodSecurityExemptions {
    /// Users whose requests are not looked at.
    #[field(json_only, list = atomic)]
    pub usernames: Vec<String>,

    /// Namespaces in which nothing is looked at.
    #[field(json_only, list = atomic)]
    pub namespaces: Vec<String>,

    /// Runtime classes whose pods are not looked at.
    #[field(json_only, list = atomic)]
    pub runtime_classes: Vec<String>,
}
