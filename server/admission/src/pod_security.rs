//! `PodSecurity`: enforces the pod security standards that namespace labels select.

mod baseline;
mod check;
mod checked_pod;
mod configuration;
mod finding;
mod metrics;
mod policy;
mod restricted;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use endpoints::AdmissionAttributes;
use generated::core::v1::{Namespace, Pod};
use machinery::field_error::{BadValue, FieldError, aggregate};
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::Stores;

use super::lookup::{find, find_all};
use super::{body, forbidden};
use checked_pod::CheckedPod;
pub use configuration::PodSecurityConfig;
pub use metrics::PodSecurityMetrics;
use metrics::PodSecurityMode;
use policy::{LevelVersion, NamespaceLevels, PodSecurityLevel};

/// Maximum number of pods to evaluate when a namespace gets a stricter level
/// (`namespaceMaxPodsToCheck`).
const MAX_PODS: usize = 3000;
/// Prefix of the audit annotations.
const AUDIT_PREFIX: &str = "pod-security.kubernetes.io/";
/// Rejects pods that violate the enforced level, and warns of violations of the `warn` level.
pub async fn validate(
    (config, metrics): (&PodSecurityConfig, &PodSecurityMetrics),
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let evaluation = Evaluation { config, metrics, stores, attributes };
    match (attributes.group, attributes.plural) {
        ("", "namespaces") => evaluation.namespace(object, old).await,
        _ if config.exempts_namespace(&attributes.namespace) || config.exempts_user(&attributes.user.name) => {
            metrics.exempt(attributes);
            annotate(
                attributes,
                "exempt",
                if config.exempts_namespace(&attributes.namespace) { "namespace" } else { "user" },
            );
            Ok(())
        }
        ("", "pods") => {
            let pod = body::<Pod>(object)?;
            match old.and_then(Owned::downcast_ref::<Pod>) {
                Some(old) if !is_significant_update(pod, old) => Ok(()),
                _ => evaluation.subject(&CheckedPod::of_pod(pod), true).await,
            }
        }
        _ => match CheckedPod::of_template(object) {
            Some(subject) => evaluation.subject(&subject, false).await,
            None => Ok(()),
        },
    }
}

/// Whether an update adds or changes images.
fn is_significant_update(new: &Pod, old: &Pod) -> bool {
    let (new, old) = (CheckedPod::of_pod(new), CheckedPod::of_pod(old));
    let images = |subject: &CheckedPod<'_>, ephemeral: bool| -> Vec<(String, String)> {
        let of = subject.containers.iter().filter(|c| c.ephemeral == ephemeral);
        of.map(|c| (if ephemeral { c.name.to_owned() } else { String::new() }, c.image.to_owned())).collect()
    };
    let before: HashSet<(String, String)> = images(&old, true).into_iter().collect();
    images(&new, false) != images(&old, false) || images(&new, true).iter().any(|image| !before.contains(image))
}

fn annotate(attributes: &AdmissionAttributes, key: &str, value: impl Into<String>) {
    attributes.trail.annotate(format!("{AUDIT_PREFIX}{key}"), value);
}

/// Context of one evaluated request.
struct Evaluation<'r> {
    config: &'r PodSecurityConfig,
    metrics: &'r PodSecurityMetrics,
    stores: &'r Stores,
    attributes: &'r AdmissionAttributes,
}

impl Evaluation<'_> {
    /// Evaluates a pod or a pod template.
    async fn subject(&self, subject: &CheckedPod<'_>, enforce: bool) -> Result<(), Status> {
        let attributes = self.attributes;
        let found = find::<Namespace>(self.stores, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
        let Some(namespace) = found else {
            self.metrics.failed(true, attributes);
            let why = format!("failed to lookup namespace {:?}", attributes.namespace);
            if enforce {
                return Err(Status::internal(why));
            }
            annotate(attributes, "error", why);
            return Ok(());
        };
        let (policy, invalid_labels) = NamespaceLevels::of_labels(&namespace.metadata.labels, &self.config.defaults);
        if self.config.exempts_runtime_class(subject.spec.runtime_class_name.as_deref()) {
            self.metrics.exempt(attributes);
            annotate(attributes, "exempt", "runtimeClass");
            return Ok(());
        }
        if !invalid_labels.is_empty() {
            self.metrics.failed(false, attributes);
            annotate(
                attributes,
                "error",
                format!("Failed to parse policy: {}", aggregate(&field_errors(&invalid_labels))),
            );
        }
        if enforce {
            annotate(attributes, "enforce-policy", policy.enforce.to_string());
        }
        let refusal = if enforce { violations(policy.enforce, subject) } else { None };
        if enforce {
            self.metrics.evaluated(refusal.is_none(), policy.enforce, PodSecurityMode::Enforce, attributes);
        }
        if let Some(detail) = violations(policy.audit, subject) {
            self.metrics.evaluated(false, policy.audit, PodSecurityMode::Audit, attributes);
            let violations = format!("would violate PodSecurity \"{}\": {detail}", policy.audit);
            annotate(attributes, "audit-violations", violations);
        }
        if let Some(detail) = refusal {
            return Err(forbidden(attributes, format!("violates PodSecurity \"{}\": {detail}", policy.enforce)));
        }
        if let Some(detail) = violations(policy.warn, subject) {
            self.metrics.evaluated(false, policy.warn, PodSecurityMode::Warn, attributes);
            attributes.warnings.add(&format!("would violate PodSecurity \"{}\": {detail}", policy.warn));
        }
        Ok(())
    }

    /// Validates the labels of a namespace.
    async fn namespace(&self, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        let attributes = self.attributes;
        let namespace = body::<Namespace>(object)?;
        let of = |labels| NamespaceLevels::of_labels(labels, &self.config.defaults);
        let (name, labels) = (&namespace.metadata.name, &namespace.metadata.labels);
        let (policy, invalid_labels) = of(labels);
        let before = old.and_then(Owned::downcast_ref::<Namespace>).map(|old| of(&old.metadata.labels));
        if !invalid_labels.is_empty() && before.as_ref().is_none_or(|(_, before)| *before != invalid_labels) {
            return Err(invalid(attributes, &invalid_labels));
        }
        if let Some((before, _)) = before {
            let (new, old) = (policy.enforce, before.enforce);
            let relaxed = new.version == old.version && new.level <= old.level;
            if new == old || new.level == PodSecurityLevel::Privileged || relaxed {
                return Ok(());
            }
            if !self.config.exempts_namespace(name) {
                let found = self.pods_that_violate(name, new).await?;
                found.iter().for_each(|warning| attributes.warnings.add(warning));
                return Ok(());
            }
        }
        if self.config.exempts_namespace(name)
            && let Some(warning) = self.config.warning(name, &policy, labels)
        {
            attributes.warnings.add(&warning);
        }
        Ok(())
    }

    /// Returns warnings about existing pods that violate the level.
    async fn pods_that_violate(&self, namespace: &str, level: LevelVersion) -> Result<Vec<String>, Status> {
        let mut pods = find_all::<Pod>(self.stores, self.attributes, ("", "pods"), namespace).await?;
        pods.retain(|pod| !self.config.exempts_runtime_class(pod.spec.runtime_class_name.as_deref()));
        let (total, mut checked) = (pods.len(), Vec::new());
        let mut controllers = HashSet::new();
        // One pod of each controller comes first: pods of one controller are usually alike.
        let (first, rest): (Vec<Arc<Pod>>, Vec<Arc<Pod>>) =
            pods.into_iter().partition(|pod| controller(pod).is_none_or(|uid| controllers.insert(uid)));
        checked.extend(first.into_iter().chain(rest).take(MAX_PODS));
        let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for pod in &checked {
            let reasons: Vec<String> =
                policy::evaluate(level, &CheckedPod::of_pod(pod)).into_iter().map(|f| f.reason.to_string()).collect();
            if reasons.is_empty() {
                continue;
            }
            let entry = found.entry(reasons.join(", ")).or_insert_with(|| (pod.metadata.name.clone(), 0));
            entry.0 = entry.0.clone().min(pod.metadata.name.clone());
            entry.1 += 1;
        }
        let mut warnings = Vec::new();
        if checked.len() < total {
            let count = checked.len();
            warnings.push(format!(
                "new PodSecurity enforce level only checked against the first {count} of {total} existing pods"
            ));
        }
        if !found.is_empty() {
            warnings.push(format!(
                "existing pods in namespace \"{namespace}\" violate the new PodSecurity enforce level \"{level}\""
            ));
        }
        let mut lines: Vec<String> = found.iter().map(|(reason, (name, count))| line(name, *count, reason)).collect();
        lines.sort();
        warnings.extend(lines);
        Ok(warnings)
    }
}

/// Returns the violations of a level with details.
fn violations(level: LevelVersion, subject: &CheckedPod<'_>) -> Option<String> {
    let found = policy::evaluate(level, subject);
    (!found.is_empty()).then(|| found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

fn invalid(attributes: &AdmissionAttributes, invalid_labels: &[policy::InvalidLabel]) -> Status {
    let of = GroupResource { group: "", resource: attributes.kind.kind };
    Status::invalid(of, &attributes.name, &field_errors(invalid_labels))
}

fn field_errors(invalid_labels: &[policy::InvalidLabel]) -> Vec<FieldError> {
    let labels = Path::new("metadata");
    let labels = labels.child(json_name!(ObjectMeta.labels));
    let error =
        |w: &policy::InvalidLabel| FieldError::invalid(&labels.key(w.label), BadValue::json_string(&w.value), w.why);
    invalid_labels.iter().map(error).collect()
}

fn controller(pod: &Pod) -> Option<String> {
    pod.metadata.owner_references.iter().find(|o| o.controller == Some(true)).map(|o| o.uid.clone())
}

fn line(pod: &str, count: usize, reason: &str) -> String {
    match count {
        1 => format!("{pod}: {reason}"),
        2 => format!("{pod} (and 1 other pod): {reason}"),
        _ => format!("{pod} (and {} other pods): {reason}", count - 1),
    }
}

#[cfg(test)]
mod tests;
