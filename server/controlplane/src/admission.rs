//! Admission of the control plane, in upstream's order.

mod bound_pods;
mod certificates;
mod classes;
mod configuration;
mod event_rate_limit;
mod image_policy;
mod limit_ranger;
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
mod storage;
mod toleration_restriction;
mod tolerations;
mod webhooks;
mod workloads;

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Admission, Attributes, Environment, Operation};
use machinery::reflect::{Owned, Struct};
use machinery::status::{GroupResource, Status};
use registry::Predicate;
use serde_json::Value as Json;
use serving::options::{AdmissionOptions, PLUGINS};

use crate::rbac::escalation;
use configuration::Configurations;
use event_rate_limit::EventRateLimit;
use image_policy::ImagePolicy;
use metrics::{Metrics, Step};
use plugins::{has_a_say, is_timed};
use policies::Policies;
use reinvocation::Reinvocation;
use toleration_restriction::TolerationRestriction;
use webhooks::Webhooks;

/// What is kept until nothing uses it: group and resource, plugin, finalizer.
const PROTECTION: [((&str, &str), &str, &str); 4] = [
    (("", "persistentvolumes"), "StorageObjectInUseProtection", "kubernetes.io/pv-protection"),
    (("", "persistentvolumeclaims"), "StorageObjectInUseProtection", "kubernetes.io/pvc-protection"),
    (("storage.k8s.io", "volumeattributesclasses"), "StorageObjectInUseProtection", "kubernetes.io/vac-protection"),
    (("scheduling.k8s.io", "podgroups"), "PodGroupProtection", "scheduling.k8s.io/podgroup-protection"),
];

/// The plugin that is asked about removals although it has nothing to change.
const MUTATING_WEBHOOKS: &str = "MutatingAdmissionWebhook";

/// The plugins that run, in upstream's order.
pub struct Chain {
    environment: Arc<Environment>,
    plugins: Vec<&'static str>,
    policies: Policies,
    webhooks: Webhooks,
    told: Told,
    metrics: Metrics,
}

/// Plugins as they are configured; those that cannot do without are not there unless they run.
struct Told {
    pod_security: pod_security::Configured,
    tolerations: TolerationRestriction,
    events: Option<EventRateLimit>,
    images: Option<ImagePolicy>,
    /// Node selectors by namespace.
    node_selectors: Json,
}

impl Told {
    fn load(options: &AdmissionOptions) -> Result<Self, String> {
        let configurations = Configurations::load(options.config_file.as_deref())?;
        let running = |plugin: &str| options.runs(plugin).then_some(&configurations);
        let node_selectors = configurations.read_unversioned("PodNodeSelector")?.unwrap_or_default();
        Ok(Told {
            pod_security: pod_security::Configured::load(&configurations)?,
            tolerations: TolerationRestriction::load(&configurations)?,
            events: running("EventRateLimit").map(EventRateLimit::load).transpose()?,
            images: running("ImagePolicyWebhook").map(ImagePolicy::load).transpose()?,
            node_selectors: node_selectors["podNodeSelectorPluginConfig"].clone(),
        })
    }
}

impl Chain {
    /// # Errors
    /// When a plugin cannot run as it is configured.
    pub fn new(environment: Arc<Environment>) -> Result<Self, String> {
        let options = &environment.options.admission;
        let plugins = PLUGINS.iter().map(|(name, _)| *name).filter(|name| options.runs(name)).collect();
        let told = Told::load(options)?;
        let metrics = Metrics::register(environment.metrics.registry());
        let (policies, webhooks) = (Policies::start(&environment), Webhooks::start(&environment, metrics.clone()));
        Ok(Chain { environment, plugins, policies, webhooks, told, metrics })
    }

    /// Asks all plugins that may change an object, one after the other.
    async fn round(
        &self,
        attributes: &Attributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        for plugin in self.plugins.iter().filter(|plugin| has_a_say(plugin, attributes.operation)) {
            let work = self.mutate(plugin, attributes, object, old, rounds);
            match is_timed(plugin, Step::Admit, attributes.operation) {
                true => self.metrics.plugin(plugin, Step::Admit, attributes.operation, work).await?,
                false => work.await?,
            }
        }
        Ok(())
    }

    /// What a plugin says of an object that is about to be stored or removed.
    async fn say(
        &self,
        plugin: &'static str,
        attributes: &Attributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        match plugin {
            "NodeRestriction" => node_restriction::validate(&self.environment, attributes, object, old).await?,
            "NamespaceExists" => namespaces::check_exists(&self.environment, attributes).await?,
            "AlwaysDeny" => return Err(deny(attributes)),
            "ValidatingAdmissionPolicy" => self.policies.validate(attributes, object, old).await?,
            "ValidatingAdmissionWebhook" => self.webhooks.validate(attributes, object, old).await?,
            _ => {}
        }
        match object {
            Some(object) => self.judge(plugin, attributes, object, old).await,
            None => Self::judge_removal(plugin, attributes),
        }
    }

    /// What a plugin does before an object is judged.
    async fn mutate(
        &self,
        plugin: &'static str,
        attributes: &Attributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        let environment = &self.environment;
        match plugin {
            "NamespaceAutoProvision" => namespaces::provide(environment, attributes).await,
            "NamespaceLifecycle" => namespaces::admit(environment, attributes).await,
            "AlwaysDeny" => Err(deny(attributes)),
            "MutatingAdmissionPolicy" => self.policies.mutate(attributes, object, old, rounds).await,
            "MutatingAdmissionWebhook" => self.webhooks.mutate(attributes, Some(object), old, rounds).await,
            "PodTopologyLabels" => pods::topology_labels(environment, attributes, object).await,
            "AlwaysPullImages" if is_of_pods(attributes) => {
                pods::always_pull(object);
                Ok(())
            }
            _ if !attributes.subresource.is_empty() => Ok(()),
            "LimitRanger" => limit_ranger::admit(environment, attributes, object).await,
            "ServiceAccount" => service_account::admit(environment, attributes, object).await,
            "PodNodeSelector" => pods::node_selector(environment, &self.told.node_selectors, attributes, object).await,
            "Priority" => priority::admit(environment, attributes, object, old).await,
            "DefaultTolerationSeconds" => {
                tolerations::admit(&environment.options.admission, object);
                Ok(())
            }
            "PodTolerationRestriction" => self.told.tolerations.admit(environment, attributes, object).await,
            "ExtendedResourceToleration" => {
                pods::tolerate_extended_resources(object);
                Ok(())
            }
            "RuntimeClass" => runtime_class::admit(environment, attributes, object).await,
            _ if attributes.operation == Operation::Create => self.complete(plugin, attributes, object).await,
            _ => Ok(()),
        }
    }

    /// What a plugin gives new objects.
    async fn complete(&self, plugin: &'static str, attributes: &Attributes, object: &mut Owned) -> Result<(), Status> {
        let resource = (attributes.kind.group, attributes.plural);
        match (plugin, resource) {
            ("TaintNodesByCondition", ("", "nodes")) => nodes::taint(object),
            ("DefaultStorageClass", ("", "persistentvolumeclaims")) => {
                storage::default_class(&self.environment, object).await?;
            }
            ("DefaultIngressClass", ("networking.k8s.io", "ingresses")) => {
                classes::default_ingress_class(&self.environment, object).await?;
            }
            ("StorageObjectInUseProtection" | "PodGroupProtection", _) => {
                let protection = PROTECTION.iter().find(|(of, by, _)| *of == resource && *by == plugin);
                if let Some((.., finalizer)) = protection {
                    storage::protect(object, finalizer);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What a plugin has against an object that is about to be stored.
    async fn judge(
        &self,
        plugin: &'static str,
        attributes: &Attributes,
        object: &Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let environment = &self.environment;
        let certificates = certificates::Check { environment, attributes, object, old };
        match plugin {
            "LimitPodHardAntiAffinityTopology" if is_of_pods(attributes) => {
                pods::check_anti_affinity(attributes, object)
            }
            "LimitRanger" => limit_ranger::validate(environment, attributes, object).await,
            "PodSecurity" => {
                pod_security::validate(&self.told.pod_security, environment, attributes, object, old).await
            }
            "PodTolerationRestriction" => self.told.tolerations.validate(environment, attributes, object).await,
            "EventRateLimit" => self.told.events.as_ref().map_or(Ok(()), |events| events.validate(attributes, object)),
            "ImagePolicyWebhook" => match &self.told.images {
                Some(images) => images.validate(attributes, object).await,
                None => Ok(()),
            },
            "PersistentVolumeClaimResize" => storage::check_resize(environment, attributes, object, old).await,
            "CertificateApproval" => certificates.approval().await,
            "CertificateSigning" => certificates.signing().await,
            "ClusterTrustBundleAttest" => certificates.attestation().await,
            "CertificateSubjectRestriction" => certificates.subject(),
            "DenyServiceExternalIPs" => services::deny_external_ips(attributes, object, old),
            "OwnerReferencesPermissionEnforcement" => owners::check(environment, attributes, object, old).await,
            "PodGroupWorkloadExists" if self.is_enabled("GenericWorkload") => {
                workloads::check_template(environment, attributes, object).await
            }
            "NodeDeclaredFeatureValidator" if self.is_enabled("NodeDeclaredFeatures") => {
                bound_pods::check_features(environment, attributes, object, old).await
            }
            "JobValidation" if self.is_enabled("GenericWorkload") || self.is_enabled("WorkloadWithJob") => {
                workloads::check_job(environment, attributes, object, old).await
            }
            "PodResizeValidator" => bound_pods::check_resize(environment, attributes, object, old).await,
            "ResourceQuota" => quota::validate(environment, attributes, object, old).await,
            _ => Ok(()),
        }
    }

    fn is_enabled(&self, gate: &str) -> bool {
        self.environment.options.features.enabled(gate)
    }

    /// What a plugin has against removing an object.
    fn judge_removal(plugin: &'static str, attributes: &Attributes) -> Result<(), Status> {
        match plugin {
            _ if attributes.operation != Operation::Delete || !attributes.subresource.is_empty() => Ok(()),
            "NamespaceLifecycle" => namespaces::validate_delete(attributes),
            "Priority" => priority::validate_delete(attributes),
            _ => Ok(()),
        }
    }
}

/// Pods, and the subresource through which they get more containers.
fn is_of_pods(attributes: &Attributes) -> bool {
    attributes.kind.group.is_empty()
        && attributes.plural == "pods"
        && ["", "ephemeralcontainers"].contains(&attributes.subresource.as_str())
}

#[async_trait]
impl Admission for Chain {
    async fn admit(&self, attributes: &Attributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
        if (attributes.kind.group, attributes.plural) == ("certificates.k8s.io", "certificatesigningrequests")
            && attributes.operation == Operation::Create
        {
            certificates::record_requester(attributes, object);
        }
        let rounds = async {
            let mut rounds = Reinvocation::default();
            self.round(attributes, object, old, &mut rounds).await?;
            if rounds.wanted {
                rounds.begin_again();
                self.round(attributes, object, old, &mut rounds).await?;
            }
            Ok(())
        };
        self.metrics.step(Step::Admit, attributes.operation, rounds).await?;
        escalation::check(&self.environment, attributes, object, old).await
    }

    async fn validate(
        &self,
        attributes: &Attributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        if attributes.operation == Operation::Delete && self.plugins.contains(&MUTATING_WEBHOOKS) {
            // There is nothing to change; upstream asks them all the same.
            let mut rounds = Reinvocation::default();
            let asked = self.webhooks.mutate(attributes, None, old, &mut rounds);
            let asked = self.metrics.plugin(MUTATING_WEBHOOKS, Step::Admit, attributes.operation, asked);
            self.metrics.step(Step::Admit, attributes.operation, asked).await?;
        }
        let judged = async {
            for plugin in self.plugins.iter().filter(|plugin| has_a_say(plugin, attributes.operation)) {
                let work = self.say(plugin, attributes, object, old);
                match is_timed(plugin, Step::Validate, attributes.operation) {
                    true => self.metrics.plugin(plugin, Step::Validate, attributes.operation, work).await?,
                    false => work.await?,
                }
            }
            Ok(())
        };
        self.metrics.step(Step::Validate, attributes.operation, judged).await
    }
}

/// What `AlwaysDeny` says.
fn deny(attributes: &Attributes) -> Status {
    forbidden(attributes, "admission control is denying all modifications")
}

/// `admission.NewForbidden`
fn forbidden(attributes: &Attributes, why: impl std::fmt::Display) -> Status {
    let of = GroupResource { group: attributes.group, resource: attributes.plural };
    Status::forbidden(of, &attributes.name, why)
}

/// An object of a resource; `None` when there is none of this name.
async fn find<T: Struct>(
    environment: &Environment,
    resource: (&'static str, &'static str),
    namespace: &str,
    name: &str,
) -> Result<Option<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(None) };
    match store.get(namespace, name, "").await {
        Ok(object) => Ok(object.into_inner().ok()),
        Err(status) if status.code == 404 => Ok(None),
        Err(status) => Err(status),
    }
}

/// All objects of a namespace.
async fn of_namespace<T: Struct>(
    environment: &Environment,
    resource: (&'static str, &'static str),
    namespace: &str,
) -> Result<Vec<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(Vec::new()) };
    let objects = store.objects(namespace, &Predicate::default()).await?;
    Ok(objects.into_iter().filter_map(|object| object.into_inner().ok()).collect())
}

/// Several reasons as one (`errors.NewAggregate`).
fn joined(reasons: &[String]) -> String {
    let mut said: Vec<&str> = Vec::new();
    for reason in reasons {
        if !said.contains(&reason.as_str()) {
            said.push(reason);
        }
    }
    if said.len() == 1 { said.concat() } else { format!("[{}]", said.join(", ")) }
}

/// All objects of a resource.
pub(crate) async fn all<T: Struct>(
    environment: &Environment,
    resource: (&'static str, &'static str),
) -> Result<Vec<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(Vec::new()) };
    let objects = store.objects("", &Predicate::default()).await?;
    Ok(objects.into_iter().filter_map(|object| object.into_inner().ok()).collect())
}
