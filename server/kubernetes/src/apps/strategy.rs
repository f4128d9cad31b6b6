//! Generations of workloads: daemon sets count changes of their templates, deployments also changes of
//! annotations.

use std::collections::BTreeMap;

use machinery::hooks::WriteContext;

use generated::apps::v1::{DaemonSet, Deployment};

/// Annotation for the internal versions' `templateGeneration` (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Mirrors `daemonSetStrategy.PrepareForCreate`.
pub fn create_daemon_set(_: &WriteContext, set: &mut DaemonSet, _: Option<&DaemonSet>) {
    let generation = template_generation(&set.metadata.annotations).max(1);
    set.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// Mirrors `daemonSetStrategy.PrepareForUpdate`: increments the template generation if the template
/// changed, and ignores the client's value.
pub fn update_daemon_set(context: &WriteContext, new: &mut DaemonSet, old: &DaemonSet) {
    // A status update keeps the specification, which includes the generation in upstream's internal
    // type.
    let changed = context.subresource.is_empty() && new.spec.template != old.spec.template;
    let generation = template_generation(&old.metadata.annotations) + i64::from(changed);
    new.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// Mirrors `deploymentStrategy.PrepareForUpdate`: changes of annotations increment the generation,
/// because the controller copies them.
pub fn update_deployment(context: &WriteContext, new: &mut Deployment, old: &Deployment) {
    if context.subresource.is_empty() && new.metadata.annotations != old.metadata.annotations {
        new.metadata.generation = old.metadata.generation + 1;
    }
}

fn template_generation(annotations: &BTreeMap<String, String>) -> i64 {
    annotations.get(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0)
}
