//! `PodTolerationRestriction`: default tolerations and toleration whitelists of namespaces.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{Namespace, Pod, Toleration, pod_qos_class, taint_effect, toleration_operator};
use generated::podtolerationrestriction::v1alpha1::Configuration;
use kubernetes::core::qos::quality_of_service;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::Stores;

use super::configuration::Configurations;
use super::lookup::find;
use super::{body, body_mut};
use crate::Error;

const PLUGIN: &str = "PodTolerationRestriction";
const GROUP: &str = "podtolerationrestriction.admission.k8s.io";
const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";

/// The cluster-wide configuration, for namespaces without the annotations.
pub struct TolerationRestriction(Configuration);

impl TolerationRestriction {
    /// Loads the plugin's configuration, if there is one.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn load(configurations: &Configurations) -> Result<Self, Error> {
        let config = configurations.read(PLUGIN, GROUP, &["v1alpha1"], "Configuration")?;
        Ok(TolerationRestriction(config.unwrap_or_default()))
    }

    /// Adds default tolerations to pods.
    pub async fn admit(
        &self,
        stores: &Stores,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
    ) -> Result<(), Status> {
        let pod = body_mut::<Pod>(object)?;
        let mut more = Vec::new();
        if attributes.operation == Operation::Create {
            let namespace = namespace(stores, attributes).await?;
            more = annotated_tolerations(&namespace, DEFAULTS)?.unwrap_or_else(|| self.0.default.clone());
        }
        if quality_of_service(&pod.spec) != pod_qos_class::BEST_EFFORT {
            more.push(Toleration {
                key: MEMORY_PRESSURE.into(),
                operator: toleration_operator::EXISTS.into(),
                effect: taint_effect::NO_SCHEDULE.into(),
                ..Toleration::default()
            });
        }
        if !more.is_empty() {
            pod.spec.tolerations = merged(std::mem::take(&mut pod.spec.tolerations), more);
        }
        self.validate(stores, attributes, object).await
    }

    /// Rejects tolerations outside the whitelist.
    pub async fn validate(
        &self,
        stores: &Stores,
        attributes: &AdmissionAttributes,
        object: &Owned,
    ) -> Result<(), Status> {
        let pod = body::<Pod>(object)?;
        if pod.spec.tolerations.is_empty() {
            return Ok(());
        }
        let of_namespace = annotated_tolerations(&*namespace(stores, attributes).await?, WHITELIST)?;
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

async fn namespace(stores: &Stores, attributes: &AdmissionAttributes) -> Result<Arc<Namespace>, Status> {
    let name = &attributes.namespace;
    let found = find::<Namespace>(stores, attributes, ("", "namespaces"), ("", name)).await?;
    found.ok_or_else(|| Status::not_found(GroupResource { group: "", resource: "namespaces" }, name))
}

/// Parses the tolerations of an annotation. An empty value means no tolerations.
fn annotated_tolerations(namespace: &Namespace, annotation: &str) -> Result<Option<Vec<Toleration>>, Status> {
    match namespace.metadata.annotations.get(annotation).map(String::as_str) {
        None => Ok(None),
        Some("") => Ok(Some(Vec::new())),
        Some(text) => serde_json::from_str(text).map(Some).map_err(|why| Status::new(500, "", why.to_string())),
    }
}

/// Whether a whitelist covers all tolerations. An empty whitelist covers all (upstream:
/// `VerifyAgainstWhitelist`).
fn is_allowed(tolerations: &[Toleration], whitelist: &[Toleration]) -> bool {
    let mut wider = Coverage::default();
    whitelist.iter().for_each(|toleration| wider.add(toleration));
    whitelist.is_empty() || tolerations.iter().all(|toleration| wider.covers(toleration))
}

/// Merges both lists and drops tolerations that others cover (upstream: `MergeTolerations`), in O(n
/// log n).
pub fn merged(first: Vec<Toleration>, second: Vec<Toleration>) -> Vec<Toleration> {
    let all: Vec<Toleration> = first.into_iter().chain(second).collect();
    let mut later = Coverage::default();
    let mut is_covered = vec![false; all.len()];
    for (toleration, is_covered) in all.iter().zip(&mut is_covered).rev() {
        *is_covered = later.others_cover(toleration);
        later.add(toleration);
    }
    let mut before = Coverage::default();
    let mut kept = Vec::new();
    for (toleration, is_covered) in all.iter().zip(is_covered) {
        if !is_covered && !before.covers(toleration) {
            before.add(toleration);
            kept.push(toleration.clone());
        }
    }
    kept
}

/// The fields of a toleration.
type Fields<'t> = (&'t str, &'t str, &'t str, &'t str, Option<i64>);

fn fields(toleration: &Toleration) -> Fields<'_> {
    let Toleration { key, operator, value, effect, toleration_seconds } = toleration;
    (key, operator, value, effect, *toleration_seconds)
}

/// Key, effect, and the value for the operator `Equal`.
type Matched<'t> = (&'t str, &'t str, Option<&'t str>);

/// The duration of a toleration: whether it is unlimited, and seconds otherwise.
type TolerationDuration = (bool, i64);

/// The coverage of a list of tolerations (upstream: `isSuperset`): the two longest of those that
/// match the same taints.
#[derive(Default)]
struct Coverage<'t> {
    known: HashSet<Fields<'t>>,
    longest: HashMap<Matched<'t>, Vec<(TolerationDuration, Fields<'t>)>>,
}

impl<'t> Coverage<'t> {
    fn add(&mut self, wider: &'t Toleration) {
        if !self.known.insert(fields(wider)) {
            return;
        }
        let value = match wider.operator.as_str() {
            toleration_operator::EXISTS => None,
            "" | toleration_operator::EQUAL => Some(wider.value.as_str()),
            // It covers only itself.
            _ => return,
        };
        let seconds = wider.toleration_seconds.filter(|_| wider.effect == taint_effect::NO_EXECUTE);
        let longest = self.longest.entry((&wider.key, &wider.effect, value)).or_default();
        longest.push(((seconds.is_none(), seconds.unwrap_or_default()), fields(wider)));
        longest.sort_unstable_by_key(|(duration, _)| Reverse(*duration));
        longest.truncate(2);
    }

    /// Whether the list contains the toleration or covers it.
    fn covers(&self, toleration: &Toleration) -> bool {
        self.known.contains(&fields(toleration)) || self.others_cover(toleration)
    }

    /// Whether a different toleration of the list covers it.
    fn others_cover(&self, toleration: &Toleration) -> bool {
        let Toleration { key, operator, value, effect, toleration_seconds } = toleration;
        let value = Some(value.as_str()).filter(|_| operator == toleration_operator::EQUAL);
        let effects = [effect.as_str(), ""];
        let matched = effects.into_iter().flat_map(|effect| {
            let equal = value.map(|value| (key.as_str(), effect, Some(value)));
            [Some((key.as_str(), effect, None)), Some(("", effect, None)), equal]
        });
        let suffices =
            |(unlimited, max): TolerationDuration| unlimited || toleration_seconds.is_some_and(|own| own <= max);
        let longest = matched.flatten().filter_map(|matched| self.longest.get(&matched)).flatten();
        let mut others = longest.filter(|(_, other)| *other != fields(toleration));
        others.any(|(duration, _)| suffices(*duration))
    }
}

#[cfg(test)]
mod tests;
