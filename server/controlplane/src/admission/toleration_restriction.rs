//! `PodTolerationRestriction`: the tolerations that pods of a namespace get, and those that they may have.

use std::sync::Arc;

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{Namespace, Pod, Toleration, toleration_operator};
use generated::hatches::core::quality::quality_of_service;
use generated::podtolerationrestriction::v1alpha1::Configuration;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};

use super::configuration::Configurations;
use super::lookup::find;
use super::{body, body_mut};

const PLUGIN: &str = "PodTolerationRestriction";
const GROUP: &str = "podtolerationrestriction.admission.k8s.io";
const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";

/// What counts in namespaces that say nothing.
pub struct TolerationRestriction(Configuration);

impl TolerationRestriction {
    /// By its configuration, if there is one.
    pub fn load(configurations: &Configurations) -> Result<Self, String> {
        let said = configurations.read(PLUGIN, GROUP, &["v1alpha1"], "Configuration")?;
        Ok(TolerationRestriction(said.unwrap_or_default()))
    }

    /// Gives pods what is theirs.
    pub async fn admit(
        &self,
        environment: &Environment,
        attributes: &Attributes,
        object: &mut Owned,
    ) -> Result<(), Status> {
        let pod = body_mut::<Pod>(object)?;
        let mut more = Vec::new();
        if attributes.operation == Operation::Create {
            let namespace = namespace(environment, attributes).await?;
            more = said(&namespace, DEFAULTS)?.unwrap_or_else(|| self.0.default.clone());
        }
        if quality_of_service(&pod.spec) != "BestEffort" {
            more.push(Toleration {
                key: MEMORY_PRESSURE.into(),
                operator: toleration_operator::EXISTS.into(),
                effect: "NoSchedule".into(),
                ..Toleration::default()
            });
        }
        if !more.is_empty() {
            pod.spec.tolerations = merged(std::mem::take(&mut pod.spec.tolerations), more);
        }
        self.validate(environment, attributes, object).await
    }

    /// Refuses what pods may not have.
    pub async fn validate(
        &self,
        environment: &Environment,
        attributes: &Attributes,
        object: &Owned,
    ) -> Result<(), Status> {
        let pod = body::<Pod>(object)?;
        if pod.spec.tolerations.is_empty() {
            return Ok(());
        }
        let of_namespace = said(&*namespace(environment, attributes).await?, WHITELIST)?;
        let (whitelist, scope) = match &of_namespace {
            Some(whitelist) => (whitelist, "namespace"),
            None => (&self.0.whitelist, "cluster"),
        };
        if is_allowed(&pod.spec.tolerations, whitelist) {
            return Ok(());
        }
        let why = "pod tolerations (possibly merged with namespace default tolerations) conflict with its";
        Err(Status::new(500, "", format!("{why} {scope} whitelist")))
    }
}

async fn namespace(environment: &Environment, attributes: &Attributes) -> Result<Arc<Namespace>, Status> {
    let name = &attributes.namespace;
    let found = find::<Namespace>(environment, attributes, ("", "namespaces"), ("", name)).await?;
    found.ok_or_else(|| Status::not_found(GroupResource { group: "", resource: "namespaces" }, name))
}

/// The tolerations of an annotation; an empty one has none.
fn said(namespace: &Namespace, annotation: &str) -> Result<Option<Vec<Toleration>>, Status> {
    match namespace.metadata.annotations.get(annotation).map(String::as_str) {
        None => Ok(None),
        Some("") => Ok(Some(Vec::new())),
        Some(text) => serde_json::from_str(text).map(Some).map_err(|why| Status::new(500, "", why.to_string())),
    }
}

/// Whether a whitelist covers all tolerations; an empty one does (upstream: `VerifyAgainstWhitelist`).
fn is_allowed(tolerations: &[Toleration], whitelist: &[Toleration]) -> bool {
    let allowed = |toleration: &Toleration| whitelist.iter().any(|wider| covers(wider, toleration));
    whitelist.is_empty() || tolerations.iter().all(allowed)
}

/// Both lists, without tolerations that others of them cover (upstream: `MergeTolerations`).
pub fn merged(first: Vec<Toleration>, second: Vec<Toleration>) -> Vec<Toleration> {
    let all: Vec<Toleration> = first.into_iter().chain(second).collect();
    let mut kept: Vec<Toleration> = Vec::new();
    for (i, toleration) in all.iter().enumerate() {
        let covered = kept.iter().any(|wider| covers(wider, toleration));
        let mut later = all[i + 1..].iter();
        if !covered && !later.any(|wider| wider != toleration && covers(wider, toleration)) {
            kept.push(toleration.clone());
        }
    }
    kept
}

/// Whether whoever is tolerated by the one is by the other (`isSuperset`).
fn covers(wider: &Toleration, toleration: &Toleration) -> bool {
    let exists = wider.operator == toleration_operator::EXISTS;
    let same_key = toleration.key == wider.key || (wider.key.is_empty() && exists);
    let same_effect = toleration.effect == wider.effect || wider.effect.is_empty();
    let as_long = match wider.toleration_seconds.filter(|_| wider.effect == "NoExecute") {
        Some(most) => toleration.toleration_seconds.is_some_and(|seconds| seconds <= most),
        None => true,
    };
    let same_value = match wider.operator.as_str() {
        "" | "Equal" => toleration.operator == "Equal" && toleration.value == wider.value,
        _ => exists,
    };
    wider == toleration || (same_key && same_effect && as_long && same_value)
}

#[cfg(test)]
mod tests;
