//! The flow schemas and priority levels that a cluster begins with, made and mended (upstream: `flowcontrolrest`, `apf/internalbootstrap`), and
//! the server's own following them.

mod consumer;
mod convert;

use std::sync::Arc;
use std::time::Duration;

use endpoints::{Loopback, Resource, ServerContext};
use futures_util::future::try_join_all;
use generated::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use machinery::json;
use machinery::reflect::{Mut, Struct};
use machinery::status::Status;
use serde_json::Value;

/// What they are.
const POLICY: &str = include_str!("flow_control/policy.json");
/// Whether an object follows what this server thinks right: `true` until somebody changes it.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const FLOW_SCHEMAS: Resource = (GROUP, "v1", "flowschemas");
const PRIORITY_LEVELS: Resource = (GROUP, "v1", "prioritylevelconfigurations");
/// The field manager of the objects that this server makes (`flowcontrol.ConfigProducerFieldManager`).
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
/// How often everything is looked at.
const INTERVAL: Duration = Duration::from_secs(60);

/// Makes what is missing, and looks after it from then on.
pub async fn start(environment: &Arc<ServerContext>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    if !loopback.serves(FLOW_SCHEMAS) || !loopback.serves(PRIORITY_LEVELS) {
        return Ok(());
    }
    let hook = environment.health.pending("poststarthook/priority-and-fairness-config-producer");
    let policy: Value = serde_json::from_str(POLICY).map_err(Status::internal)?;
    let producer = loopback.managed_by(PRODUCER);
    ensure_all(&producer, &policy).await?;
    hook.done();
    if let Some(control) = &environment.flow_control {
        let hook = environment.health.pending("poststarthook/priority-and-fairness-config-consumer");
        consumer::start(environment, loopback, control).await;
        hook.done();
    }
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(status) = ensure_all(&producer, &policy).await {
                tracing::warn!(why = status.message, "keeping flow schemas and priority levels");
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

/// A kind of this group: its metadata and its specification.
trait Configuration: Struct + Clone {
    fn metadata(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta;
    /// Takes the other's specification; whether that changed anything.
    fn follow(&mut self, other: &Self) -> bool;
}

macro_rules! configuration {
    ($kind:ty) => {
        impl Configuration for $kind {
            fn metadata(&mut self) -> &mut apimachinery::meta::v1::ObjectMeta {
                &mut self.metadata
            }

            fn follow(&mut self, other: &Self) -> bool {
                let differs = self.spec != other.spec;
                self.spec.clone_from(&other.spec);
                differs
            }
        }
    };
}

configuration!(FlowSchema);
configuration!(PriorityLevelConfiguration);

/// Creates an object, or corrects it when nobody has made it their own. What is mandatory is nobody's own.
async fn ensure<T: Configuration>(
    loopback: &Loopback,
    resource: Resource,
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
            let followed = mandatory || annotations.get(AUTO_UPDATE).is_some_and(|value| value == "true");
            if !(followed && stored.follow(&wanted)) {
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
    fn the_policy_can_be_read() {
        let policy: Value = serde_json::from_str(POLICY).unwrap();
        let names = |part: &str, list: &str| -> Vec<&str> {
            policy[part][list].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
        };
        assert_eq!(names("mandatory", "flowSchemas"), ["exempt", "catch-all"]);
        assert_eq!(names("mandatory", "priorityLevels"), ["catch-all", "exempt"]);
        assert_eq!((names("suggested", "flowSchemas").len(), names("suggested", "priorityLevels").len()), (9, 6));
    }
}
