//! The default flow schemas and priority levels, and the controller that applies stored ones to
//! flow control (upstream: `flowcontrolrest`, `apf/internalbootstrap`).

mod consumer;
mod convert;

use std::sync::Arc;
use std::time::Duration;

use consumer::{FLOW_SCHEMAS, PRIORITY_LEVELS};
use endpoints::{GroupVersionResource, Loopback};
use flowcontrol::FlowControl;
use futures_util::future::try_join_all;
use generated::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use machinery::json;
use machinery::reflect::{Mut, Struct};
use machinery::status::Status;
use registry::{Clock, Informers};
use serde_json::Value;
use serving::health::Health;

/// The default objects.
const POLICY: &str = include_str!("flow_control/policy.json");
/// The annotation that enables updates of the object by the server; `true` until a user changes it.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";

/// The field manager of objects that this server creates
/// (`flowcontrol.ConfigProducerFieldManager`).
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
/// The reconciliation interval.
const INTERVAL: Duration = Duration::from_secs(60);

/// Creates missing objects and starts their reconciliation. `control` is `None` when priority and
/// fairness is disabled.
pub async fn start(
    informers: &Informers,
    clock: &Arc<dyn Clock>,
    health: &Health,
    control: Option<&FlowControl>,
    loopback: &Arc<Loopback>,
) -> Result<(), Status> {
    if !loopback.serves(FLOW_SCHEMAS) || !loopback.serves(PRIORITY_LEVELS) {
        return Ok(());
    }
    let hook = health.pending("poststarthook/priority-and-fairness-config-producer");
    let policy: Value = serde_json::from_str(POLICY).map_err(Status::internal)?;
    let producer = loopback.managed_by(PRODUCER);
    ensure_all(&producer, &policy).await?;
    hook.done();
    if let Some(control) = control {
        let hook = health.pending("poststarthook/priority-and-fairness-config-consumer");
        consumer::start(informers, clock, loopback, control).await;
        hook.done();
    }
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(status) = ensure_all(&producer, &policy).await {
                tracing::warn!(
                    why = status.message,
                    "cannot reconcile the default flow schemas and priority levels; retrying"
                );
            }
        }
    });
    Ok(())
}

async fn ensure_all(loopback: &Loopback, policy: &Value) -> Result<(), Status> {
    let parts = [("mandatory", true), ("suggested", false)];
    let entries = |kind: &'static str| {
        let of_part = move |(part, mandatory): (&str, bool)| {
            policy[part][kind].as_array().into_iter().flatten().map(move |entry| (entry, mandatory))
        };
        parts.into_iter().flat_map(of_part)
    };
    let levels = entries("priorityLevels")
        .map(|(entry, mandatory)| ensure::<PriorityLevelConfiguration>(loopback, PRIORITY_LEVELS, entry, mandatory));
    let schemas =
        entries("flowSchemas").map(|(entry, mandatory)| ensure::<FlowSchema>(loopback, FLOW_SCHEMAS, entry, mandatory));
    tokio::try_join!(try_join_all(levels), try_join_all(schemas))?;
    Ok(())
}

/// A kind of this group with metadata and a spec.
trait Configuration: Struct + Clone {
    fn metadata(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta;
    /// Copies the spec of another object. Returns whether it changed.
    fn copy_spec(&mut self, other: &Self) -> bool;
}

macro_rules! configuration {
    ($kind:ty) => {
        impl Configuration for $kind {
            fn metadata(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta {
                &mut self.metadata
            }

            fn copy_spec(&mut self, other: &Self) -> bool {
                let differs = self.spec != other.spec;
                self.spec.clone_from(&other.spec);
                differs
            }
        }
    };
}

configuration!(FlowSchema);
configuration!(PriorityLevelConfiguration);

/// Creates an object, or updates its spec if a user has not taken it over. Mandatory objects are
/// always updated.
async fn ensure<T: Configuration>(
    loopback: &Loopback,
    resource: GroupVersionResource,
    entry: &Value,
    mandatory: bool,
) -> Result<(), Status> {
    let mut wanted = T::default();
    json::from_value(entry, Mut::of(&mut wanted), &mut json::Issues::ignore()).map_err(Status::internal)?;
    let name = entry["name"].as_str().unwrap_or_default();
    wanted.metadata().name = name.to_owned();
    wanted.metadata().annotations.insert(AUTO_UPDATE.into(), "true".into());
    let outcome = match loopback.get::<T>(resource, "", name).await? {
        None => loopback.create(resource, wanted).await.map(drop),
        Some(mut stored) => {
            let annotations = &mut stored.metadata().annotations;
            let auto_updated = mandatory || annotations.get(AUTO_UPDATE).is_some_and(|value| value == "true");
            if !(auto_updated && stored.copy_spec(&wanted)) {
                return Ok(());
            }
            loopback.update(resource, stored).await.map(drop)
        }
    };
    match outcome {
        // Another server was faster.
        Err(status) if matches!(status.code, 404 | 409) => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_default_policy() {
        let policy: Value = serde_json::from_str(POLICY).unwrap();
        let names = |part: &str, list: &str| -> Vec<&str> {
            policy[part][list].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
        };
        assert_eq!(names("mandatory", "flowSchemas"), ["exempt", "catch-all"]);
        assert_eq!(names("mandatory", "priorityLevels"), ["catch-all", "exempt"]);
        assert_eq!((names("suggested", "flowSchemas").len(), names("suggested", "priorityLevels").len()), (9, 6));
    }
}
