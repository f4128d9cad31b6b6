//! The APIServices that there should be: one for each group version that this process serves, and one for each version of a custom resource
//! (upstream: `apiServicesToRegister`, `crdRegistrationController`).

use std::collections::BTreeMap;

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionVersion};
use apimachinery::apiregistration::v1::{APIService, APIServiceSpec};
use endpoints::ServerContext;
use registry::Informer;
use tokio::sync::watch;

use super::API_SERVICES;

/// Says which APIServices this server looks after, and how.
pub const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// Only when the server starts.
pub const ON_START: &str = "onstart";
/// All the time.
pub const ALWAYS: &str = "true";

/// Where custom resources stand among others.
const CUSTOM_GROUP_PRIORITY: i32 = 1000;
const CUSTOM_VERSION_PRIORITY: i32 = 100;

/// What there should be.
pub struct Desired {
    /// For group versions that are compiled in.
    built_in: BTreeMap<String, Wanted>,
    definitions: Option<Informer<CustomResourceDefinition>>,
}

/// An APIService that there should be.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub group: String,
    pub version: String,
    pub group_priority: i32,
    pub version_priority: i32,
    /// How it is looked after.
    pub managed: &'static str,
}

impl Wanted {
    fn name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }

    /// What its spec has to say.
    pub fn spec(&self) -> APIServiceSpec {
        APIServiceSpec {
            group: self.group.clone(),
            version: self.version.clone(),
            group_priority_minimum: self.group_priority,
            version_priority: self.version_priority,
            ..APIServiceSpec::default()
        }
    }

    /// The whole.
    pub fn service(&self) -> APIService {
        let mut service = APIService { spec: self.spec(), ..APIService::default() };
        service.metadata.name = self.name();
        service.metadata.labels.insert(MANAGED.into(), self.managed.into());
        service
    }
}

impl Desired {
    /// Begins to follow custom resource definitions; those that are there are known when this returns.
    pub async fn start(environment: &ServerContext) -> Self {
        let served = environment.discovery.all();
        let built_in = served.iter().filter(|g| g.group != API_SERVICES.0).map(|g| {
            let wanted = Wanted {
                group: g.group.clone(),
                version: g.version.clone(),
                group_priority: g.group_priority,
                version_priority: g.version_priority,
                managed: ON_START,
            };
            (wanted.name(), wanted)
        });
        Desired { built_in: built_in.collect(), definitions: definitions(environment).await }
    }

    /// To wait for the next change.
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.definitions.as_ref().map(Informer::changes)
    }

    /// All by their names. Custom resources do not take the place of what is compiled in.
    pub fn all(&self) -> BTreeMap<String, Wanted> {
        let mut all = self.built_in.clone();
        for definition in self.definitions.iter().flat_map(Informer::all) {
            for version in definition.spec.versions.iter().filter(|version| version.served) {
                let wanted = Wanted {
                    group: definition.spec.group.clone(),
                    version: version.name.clone(),
                    group_priority: CUSTOM_GROUP_PRIORITY,
                    version_priority: CUSTOM_VERSION_PRIORITY,
                    managed: ALWAYS,
                };
                all.entry(wanted.name()).or_insert(wanted);
            }
        }
        all
    }
}

/// The versions of custom resources, known when this returns.
pub async fn definitions(environment: &ServerContext) -> Option<Informer<CustomResourceDefinition>> {
    let store = environment.stores.get(&("apiextensions.k8s.io", "customresourcedefinitions"))?;
    let definitions = Informer::trimmed(store, keep_versions);
    definitions.synced().await;
    Some(definitions)
}

/// Leaves of a definition which versions there are: decoded schemas take many times what their text does.
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
