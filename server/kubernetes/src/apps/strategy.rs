//! What workloads count: daemon sets their templates, deployments also changes of annotations.

use std::collections::BTreeMap;

use machinery::hooks::Context;

use generated::apps::v1::{DaemonSet, Deployment};

/// What internal versions keep as `templateGeneration` (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Mirrors `daemonSetStrategy.PrepareForCreate`.
pub fn create_daemon_set(_: &Context, set: &mut DaemonSet, _: Option<&DaemonSet>) {
    let generation = template_generation(&set.metadata.annotations).max(1);
    set.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// Mirrors `daemonSetStrategy.PrepareForUpdate`: a new template is counted, clients' own counts are not.
pub fn update_daemon_set(context: &Context, new: &mut DaemonSet, old: &DaemonSet) {
    // A write of the status keeps the specification, to which upstream's count belongs.
    let changed = context.subresource.is_empty() && new.spec.template != old.spec.template;
    let generation = template_generation(&old.metadata.annotations) + i64::from(changed);
    new.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// Mirrors `deploymentStrategy.PrepareForUpdate`: the controller copies annotations, so their changes count too.
pub fn update_deployment(context: &Context, new: &mut Deployment, old: &Deployment) {
    if context.subresource.is_empty() && new.metadata.annotations != old.metadata.annotations {
        new.metadata.generation = old.metadata.generation + 1;
    }
}

fn template_generation(annotations: &BTreeMap<String, String>) -> i64 {
    annotations.get(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0)
}
