//! Defaults of workloads, which depend on the strategy. Some differ by version: old versions make
//! values explicit that controllers used to imply.

use machinery::scalar::IntOrString;

use crate::core::meta::{labels_from_template, selector_from_template};
use generated::apps::v1::{
    DaemonSet, Deployment, DeploymentStrategy, StatefulSet, StatefulSetUpdateStrategy, daemon_set_update_strategy_type,
    deployment_strategy_type, stateful_set_update_strategy_type,
};
use generated::apps::v1beta1;

/// Mirrors `SetDefaults_DaemonSet`.
pub fn default_daemon_set(set: &mut DaemonSet) {
    let strategy = &mut set.spec.update_strategy;
    if strategy.r#type == daemon_set_update_strategy_type::ROLLING_UPDATE {
        let update = strategy.rolling_update.get_or_insert_default();
        update.max_unavailable.get_or_insert(IntOrString::Int(1));
        update.max_surge.get_or_insert(IntOrString::Int(0));
    }
}

/// Mirrors `SetDefaults_Deployment`.
pub fn default_deployment(deployment: &mut Deployment) {
    default_strategy(&mut deployment.spec.strategy);
}

fn default_strategy(strategy: &mut DeploymentStrategy) {
    if strategy.r#type == deployment_strategy_type::ROLLING_UPDATE {
        let update = strategy.rolling_update.get_or_insert_default();
        update.max_unavailable.get_or_insert_with(|| "25%".into());
        update.max_surge.get_or_insert_with(|| "25%".into());
    }
}

/// Mirrors `SetDefaults_StatefulSet`: the parameters of a rolling update are set only if the strategy
/// is absent, or if some of them are set.
pub fn default_stateful_set(set: &mut StatefulSet) {
    let strategy = &mut set.spec.update_strategy;
    if strategy.r#type.is_empty() {
        strategy.r#type = stateful_set_update_strategy_type::ROLLING_UPDATE.to_owned();
        strategy.rolling_update.get_or_insert_default();
    }
    default_partition(strategy);
}

/// `maxUnavailable` has a default only with the feature gate MaxUnavailableStatefulSet, which is off by default.
fn default_partition(strategy: &mut StatefulSetUpdateStrategy) {
    if strategy.r#type == stateful_set_update_strategy_type::ROLLING_UPDATE
        && let Some(update) = &mut strategy.rolling_update
    {
        update.partition.get_or_insert(0);
    }
}

/// Mirrors `SetDefaults_Deployment` of apps/v1beta1.
pub fn default_v1beta1_deployment(deployment: &mut v1beta1::Deployment) {
    let spec = &mut deployment.spec;
    selector_from_template(&mut spec.selector, &spec.template.metadata.labels);
    labels_from_template(&mut deployment.metadata.labels, &spec.template.metadata.labels);
    default_strategy(&mut spec.strategy);
}

/// Mirrors `SetDefaults_StatefulSet` of apps/v1beta1.
pub fn default_v1beta1_stateful_set(set: &mut v1beta1::StatefulSet) {
    let spec = &mut set.spec;
    selector_from_template(&mut spec.selector, &spec.template.metadata.labels);
    labels_from_template(&mut set.metadata.labels, &spec.template.metadata.labels);
    default_partition(&mut spec.update_strategy);
}
