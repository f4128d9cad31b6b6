//! The desired APIServices: one per group version of this server and one per version of a custom
//! resource (upstream: `apiServicesToRegister`, `crdRegistrationController`).

use std::collections::BTreeMap;

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionVersion};
use apimachinery::apiregistration::v1::{APIService, APIServiceSpec};
use endpoints::Discovery;
use registry::{Informer, Stores};
use tokio::sync::watch;

use super::API_SERVICES;

/// The label that marks APIServices managed by this server, with the mode as its value.
pub const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// Managed only at server start.
pub const ON_START: &str = "onstart";
/// Managed continuously.
pub const ALWAYS: &str = "true";

/// Priorities of custom resources in discovery.
const CUSTOM_GROUP_PRIORITY: i32 = 1000;
const CUSTOM_VERSION_PRIORITY: i32 = 100;

/// The desired APIServices.
pub struct Desired {
    /// APIServices of compiled-in group versions.
    built_in: BTreeMap<String, DesiredService>,
    definitions: Option<Informer<CustomResourceDefinition>>,
}

/// A desired APIService.
#[derive(Clone, Debug)]
pub struct DesiredService {
    pub group: String,
    pub version: String,
    pub group_priority: i32,
    pub version_priority: i32,
    /// The value of the label [`MANAGED`].
    pub managed: &'static str,
}

impl DesiredService {
    fn name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }

    /// Builds the spec.
    pub fn spec(&self) -> APIServiceSpec {
        APIServiceSpec {
            group: self.group.clone(),
            version: self.version.clone(),
            group_priority_minimum: self.group_priority,
            version_priority: self.version_priority,
            ..APIServiceSpec::default()
        }
    }

    /// Builds the APIService.
    pub fn service(&self) -> APIService {
        let mut service = APIService { spec: self.spec(), ..APIService::default() };
        service.metadata.name = self.name();
        service.metadata.labels.insert(MANAGED.into(), self.managed.into());
        service
    }
}

impl Desired {
    /// Starts the informer of custom resource definitions and waits until it has synced.
    pub async fn start(discovery: &Discovery, stores: &Stores) -> Self {
        let served = discovery.all();
        let built_in = served.iter().filter(|g| g.group != API_SERVICES.0).map(|g| {
            let desired_service = DesiredService {
                group: g.group.clone(),
                version: g.version.clone(),
                group_priority: g.group_priority,
                version_priority: g.version_priority,
                managed: ON_START,
            };
            (desired_service.name(), desired_service)
        });
        Desired { built_in: built_in.collect(), definitions: definitions(stores).await }
    }

    /// Returns a receiver that changes with the desired APIServices.
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.definitions.as_ref().map(Informer::changes)
    }

    /// Returns all desired APIServices by name. Compiled-in group versions take precedence over
    /// custom resources.
    pub fn all(&self) -> BTreeMap<String, DesiredService> {
        let mut all = self.built_in.clone();
        for definition in self.definitions.iter().flat_map(Informer::all) {
            for version in definition.spec.versions.iter().filter(|version| version.served) {
                let desired_service = DesiredService {
                    group: definition.spec.group.clone(),
                    version: version.name.clone(),
                    group_priority: CUSTOM_GROUP_PRIORITY,
                    version_priority: CUSTOM_VERSION_PRIORITY,
                    managed: ALWAYS,
                };
                all.entry(desired_service.name()).or_insert(desired_service);
            }
        }
        all
    }
}

/// Starts an informer of custom resource definitions with versions only, and waits until it has
/// synced.
pub async fn definitions(stores: &Stores) -> Option<Informer<CustomResourceDefinition>> {
    let store = stores.get(&("apiextensions.k8s.io", "customresourcedefinitions"))?;
    let definitions = Informer::trimmed(store, keep_versions);
    definitions.synced().await;
    Some(definitions)
}

/// Trims a definition to its versions, because decoded schemas need much more memory than their
/// text.
fn keep_versions(definition: &mut CustomResourceDefinition) {
    let versions = std::mem::take(&mut definition.spec.versions);
    let (name, group) = (std::mem::take(&mut definition.metadata.name), std::mem::take(&mut definition.spec.group));
    *definition = CustomResourceDefinition::default();
    definition.metadata.name = name;
    definition.spec.group = group;
    let kept = versions.into_iter().map(|version| CustomResourceDefinitionVersion {
        name: version.name,
        served: version.served,
        ..CustomResourceDefinitionVersion::default()
    });
    definition.spec.versions = kept.collect();
}
