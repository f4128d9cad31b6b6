//! Configuration of the admission plugin `PodSecurity`.

/// Default levels of namespaces, and exemptions from all levels.
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct PodSecurityConfiguration {
    /// Levels for namespaces without labels.
    #[field(json_only)]
    pub defaults: PodSecurityDefaults,

    /// Requests that are exempt from all levels.
    #[field(json_only)]
    pub exemptions: PodSecurityExemptions,
}

/// Level and policy version of each mode; default to `privileged` and `latest`.
#[proto(none)]
pub struct PodSecurityDefaults {
    /// Level whose violations are rejected.
    #[field(json_only)]
    pub enforce: String,

    /// Policy version of the enforced level: `latest` or `v1.x`.
    #[field(json_only, json = "enforce-version")]
    pub enforce_version: String,

    /// Level whose violations are recorded in the audit log.
    #[field(json_only)]
    pub audit: String,

    /// The release of that level.
    #[field(json_only, json = "audit-version")]
    pub audit_version: String,

    /// Level whose violations return a warning to the client.
    #[field(json_only)]
    pub warn: String,

    /// The release of that level.
    #[field(json_only, json = "warn-version")]
    pub warn_version: String,
}

/// Exemptions from all levels.
#[proto(none)]
pub struct PodSecurityExemptions {
    /// Users whose requests are exempt.
    #[field(json_only, list = atomic)]
    pub usernames: Vec<String>,

    /// Namespaces that are exempt.
    #[field(json_only, list = atomic)]
    pub namespaces: Vec<String>,

    /// Runtime classes whose pods are exempt.
    #[field(json_only, list = atomic)]
    pub runtime_classes: Vec<String>,
}
