//! Configuration of `PodSecurity`: default levels and exemptions.

use std::collections::{BTreeMap, HashSet};

use generated::podsecurity::v1::{PodSecurityConfiguration, PodSecurityExemptions};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
use machinery::json_name;

use super::policy::{LevelVersion, MODES, NamespaceLevels, PodSecurityLevel, parse_level, parse_version};
use crate::Error;
use crate::configuration::{Configurations, refused};

const PLUGIN: &str = "PodSecurity";
const GROUP: &str = "pod-security.admission.config.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The parsed configuration.
pub struct PodSecurityConfig {
    pub defaults: NamespaceLevels,
    exemptions: PodSecurityExemptions,
}

impl PodSecurityConfig {
    /// Loads the plugin's configuration, or the defaults if there is none.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        let config =
            configurations.read::<PodSecurityConfiguration>(PLUGIN, GROUP, &VERSIONS, "PodSecurityConfiguration")?;
        let PodSecurityConfiguration { defaults, exemptions, .. } = config.unwrap_or_default();
        let mut errors = Vec::new();
        let path = Path::new(json_name!(PodSecurityConfiguration.defaults));
        let mut mode = |name: &'static str, level: &str, version_name: &'static str, version: &str| {
            let (level, version) = (or(level, "privileged"), or(version, "latest"));
            let found = (parse_level(level), parse_version(version));
            if found.0.is_none() {
                let why = "must be one of privileged, baseline, restricted";
                errors.push(FieldError::invalid(&path.child(name), BadValue::json_string(level), why));
            }
            if found.1.is_none() {
                let why = "must be \"latest\" or \"v1.x\"";
                errors.push(FieldError::invalid(&path.child(version_name), BadValue::json_string(version), why));
            }
            LevelVersion { level: found.0.unwrap_or(PodSecurityLevel::Restricted), version: found.1.flatten() }
        };
        let enforce = mode("enforce", &defaults.enforce, "enforce-version", &defaults.enforce_version);
        let warn = mode("warn", &defaults.warn, "warn-version", &defaults.warn_version);
        let audit = mode("audit", &defaults.audit, "audit-version", &defaults.audit_version);
        errors.extend(validate_exemptions(&exemptions));
        refused(PLUGIN, errors)?;
        Ok(PodSecurityConfig { defaults: NamespaceLevels { enforce, audit, warn }, exemptions })
    }

    /// Whether a namespace is exempt.
    pub fn exempts_namespace(&self, name: &str) -> bool {
        !name.is_empty() && self.exemptions.namespaces.iter().any(|exempt| exempt == name)
    }

    /// Whether a user is exempt.
    pub fn exempts_user(&self, name: &str) -> bool {
        !name.is_empty() && self.exemptions.usernames.iter().any(|exempt| exempt == name)
    }

    /// Whether a runtime class is exempt.
    pub fn exempts_runtime_class(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| !name.is_empty() && self.exemptions.runtime_classes.iter().any(|exempt| exempt == name))
    }

    /// Returns the warning for level labels on an exempt namespace.
    pub fn warning(&self, name: &str, policy: &NamespaceLevels, labels: &BTreeMap<String, String>) -> Option<String> {
        let modes = [("enforce", policy.enforce), ("audit", policy.audit), ("warn", policy.warn)];
        if modes.iter().all(|(_, mode)| mode.level == PodSecurityLevel::Privileged) || *policy == self.defaults {
            return None;
        }
        let is_labelled = |(level, version): (&str, &str)| labels.contains_key(level) || labels.contains_key(version);
        let labelled = modes
            .iter()
            .zip(MODES)
            .filter(|((_, mode), labels)| mode.level != PodSecurityLevel::Privileged && is_labelled(*labels));
        let labelled: Vec<String> = labelled.map(|((name, mode), _)| format!("{name}={mode}")).collect();
        let labelled = labelled.join(", ");
        Some(format!("namespace {name:?} is exempt from Pod Security, and the policy ({labelled}) will be ignored"))
    }
}

fn or<'t>(value: &'t str, default: &'t str) -> &'t str {
    if value.is_empty() { default } else { value }
}

fn validate_exemptions(exemptions: &PodSecurityExemptions) -> Vec<FieldError> {
    let named = |text: &str| if text.is_empty() { "username must not be empty".into() } else { String::new() };
    let label = |text: &str| is_dns1123_label(text).join(", ");
    let subdomain = |text: &str| is_dns1123_subdomain(text).join(", ");
    let path = Path::new(json_name!(PodSecurityConfiguration.exemptions));
    let mut errors = Vec::new();
    errors.extend(each(&path.child(json_name!(PodSecurityExemptions.namespaces)), &exemptions.namespaces, &label));
    errors.extend(each(
        &path.child(json_name!(PodSecurityExemptions.runtime_classes)),
        &exemptions.runtime_classes,
        &subdomain,
    ));
    errors.extend(each(&path.child(json_name!(PodSecurityExemptions.usernames)), &exemptions.usernames, &named));
    errors
}

fn each(path: &Path<'_>, names: &[String], check: &dyn Fn(&str) -> String) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    let of = |(i, name): (usize, &String)| {
        let (path, value) = (path.index(i), BadValue::json_string(name));
        match check(name) {
            why if !why.is_empty() => Some(FieldError::invalid(&path, value, why)),
            _ if !seen.insert(name.clone()) => Some(FieldError::duplicate(&path, value)),
            _ => None,
        }
    };
    names.iter().enumerate().filter_map(of).collect()
}
