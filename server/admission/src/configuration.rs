//! Plugin configurations from `--admission-control-config-file` (upstream:
//! `admission.ReadAdmissionConfiguration`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use apimachinery::apiserverconfig::v1::{AdmissionConfiguration, AdmissionPluginConfiguration};
use machinery::field_error::FieldError;
use machinery::json::Issues;
use machinery::reflect::Struct;
use options::DocumentError;
use options::configuration::{self, Unknown};
use serde_json::Value as Json;

use crate::{Error, PluginError};

/// Plugins that upstream configures only with the gate `ManifestBasedAdmissionControlConfig`.
const OF_MANIFESTS: [&str; 2] = ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"];

pub const GROUP: &str = "apiserver.config.k8s.io";
const VERSIONS: [&str; 2] = ["v1", "v1alpha1"];
/// Plugins that accept a configuration. The configuration of any other plugin is ignored.
const CONFIGURED: [&str; 8] = [
    "EventRateLimit",
    "ImagePolicyWebhook",
    "MutatingAdmissionWebhook",
    "PodNodeSelector",
    "PodSecurity",
    "PodTolerationRestriction",
    "ResourceQuota",
    "ValidatingAdmissionWebhook",
];
/// Plugins with an unversioned configuration, and the key that identifies it. The whole file may be
/// one of them.
const UNVERSIONED: [(&str, &str); 2] =
    [("ImagePolicyWebhook", "imagePolicy"), ("PodNodeSelector", "podNodeSelectorPluginConfig")];

/// Configuration documents by plugin name.
#[derive(Debug, Default)]
pub struct Configurations(HashMap<String, Vec<u8>>);

impl Configurations {
    /// Reads the file of the flag. Without a file, no plugin has a configuration.
    ///
    /// # Errors
    /// When the file is unreadable or invalid.
    pub fn load(file: Option<&Path>) -> Result<Self, Error> {
        let Some(file) = file else { return Ok(Self::default()) };
        let text = std::fs::read(file).map_err(|source| Error::AdmissionFile { path: file.to_owned(), source })?;
        let parsed: Result<AdmissionConfiguration, DocumentError> =
            configuration::parse(&text, GROUP, &VERSIONS, "AdmissionConfiguration", Unknown::Refused);
        let directory = file.parent().unwrap_or(Path::new("."));
        match parsed {
            Ok(configuration) => Self::of(configuration, directory),
            Err(error) => Self::unversioned(&text).ok_or(Error::Admission(error)),
        }
    }

    fn of(configuration: AdmissionConfiguration, directory: &Path) -> Result<Self, Error> {
        let mut documents = HashMap::new();
        for plugin in configuration.plugins {
            if OF_MANIFESTS.contains(&plugin.name.as_str()) {
                return Err(failed(&plugin.name, PluginError::Manifests));
            }
            // Configurations of plugins that accept none are not read.
            if !CONFIGURED.contains(&plugin.name.as_str()) {
                continue;
            }
            let Some(document) = document(&plugin, directory)? else { continue };
            documents.entry(plugin.name).or_insert(document);
        }
        Ok(Configurations(documents))
    }

    /// Accepts a legacy file that has no `AdmissionConfiguration` kind.
    fn unversioned(text: &[u8]) -> Option<Self> {
        let whole = machinery::yaml::to_value(text, &mut Issues::ignore()).ok()?;
        UNVERSIONED.iter().any(|(_, key)| !whole[key].is_null()).then_some(())?;
        let each = UNVERSIONED.iter().map(|(plugin, _)| ((*plugin).to_owned(), text.to_vec()));
        Some(Configurations(each.collect()))
    }

    /// Returns the configuration document of a plugin.
    pub fn of_plugin(&self, plugin: &str) -> Option<&[u8]> {
        self.0.get(plugin).map(Vec::as_slice)
    }

    /// Parses the configuration of a plugin, which must have the given kind.
    ///
    /// # Errors
    /// When the configuration is malformed, or has another kind.
    pub fn read<T: Struct>(
        &self,
        plugin: &str,
        group: &str,
        versions: &[&str],
        kind: &str,
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.of_plugin(plugin) else { return Ok(None) };
        let document = configuration::parse(text, group, versions, kind, Unknown::Refused);
        document.map(Some).map_err(|error| failed(plugin, error.into()))
    }

    /// Whether the configuration of a plugin has a version of the group.
    pub fn is_of_group(&self, plugin: &str, group: &str) -> bool {
        let parsed = self.of_plugin(plugin).map(|text| machinery::yaml::to_value(text, &mut Issues::ignore()));
        let api_version =
            parsed.and_then(Result::ok).and_then(|document| document["apiVersion"].as_str().map(str::to_owned));
        api_version.is_some_and(|version| version.split_once('/').is_some_and(|(of, _)| of == group))
    }

    /// Parses an unversioned configuration as JSON.
    ///
    /// # Errors
    /// When the configuration is malformed.
    pub fn read_unversioned(&self, plugin: &str) -> Result<Option<Json>, Error> {
        let Some(text) = self.of_plugin(plugin) else { return Ok(None) };
        let document = machinery::yaml::to_value(text, &mut Issues::ignore());
        document.map(Some).map_err(|error| failed(plugin, error.into()))
    }
}

fn document(plugin: &AdmissionPluginConfiguration, directory: &Path) -> Result<Option<Vec<u8>>, Error> {
    if let Some(inline) = plugin.configuration.as_ref().filter(|inline| !inline.is_empty()) {
        return Ok(Some(inline.as_bytes().to_vec()));
    }
    if plugin.path.is_empty() {
        return Ok(None);
    }
    let path: PathBuf = directory.join(&plugin.path);
    std::fs::read(&path).map(Some).map_err(|source| Error::PluginFile { path, source })
}

/// Returns the error of a plugin with an unusable configuration.
pub fn failed(plugin: &str, source: PluginError) -> Error {
    Error::Plugin { plugin: plugin.to_owned(), source }
}

/// Returns the field errors of a plugin's configuration as one error.
///
/// # Errors
/// When there is a field error.
pub fn refused(plugin: &str, errors: Vec<FieldError>) -> Result<(), Error> {
    if errors.is_empty() { Ok(()) } else { Err(failed(plugin, PluginError::Fields(errors))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Configurations, Error> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("limits.yaml"), "limits of a file").unwrap();
        let file = folder.path().join("admission.yaml");
        std::fs::write(&file, text).unwrap();
        Configurations::load(Some(&file))
    }

    #[test]
    fn reads_inline_and_referenced_documents() {
        let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";
        let found = load(&format!(
            "{head}- {{name: EventRateLimit, path: limits.yaml}}\n- {{name: PodSecurity, path: none, configuration: {{a: 1}}}}\n"
        ));
        let found = found.unwrap();
        assert_eq!(found.of_plugin("EventRateLimit"), Some(&b"limits of a file"[..]));
        assert_eq!(found.of_plugin("PodSecurity"), Some(&br#"{"a":1}"#[..]));
        assert_eq!(found.of_plugin("Priority"), None);
        assert!(load(&format!("{head}- {{name: LimitRanger, path: none}}\n")).is_ok());
        for (text, expect) in [
            ("- {name: PodSecurity, file: x}\n", "unknown field \"plugins[0].file\""),
            ("- {name: ValidatingAdmissionPolicy, path: limits.yaml}\n", "it takes no configuration"),
            ("- {name: PodSecurity, path: none}\n", "couldn't open admission plugin configuration"),
        ] {
            let why = load(&format!("{head}{text}")).unwrap_err().to_string();
            assert!(why.contains(expect), "{why}");
        }
        assert!(load("imagePolicy: {kubeConfigFile: x}\n").unwrap().of_plugin("ImagePolicyWebhook").is_some());
        assert_eq!(load("other: 1\n").unwrap_err().to_string(), "Object 'Kind' is missing");
    }
}
