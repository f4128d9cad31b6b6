//! Credentials of this server for admission webhooks, from the plugin configurations.

use std::path::Path as FilePath;

use apimachinery::apiserverconfig::v1::WebhookAdmissionConfiguration;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;
use webhook::Users;

use crate::Error;
use crate::configuration::{Configurations, GROUP, failed, refused};

/// The credentials of both plugins; empty without a configuration.
#[derive(Default)]
pub struct PluginUsers {
    pub mutating: Users,
    pub validating: Users,
}

impl PluginUsers {
    /// Loads the configurations (upstream: `webhook/config.LoadConfig`).
    ///
    /// # Errors
    /// When a configuration or its kubeconfig is invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        Ok(PluginUsers {
            mutating: users(configurations, "MutatingAdmissionWebhook")?,
            validating: users(configurations, "ValidatingAdmissionWebhook")?,
        })
    }
}

fn users(configurations: &Configurations, plugin: &str) -> Result<Users, Error> {
    let document = configurations.read(plugin, GROUP, &["v1"], "WebhookAdmissionConfiguration")?;
    let Some(WebhookAdmissionConfiguration { kube_config_file: file, static_manifests_dir: folder, .. }) = document
    else {
        return Ok(Users::default());
    };
    let mut errors = Vec::new();
    if !file.is_empty() && !FilePath::new(&file).is_absolute() {
        errors.push(FieldError::invalid(
            &Path::new(json_name!(WebhookAdmissionConfiguration.kube_config_file)),
            file.as_str(),
            "must be an absolute file path",
        ));
    }
    if !folder.is_empty() {
        let why = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled";
        errors.push(FieldError::forbidden(
            &Path::new(json_name!(WebhookAdmissionConfiguration.static_manifests_dir)),
            why,
        ));
    }
    refused(plugin, errors)?;
    match file.is_empty() {
        true => Ok(Users::default()),
        false => Users::load(FilePath::new(&file)).map_err(|why| failed(plugin, why.into())),
    }
}
