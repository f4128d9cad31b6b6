//! Flags of admission plugins (upstream: `kubeapiserver/options/admission.go`).

use std::path::PathBuf;

use crate::error::FlagError;
use crate::plugins::PLUGINS;
use crate::values::FlagValues;

/// The deprecated flag with the list of active plugins.
const ONLY: &str = "admission-control";

/// Admission plugins by name, besides the defaults of [`PLUGINS`].
#[derive(Clone, Debug, Default)]
pub struct AdmissionOptions {
    pub enabled: Vec<String>,
    pub disabled: Vec<String>,
    /// An AdmissionConfiguration file: the configuration of plugins.
    pub config_file: Option<PathBuf>,
    /// The default toleration seconds of pods for nodes that are not ready, and for unreachable
    /// ones.
    pub not_ready_seconds: i64,
    pub unreachable_seconds: i64,
}

impl AdmissionOptions {
    /// Whether a plugin is active.
    pub fn runs(&self, plugin: &str) -> bool {
        let default = PLUGINS.iter().any(|(name, on)| *on && *name == plugin);
        let named = |names: &[String]| names.iter().any(|name| name == plugin);
        named(&self.enabled) || (default && !named(&self.disabled))
    }
}

impl FlagValues {
    pub(super) fn admission(&self) -> Result<AdmissionOptions, FlagError> {
        let names = |flag: &str| -> Result<Vec<String>, FlagError> {
            let known = |name: &&str| PLUGINS.iter().any(|(plugin, _)| plugin == name);
            match self.list(flag).iter().find(|name| !known(name)) {
                Some(name) => Err(FlagError::UnknownPlugin { flag: flag.to_owned(), plugin: (*name).to_owned() }),
                None => Ok(self.list(flag).into_iter().map(String::from).collect()),
            }
        };
        let admission = AdmissionOptions {
            enabled: names("enable-admission-plugins")?,
            disabled: names("disable-admission-plugins")?,
            config_file: self.path("admission-control-config-file"),
            not_ready_seconds: self.number("default-not-ready-toleration-seconds")?,
            unreachable_seconds: self.number("default-unreachable-toleration-seconds")?,
        };
        if self.is_given(ONLY) {
            return self.only_plugins(admission, names(ONLY)?);
        }
        match admission.enabled.iter().find(|name| admission.disabled.contains(name)) {
            Some(both) => Err(FlagError::PluginOverlap { plugin: both.clone() }),
            None => Ok(admission),
        }
    }

    /// Enables these plugins and disables all others.
    fn only_plugins(&self, others: AdmissionOptions, enabled: Vec<String>) -> Result<AdmissionOptions, FlagError> {
        if self.is_given("enable-admission-plugins") || self.is_given("disable-admission-plugins") {
            return Err(FlagError::AdmissionControl);
        }
        let rest = PLUGINS.iter().map(|(name, _)| (*name).to_owned()).filter(|name| !enabled.contains(name));
        Ok(AdmissionOptions { disabled: rest.collect(), enabled, ..others })
    }
}
