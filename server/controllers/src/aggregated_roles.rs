//! Fills cluster roles with the rules of the roles that they select (upstream:
//! `clusterroleaggregation.ClusterRoleAggregationController`).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use endpoints::{GroupVersionResource, Loopback};
use generated::rbac::v1::{ClusterRole, PolicyRule};
use machinery::selector::LabelSelector;
use machinery::status::Status;
use registry::{ListQuery, Predicate, ResourceStore};

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;

const ROLES: GroupVersionResource = ("rbac.authorization.k8s.io", "v1", "clusterroles");
/// Upstream's field manager.
const MANAGER: &str = "clusterrole-aggregation-controller";
/// Upstream's number of workers.
const WORKERS: usize = 5;

/// Keeps the rules of aggregated roles current.
///
/// # Errors
/// The server lacks cluster roles.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(ROLES.0, ROLES.2)?;
    let loopback = context.loopback().managed_by(MANAGER);
    let (queue, everything) = (context.queue("ClusterRoleAggregator"), Predicate::default());
    let aggregated: Mutex<BTreeSet<String>> = Mutex::default();
    let changes = follow(&store, &everything, |event: Event<ClusterRole>| {
        let mut aggregated = aggregated.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Stored(role) if role.aggregation_rule.is_some() => drop(aggregated.insert(role.metadata.name)),
            Event::Stored(role) | Event::Deleted(role) => drop(aggregated.remove(&role.metadata.name)),
            Event::Listed => {}
        }
        // Any role may be one of those that an aggregated role selects.
        aggregated.iter().for_each(|name| queue.add(name.clone()));
    });
    let work = queue.work("clusterrole-aggregation-controller", WORKERS, |name| sync(&store, &loopback, name));
    tokio::join!(changes, work);
    Ok(())
}

async fn sync(store: &ResourceStore, loopback: &Loopback, name: String) -> Result<Next, Status> {
    let Some(mut role) = loopback.get::<ClusterRole>(ROLES, "", &name).await? else { return Ok(Next::Done) };
    let Some(selectors) = selectors(&role)? else { return Ok(Next::Done) };
    let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
    let mut rules: Vec<PolicyRule> = Vec::new();
    for entry in store.list("", &Predicate::default(), &query).await?.entries {
        let Ok(other) = store.object(&entry)?.into_inner::<ClusterRole>() else { continue };
        let label = |key: &str| other.metadata.labels.get(key).map(String::as_str);
        if other.metadata.name == name || !selectors.iter().any(|selector| selector.matches(label)) {
            continue;
        }
        // Cluster roles are listed by name, which is upstream's order.
        for rule in other.rules {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    if rules == role.rules {
        return Ok(Next::Done);
    }
    role.rules = rules;
    match loopback.update(ROLES, role).await {
        Err(status) if status.code == 404 => Ok(Next::Done),
        written => written.map(|_| Next::Done),
    }
}

/// The selectors of an aggregated role; `None` for other roles.
fn selectors(role: &ClusterRole) -> Result<Option<Vec<LabelSelector>>, Status> {
    let Some(rule) = &role.aggregation_rule else { return Ok(None) };
    let selectors = rule.cluster_role_selectors.iter().map(|selector| {
        let labels = selector.match_labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let expressions = selector.match_expressions.iter();
        let expressions = expressions.map(|term| (term.key.as_str(), term.operator.as_str(), term.values.as_slice()));
        LabelSelector::from_api(labels, expressions).map_err(Status::internal)
    });
    selectors.collect::<Result<_, _>>().map(Some)
}
