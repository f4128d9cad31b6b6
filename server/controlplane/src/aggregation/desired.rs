//! The APIServices that there should be: one for each group version that this process serves, and one for each version of a custom resource
//! (upstream: `apiServicesToRegister`, `crdRegistrationController`).

use std::collections::BTreeMap;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use apimachinery::apiregistration::v1::{APIService, APIServiceSpec};
use endpoints::Environment;
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
    built_in: BTreeMap<String, APIService>,
    definitions: Option<Informer<CustomResourceDefinition>>,
}

impl Desired {
    /// Begins to follow custom resource definitions; those that are there are known when this returns.
    pub async fn start(environment: &Environment) -> Self {
        let served = environment.discovery.all();
        let built_in = served.iter().filter(|g| g.group != API_SERVICES.0).map(|g| {
            let service = api_service(&g.group, &g.version, (g.group_priority, g.version_priority), ON_START);
            (service.metadata.name.clone(), service)
        });
        let definitions = environment.informers.of("apiextensions.k8s.io", "customresourcedefinitions");
        if let Some(definitions) = &definitions {
            Informer::synced(definitions).await;
        }
        Desired { built_in: built_in.collect(), definitions }
    }

    /// To wait for the next change.
    pub fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.definitions.as_ref().map(Informer::changes)
    }

    /// All by their names. Custom resources do not take the place of what is compiled in.
    pub fn all(&self) -> BTreeMap<String, APIService> {
        let mut all = self.built_in.clone();
        for definition in self.definitions.iter().flat_map(Informer::all) {
            for version in definition.spec.versions.iter().filter(|version| version.served) {
                let priorities = (CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY);
                let service = api_service(&definition.spec.group, &version.name, priorities, ALWAYS);
                all.entry(service.metadata.name.clone()).or_insert(service);
            }
        }
        all
    }
}

fn api_service(
    group: &str,
    version: &str,
    (group_priority, version_priority): (i32, i32),
    managed: &str,
) -> APIService {
    let mut service = APIService {
        spec: APIServiceSpec {
            group: group.to_owned(),
            version: version.to_owned(),
            group_priority_minimum: group_priority,
            version_priority,
            ..APIServiceSpec::default()
        },
        ..APIService::default()
    };
    service.metadata.name = format!("{version}.{group}");
    service.metadata.labels.insert(MANAGED.into(), managed.into());
    service
}
