//! A configuration in use: what it makes of each resource, and the plugins behind it (upstream: `LoadEncryptionConfig`).

use std::sync::Arc;

use crate::config::EncryptionConfiguration;
use crate::failure::Failure;
use crate::kms::Plugin;
use crate::metrics::Metrics;
use crate::prefixed::{Choice, Prefixed};
use crate::providers::Providers;
use crate::resources::{GroupResource, Rules};
use crate::transformer::Transformer;

/// See the module.
pub(crate) struct Loaded {
    pub rules: Rules,
    plugins: Vec<Arc<Plugin>>,
    /// Of the file, by which changes of it are seen; empty without one.
    pub hash: String,
}

impl Loaded {
    /// No configuration: nothing is encrypted.
    pub fn nothing() -> Self {
        Loaded { rules: Rules::new([]), plugins: Vec::new(), hash: String::new() }
    }

    /// Makes of a configuration what it says. Needs a tokio runtime.
    pub fn new(config: &EncryptionConfiguration, hash: String, metrics: &Metrics) -> Result<Self, String> {
        let mut providers = Providers::new(metrics);
        let mut lists: Vec<(GroupResource, Vec<Choice>)> = Vec::new();
        for resource in &config.resources {
            let choices = providers.choices(&resource.providers)?;
            for name in &resource.resources {
                let of = GroupResource::parse(name);
                if let Some(wider) = lists.iter().map(|(known, _)| known).find(|known| known.masks(&of)) {
                    return Err(format!("resource {:?} is masked by earlier rule {:?}", of.text(), wider.text()));
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
        Ok(Loaded { rules: Rules::new(rules), plugins: providers.plugins, hash })
    }

    /// Looks at all plugins once, and then now and then for as long as the configuration is in use. That one is not well is no failure: it
    /// may be started later than this server.
    pub async fn start(&self) {
        self.look().await;
        for plugin in &self.plugins {
            tokio::spawn(Plugin::watch(Arc::downgrade(plugin)));
        }
    }

    /// Looks at all plugins now.
    pub async fn look(&self) {
        for plugin in &self.plugins {
            plugin.look().await;
        }
    }

    /// Whether there are plugins.
    pub fn has_plugins(&self) -> bool {
        !self.plugins.is_empty()
    }

    /// Whether all plugins are well.
    pub fn health(&self) -> Result<(), String> {
        let failures = self.plugins.iter().enumerate().filter_map(|(i, plugin)| {
            plugin.health().err().map(|why| Failure::new(format!("kms-provider-{i}: {why}")))
        });
        Failure::aggregate(failures.collect()).map_or(Ok(()), |why| Err(why.to_string()))
    }
}
