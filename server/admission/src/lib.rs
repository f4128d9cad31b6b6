//! Admission plugins of Kubernetes, in upstream's order.

mod always_pull_images;
mod bound_pods;
mod certificates;
mod classes;
mod configuration;
mod error;
mod errors;
mod event_rate_limit;
mod hints;
mod image_policy;
mod limit_ranger;
mod lookup;
mod metrics;
mod namespaces;
mod node_restriction;
mod nodes;
mod owners;
mod plugins;
mod pod_security;
mod pods;
mod policies;
mod priority;
mod quota;
mod reinvocation;
mod runtime_class;
mod service_account;
mod services;
mod step;
mod storage;
#[cfg(test)]
mod testing;
mod toleration_restriction;
mod tolerations;
mod webhooks;
mod workloads;

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use authz::Authorizer;
use endpoints::{Admission, AdmissionAttributes, Discovery, Operation, ServerContext};
use machinery::catalog::Catalog;
use machinery::features::{self, FeatureGates};
use machinery::reflect::Owned;
use machinery::status::Status;
use options::{AdmissionOptions, Options, PLUGINS};
use registry::Stores;
use serde_json::Value as Json;

use configuration::Configurations;
pub use error::{Error, PluginError};
use errors::{body, body_mut, forbidden, joined};
use event_rate_limit::EventRateLimit;
use image_policy::ImagePolicy;
use metrics::{Metrics, OutOfScope, Times};
use plugins::Plugin;
use policies::{Policies, PolicyContext};
pub use quota::{counted as counted_by_quota, selects as selected_by_quota, usage_of as quota_usage};
use reinvocation::Reinvocation;
use step::AdmissionStep;
use tokio::time::Instant;
use toleration_restriction::TolerationRestriction;
use webhooks::Webhooks;

/// Finalizers that protect objects in use: group and resource, plugin, finalizer.
const PROTECTION: [((&str, &str), Plugin, &str); 4] = [
    (("", "persistentvolumes"), Plugin::StorageObjectInUseProtection, "kubernetes.io/pv-protection"),
    (("", "persistentvolumeclaims"), Plugin::StorageObjectInUseProtection, "kubernetes.io/pvc-protection"),
    (
        ("storage.k8s.io", "volumeattributesclasses"),
        Plugin::StorageObjectInUseProtection,
        "kubernetes.io/vac-protection",
    ),
    (("scheduling.k8s.io", "podgroups"), Plugin::PodGroupProtection, "scheduling.k8s.io/podgroup-protection"),
];

/// Builds the enabled admission plugins.
///
/// # Errors
/// When the configuration of a plugin is invalid or missing.
pub fn build(environment: &ServerContext) -> Result<Arc<dyn Admission>, serving::Error> {
    let chain = PluginChain::new(environment).map_err(options::Error::invalid)?;
    Ok(Arc::new(chain))
}

/// The chain of enabled admission plugins, in upstream's order.
struct PluginChain {
    catalog: &'static Catalog,
    stores: Arc<Stores>,
    authorizer: Arc<dyn Authorizer>,
    discovery: Arc<Discovery>,
    options: Arc<Options>,
    plugins: Vec<Running>,
    policies: Policies,
    webhooks: Webhooks,
    plugin_configs: PluginConfigs,
    charges: Arc<quota::Charges>,
    pod_security: pod_security::PodSecurityMetrics,
    times: Times,
    out_of_scope: OutOfScope,
}

/// An enabled plugin and its timings.
struct Running {
    plugin: Plugin,
    times: Times,
}

impl Running {
    /// Records the outcome and the time since `begin`, and sets `begin` to the current time.
    fn note(&self, step: AdmissionStep, operation: Operation, begin: &mut Instant, outcome: &Result<(), Status>) {
        let now = Instant::now();
        self.times.note(step, operation, now - *begin, outcome);
        *begin = now;
    }
}

/// The configurations of plugins. Plugins that require a configuration are `None` when they are
/// disabled.
struct PluginConfigs {
    pod_security: pod_security::PodSecurityConfig,
    tolerations: TolerationRestriction,
    events: Option<EventRateLimit>,
    images: Option<ImagePolicy>,
    quotas: quota::Limited,
    webhooks: webhooks::PluginUsers,
    /// Node selectors by namespace.
    node_selectors: Json,
}

impl PluginConfigs {
    fn load(options: &AdmissionOptions) -> Result<Self, Error> {
        let configurations = Configurations::load(options.config_file.as_deref())?;
        let running = |plugin: &str| options.runs(plugin).then_some(&configurations);
        let node_selectors = configurations.read_unversioned("PodNodeSelector")?.unwrap_or_default();
        Ok(PluginConfigs {
            pod_security: pod_security::PodSecurityConfig::load(&configurations)?,
            tolerations: TolerationRestriction::load(&configurations)?,
            events: running("EventRateLimit").map(EventRateLimit::load).transpose()?,
            images: running("ImagePolicyWebhook").map(ImagePolicy::load).transpose()?,
            quotas: quota::Limited::load(&configurations)?,
            webhooks: webhooks::PluginUsers::load(&configurations)?,
            node_selectors: node_selectors["podNodeSelectorPluginConfig"].clone(),
        })
    }
}

impl PluginChain {
    fn new(environment: &ServerContext) -> Result<Self, Error> {
        let options = &environment.options.admission;
        let mut plugin_configs = PluginConfigs::load(options)?;
        let registry = environment.metrics.registry();
        let (metrics, pod_security) =
            (Metrics::register(registry), pod_security::PodSecurityMetrics::register(registry));
        let running = PLUGINS.iter().filter(|(name, _)| options.runs(name)).filter_map(|(name, _)| Plugin::named(name));
        let plugins = running.map(|plugin| Running { plugin, times: metrics.of_plugin(plugin) }).collect();
        let (times, out_of_scope) = (metrics.of_steps(), metrics.out_of_scope());
        let context = Arc::new(PolicyContext {
            catalog: environment.catalog,
            stores: environment.stores.clone(),
            authorizer: environment.access.authorizer.clone(),
            custom: environment.custom.clone(),
        });
        let policies = Policies::start(context.clone(), &environment.informers, metrics.clone());
        let users = std::mem::take(&mut plugin_configs.webhooks);
        let connections = (&*environment.informers, environment.services.clone());
        let webhooks = Webhooks::start(context, connections, users, metrics);
        let charges = Arc::default();
        Ok(PluginChain {
            catalog: environment.catalog,
            stores: environment.stores.clone(),
            authorizer: environment.access.authorizer.clone(),
            discovery: environment.discovery.clone(),
            options: environment.options.clone(),
            plugins,
            policies,
            webhooks,
            plugin_configs,
            charges,
            pod_security,
            times,
            out_of_scope,
        })
    }

    /// Returns the plugins that handle a step of an operation.
    fn plugins_for(&self, step: AdmissionStep, operation: Operation) -> impl Iterator<Item = &Running> {
        let plugins = Plugin::all_of(step, operation);
        self.plugins.iter().filter(move |running| plugins.contains(running.plugin))
    }

    /// Runs the mutating plugins, and reinvokes those that request reinvocation if later plugins
    /// changed the object.
    async fn rounds(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let mut rounds = Reinvocation::default();
        self.round(attributes, object, old, &mut rounds).await?;
        if rounds.wanted {
            rounds.begin_reinvocation();
            self.round(attributes, object, old, &mut rounds).await?;
        }
        Ok(())
    }

    /// Runs the mutating plugins in order.
    async fn round(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        let (mut begin, in_scope) = (Instant::now(), Plugin::all_with_scope_of(attributes));
        let mut skipped = self.out_of_scope.begin(AdmissionStep::Admit, attributes.operation);
        for running in self.plugins_for(AdmissionStep::Admit, attributes.operation) {
            if !in_scope.contains(running.plugin) {
                skipped.add(running.plugin);
                continue;
            }
            // The future is pinned in place, because moving it would copy kilobytes.
            let outcome = pin!(self.mutate(running.plugin, attributes, object, old, rounds)).await;
            running.note(AdmissionStep::Admit, attributes.operation, &mut begin, &outcome);
            outcome?;
        }
        Ok(())
    }

    /// Runs the validating plugins in order on an object before it is stored or removed.
    async fn validate_all(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let (mut begin, in_scope) = (Instant::now(), Plugin::all_with_scope_of(attributes));
        let mut skipped = self.out_of_scope.begin(AdmissionStep::Validate, attributes.operation);
        for running in self.plugins_for(AdmissionStep::Validate, attributes.operation) {
            if !in_scope.contains(running.plugin) {
                skipped.add(running.plugin);
                continue;
            }
            let outcome = pin!(self.validate_one(running.plugin, attributes, object, old)).await;
            running.note(AdmissionStep::Validate, attributes.operation, &mut begin, &outcome);
            outcome?;
        }
        Ok(())
    }

    /// Runs the mutating plugins on a removal. They cannot change the object, but can reject the
    /// request.
    async fn admit_removal(&self, attributes: &AdmissionAttributes, old: Option<&Owned>) -> Result<(), Status> {
        for running in &self.plugins {
            let begin = Instant::now();
            let outcome = match running.plugin {
                Plugin::NamespaceLifecycle => namespaces::validate_delete(attributes),
                Plugin::NodeRestriction => {
                    node_restriction::admit(self.node_restriction(), attributes, None, old).await
                }
                Plugin::MutatingAdmissionWebhook => {
                    let mut rounds = Reinvocation::default();
                    pin!(self.webhooks.mutate(attributes, None, old, &mut rounds)).await
                }
                _ => continue,
            };
            running.times.note(AdmissionStep::Admit, attributes.operation, begin.elapsed(), &outcome);
            outcome?;
        }
        Ok(())
    }

    /// Runs one validating plugin on an object before it is stored or removed.
    async fn validate_one(
        &self,
        plugin: Plugin,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        match plugin {
            Plugin::NamespaceExists => namespaces::check_exists(&self.stores, attributes).await?,
            Plugin::AlwaysDeny => return Err(deny(attributes)),
            Plugin::ValidatingAdmissionPolicy => self.policies.validate(attributes, object, old).await?,
            Plugin::ValidatingAdmissionWebhook => self.webhooks.validate(attributes, object, old).await?,
            _ => {}
        }
        match object {
            Some(object) => self.validate_object(plugin, attributes, object, old).await,
            None => Ok(()),
        }
    }

    /// Runs one mutating plugin on an object.
    async fn mutate(
        &self,
        plugin: Plugin,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        let stores = &*self.stores;
        match plugin {
            Plugin::NamespaceAutoProvision => {
                namespaces::auto_provision(self.catalog, stores, &self.options.features, attributes).await
            }
            Plugin::NamespaceLifecycle => {
                let outcome = namespaces::admit(stores, attributes).await;
                outcome.inspect_err(|why| hints::missing_namespace(&self.options, attributes, why))
            }
            Plugin::NodeRestriction => {
                node_restriction::admit(self.node_restriction(), attributes, Some(object), old).await
            }
            Plugin::AlwaysDeny => Err(deny(attributes)),
            Plugin::MutatingAdmissionPolicy => self.policies.mutate(attributes, object, old, rounds).await,
            Plugin::MutatingAdmissionWebhook => self.webhooks.mutate(attributes, Some(object), old, rounds).await,
            Plugin::PodTopologyLabels => pods::topology_labels(stores, attributes, object).await,
            Plugin::AlwaysPullImages => always_pull_images::admit(attributes, object, old),
            Plugin::LimitRanger => limit_ranger::admit(stores, attributes, object).await,
            Plugin::ServiceAccount => service_account::admit(&self.options, stores, attributes, object).await,
            Plugin::PodNodeSelector => {
                pods::node_selector(stores, &self.plugin_configs.node_selectors, attributes, object).await
            }
            Plugin::Priority => priority::admit((stores, &*self.options.features), attributes, object, old).await,
            Plugin::DefaultTolerationSeconds => {
                tolerations::admit(&self.options.admission, object);
                Ok(())
            }
            Plugin::PodTolerationRestriction => self.plugin_configs.tolerations.admit(stores, attributes, object).await,
            Plugin::ExtendedResourceToleration => {
                pods::tolerate_extended_resources(object);
                Ok(())
            }
            Plugin::RuntimeClass => runtime_class::admit(stores, attributes, object).await,
            _ => self.complete(plugin, attributes, object).await,
        }
    }

    /// Runs one plugin that only sets fields of new objects.
    async fn complete(
        &self,
        plugin: Plugin,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
    ) -> Result<(), Status> {
        match plugin {
            Plugin::TaintNodesByCondition => nodes::taint(object),
            Plugin::DefaultStorageClass => storage::default_class(&self.stores, attributes, object).await?,
            Plugin::DefaultIngressClass => classes::default_ingress_class(&self.stores, attributes, object).await?,
            Plugin::StorageObjectInUseProtection | Plugin::PodGroupProtection => {
                let resource = (attributes.group, attributes.plural);
                let protection = PROTECTION.iter().find(|(of, by, _)| *of == resource && *by == plugin);
                if let Some((.., finalizer)) = protection {
                    storage::protect(object, finalizer);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the validation of one plugin on an object before it is stored.
    async fn validate_object(
        &self,
        plugin: Plugin,
        attributes: &AdmissionAttributes,
        object: &Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let (stores, authorizer) = (&*self.stores, &*self.authorizer);
        let certificates = certificates::CertificateWrite { authorizer, attributes, object, old };
        match plugin {
            Plugin::LimitPodHardAntiAffinityTopology => pods::check_anti_affinity(attributes, object),
            Plugin::AlwaysPullImages => always_pull_images::validate(attributes, object, old),
            Plugin::ServiceAccount => service_account::validate(&self.options, stores, attributes, object, old).await,
            Plugin::PodNodeSelector => {
                pods::check_node_selector(stores, &self.plugin_configs.node_selectors, attributes, object).await
            }
            Plugin::Priority => priority::validate(stores, attributes, object).await,
            Plugin::RuntimeClass => runtime_class::validate(stores, attributes, object).await,
            Plugin::LimitRanger => limit_ranger::validate(stores, attributes, object, old).await,
            Plugin::PodSecurity => {
                let configured = (&self.plugin_configs.pod_security, &self.pod_security);
                pod_security::validate(configured, stores, attributes, object, old).await
            }
            Plugin::PodTolerationRestriction => {
                self.plugin_configs.tolerations.validate(stores, attributes, object).await
            }
            Plugin::EventRateLimit => {
                self.plugin_configs.events.as_ref().map_or(Ok(()), |events| events.validate(attributes, object))
            }
            Plugin::ImagePolicyWebhook => match &self.plugin_configs.images {
                Some(images) => images.validate(attributes, object).await,
                None => Ok(()),
            },
            Plugin::PersistentVolumeClaimResize => storage::check_resize(stores, attributes, object, old).await,
            Plugin::CertificateApproval => certificates.approval().await,
            Plugin::CertificateSigning => certificates.signing().await,
            Plugin::ClusterTrustBundleAttest => certificates.attestation().await,
            Plugin::CertificateSubjectRestriction => certificates.subject(),
            Plugin::DenyServiceExternalIPs => services::deny_external_ips(attributes, object, old),
            Plugin::OwnerReferencesPermissionEnforcement => {
                owners::check((authorizer, &self.discovery), attributes, object, old).await
            }
            Plugin::PodGroupWorkloadExists if self.is_enabled(features::GenericWorkload) => {
                workloads::check_template(stores, attributes, object).await
            }
            Plugin::NodeDeclaredFeatureValidator if self.is_enabled(features::NodeDeclaredFeatures) => {
                bound_pods::check_features(stores, attributes, object, old).await
            }
            Plugin::JobValidation
                if self.is_enabled(features::GenericWorkload) || self.is_enabled(features::WorkloadWithJob) =>
            {
                workloads::check_job(stores, attributes, object, old).await
            }
            Plugin::PodResizeValidator => bound_pods::check_resize(stores, attributes, object, old).await,
            Plugin::ResourceQuota => {
                let counted = (&self.charges, &self.plugin_configs.quotas);
                quota::validate(stores, counted, attributes, object, old).await
            }
            _ => Ok(()),
        }
    }

    fn is_enabled(&self, gate: &str) -> bool {
        self.options.features.enabled(gate)
    }

    /// Returns the parts of the server that `NodeRestriction` uses.
    fn node_restriction(&self) -> (&Stores, &dyn Authorizer, &FeatureGates) {
        (&self.stores, &*self.authorizer, &self.options.features)
    }
}

#[async_trait]
impl Admission for PluginChain {
    async fn admit(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        if (attributes.kind.group, attributes.plural) == ("certificates.k8s.io", "certificatesigningrequests")
            && attributes.operation == Operation::Create
        {
            certificates::record_requester(attributes, object);
        }
        let begin = Instant::now();
        let outcome = pin!(self.rounds(attributes, object, old)).await;
        self.times.note(AdmissionStep::Admit, attributes.operation, begin.elapsed(), &outcome);
        outcome
    }

    async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let operation = attributes.operation;
        if operation == Operation::Delete {
            let begin = Instant::now();
            let outcome = pin!(self.admit_removal(attributes, old)).await;
            self.times.note(AdmissionStep::Admit, operation, begin.elapsed(), &outcome);
            outcome?;
        }
        if operation == Operation::Delete {
            priority::validate_delete(attributes)?;
        }
        let begin = Instant::now();
        let outcome = pin!(self.validate_all(attributes, object, old)).await;
        self.times.note(AdmissionStep::Validate, operation, begin.elapsed(), &outcome);
        outcome
    }
}

/// The error of `AlwaysDeny`.
fn deny(attributes: &AdmissionAttributes) -> Status {
    forbidden(attributes, "admission control is denying all modifications")
}
