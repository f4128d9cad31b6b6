//! Who this server is to admission webhooks: the configuration of their plugins.

use std::path::Path as FilePath;

use apimachinery::apiserverconfig::v1::WebhookAdmissionConfiguration;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;
use webhook::Users;

use crate::admission::configuration::{Configurations, GROUP, failed, refused};

/// The users of the two plugins; none without a configuration.
#[derive(Default)]
pub struct Known {
    pub mutating: Users,
    pub validating: Users,
}

impl Known {
    /// By the configurations (upstream: `webhook/config.LoadConfig`).
    ///
    /// # Errors
    /// What is wrong with a document, or with the kubeconfig that it names.
    pub fn load(configurations: &Configurations) -> Result<Self, String> {
        Ok(Known {
            mutating: users(configurations, "MutatingAdmissionWebhook")?,
            validating: users(configurations, "ValidatingAdmissionWebhook")?,
        })
    }
}

fn users(configurations: &Configurations, plugin: &str) -> Result<Users, String> {
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
    refused(plugin, &errors)?;
    match file.is_empty() {
        true => Ok(Users::default()),
        false => Users::load(FilePath::new(&file)).map_err(|why| failed(plugin, why)),
    }
}
