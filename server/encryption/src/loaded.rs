//! A loaded configuration: the transformers of each resource, and their plugins (upstream:
//! `LoadEncryptionConfig`).

use std::sync::Arc;

use crate::config::EncryptionConfiguration;
use crate::error::Error;
use crate::kms::KmsPlugin;
use crate::metrics::Metrics;
use crate::prefixed::{PrefixTransformer, Prefixed};
use crate::providers::Providers;
use crate::resources::{GroupResource, ResourceTransformers};
use crate::transformer::Transformer;

/// A loaded configuration.
pub(crate) struct Loaded {
    pub rules: ResourceTransformers,
    plugins: Vec<Arc<KmsPlugin>>,
    /// Hash of the file, which detects changes; empty without a file.
    pub hash: String,
}

impl Loaded {
    /// Returns an empty configuration, which encrypts nothing.
    pub fn nothing() -> Self {
        Loaded { rules: ResourceTransformers::new([]), plugins: Vec::new(), hash: String::new() }
    }

    /// Builds the transformers of a configuration. Needs a tokio runtime.
    pub fn new(config: &EncryptionConfiguration, hash: String, metrics: &Metrics) -> Result<Self, Error> {
        let mut providers = Providers::new(metrics);
        let mut lists: Vec<(GroupResource, Vec<PrefixTransformer>)> = Vec::new();
        for resource in &config.resources {
            let choices = providers.choices(&resource.providers)?;
            for name in &resource.resources {
                let of = GroupResource::parse(name);
                if let Some(wider) = lists.iter().map(|(known, _)| known).find(|known| known.masks(&of)) {
                    return Err(Error::Masked { resource: of.text(), rule: wider.text() });
                }
                match lists.iter_mut().find(|(known, _)| *known == of) {
                    Some((_, list)) => list.extend(choices.iter().cloned()),
                    None => lists.push((of, choices.clone())),
                }
            }
        }
        let rules = lists.into_iter().map(|(of, choices)| {
            let transformer = Prefixed::new(choices, "no matching prefix found", metrics.clone());
            (of, Arc::new(transformer) as Arc<dyn Transformer>)
        });
        Ok(Loaded { rules: ResourceTransformers::new(rules), plugins: providers.plugins, hash })
    }

    /// Checks all plugins once, and then periodically while the configuration is in use. An unhealthy
    /// plugin is not an error, because it may be started later than this server.
    pub async fn start(&self) {
        self.check().await;
        for plugin in &self.plugins {
            tokio::spawn(KmsPlugin::watch(Arc::downgrade(plugin)));
        }
    }

    /// Checks all plugins now.
    pub async fn check(&self) {
        for plugin in &self.plugins {
            plugin.check().await;
        }
    }

    /// Returns whether there are plugins.
    pub fn has_plugins(&self) -> bool {
        !self.plugins.is_empty()
    }

    /// Checks whether all plugins are healthy.
    pub fn health(&self) -> Result<(), Error> {
        let failures = self.plugins.iter().enumerate().filter_map(|(i, plugin)| Some((i, plugin.health().err()?)));
        match failures.collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            failures => Err(Error::Unhealthy(failures)),
        }
    }
}
