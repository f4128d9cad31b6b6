//! What `PodSecurity` is configured with: levels of namespaces that ask for none, and what no level is about.

use std::collections::{BTreeMap, HashSet};

use generated::podsecurity::v1::{PodSecurityConfiguration, PodSecurityExemptions};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
use machinery::json_name;

use super::policy::{Level, LevelVersion, MODES, Policy, parse_level, parse_version};
use crate::admission::configuration::{Configurations, refused};

const PLUGIN: &str = "PodSecurity";
const GROUP: &str = "pod-security.admission.config.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The configuration, read.
pub struct Configured {
    pub defaults: Policy,
    exemptions: PodSecurityExemptions,
}

impl Configured {
    /// By its document, if there is one.
    pub fn load(configurations: &Configurations) -> Result<Self, String> {
        let said =
            configurations.read::<PodSecurityConfiguration>(PLUGIN, GROUP, &VERSIONS, "PodSecurityConfiguration")?;
        let PodSecurityConfiguration { defaults, exemptions, .. } = said.unwrap_or_default();
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
            LevelVersion { level: found.0.unwrap_or(Level::Restricted), version: found.1.flatten() }
        };
        let enforce = mode("enforce", &defaults.enforce, "enforce-version", &defaults.enforce_version);
        let warn = mode("warn", &defaults.warn, "warn-version", &defaults.warn_version);
        let audit = mode("audit", &defaults.audit, "audit-version", &defaults.audit_version);
        errors.extend(mistakes(&exemptions));
        refused(PLUGIN, &errors)?;
        Ok(Configured { defaults: Policy { enforce, audit, warn }, exemptions })
    }

    /// Whether nothing in a namespace is looked at.
    pub fn exempts_namespace(&self, name: &str) -> bool {
        !name.is_empty() && self.exemptions.namespaces.iter().any(|exempt| exempt == name)
    }

    /// Whether requests of a user are not looked at.
    pub fn exempts_user(&self, name: &str) -> bool {
        !name.is_empty() && self.exemptions.usernames.iter().any(|exempt| exempt == name)
    }

    /// Whether pods of a runtime class are not looked at.
    pub fn exempts_runtime_class(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| !name.is_empty() && self.exemptions.runtime_classes.iter().any(|exempt| exempt == name))
    }

    /// What is said to who labels a namespace in which nothing is looked at.
    pub fn warning(&self, name: &str, policy: &Policy, labels: &BTreeMap<String, String>) -> Option<String> {
        let modes = [("enforce", policy.enforce), ("audit", policy.audit), ("warn", policy.warn)];
        if modes.iter().all(|(_, mode)| mode.level == Level::Privileged) || *policy == self.defaults {
            return None;
        }
        let is_said = |(level, version): (&str, &str)| labels.contains_key(level) || labels.contains_key(version);
        let said =
            modes.iter().zip(MODES).filter(|((_, mode), labels)| mode.level != Level::Privileged && is_said(*labels));
        let said: Vec<String> = said.map(|((name, mode), _)| format!("{name}={mode}")).collect();
        let said = said.join(", ");
        Some(format!("namespace {name:?} is exempt from Pod Security, and the policy ({said}) will be ignored"))
    }
}

fn or<'t>(said: &'t str, default: &'t str) -> &'t str {
    if said.is_empty() { default } else { said }
}

fn mistakes(exemptions: &PodSecurityExemptions) -> Vec<FieldError> {
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
