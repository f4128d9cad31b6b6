//! Applies stored flow schemas and priority levels to flow control, and maintains the `Dangling`
//! condition of schemas (upstream: `configController`).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use flowcontrol::{FlowControl, PriorityLevel};
use generated::flowcontrol::v1::{FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration, condition_status};
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{Clock, Informer, Informers};
use serde_json::json;
use tokio::time::Instant;

use super::convert;

const GROUP: &str = "flowcontrol.apiserver.k8s.io";

pub(super) const FLOW_SCHEMAS: GroupVersionResource = (GROUP, "v1", "flowschemas");

pub(super) const PRIORITY_LEVELS: GroupVersionResource = (GROUP, "v1", "prioritylevelconfigurations");

/// The field manager of the condition.
const MANAGER: &str = "api-priority-and-fairness-config-consumer-v1";
/// The type of the condition.
const DANGLING: &str = "Dangling";
/// Maximum number of condition updates of one schema within [`UPDATE_WINDOW`]. Servers of different
/// releases may disagree about a condition.
const MAX_UPDATES: usize = 6;
const UPDATE_WINDOW: Duration = Duration::from_secs(60);
/// The retry delay after a failed or delayed update of a condition.
const RETRY: Duration = Duration::from_secs(5);

/// The controller.
struct Consumer {
    control: FlowControl,
    loopback: Arc<Loopback>,
    clock: Arc<dyn Clock>,
    schemas: Informer<FlowSchema>,
    levels: Informer<PriorityLevelConfiguration>,
    /// The configuration that flow control currently uses.
    applied: (Vec<flowcontrol::FlowSchema>, Vec<PriorityLevel>),
    /// Times of recent condition updates, by schema name.
    updates: HashMap<String, VecDeque<Instant>>,
}

/// Starts the controller. Returns after the stored configuration was applied.
pub async fn start(informers: &Informers, clock: &Arc<dyn Clock>, loopback: &Arc<Loopback>, control: &FlowControl) {
    let schemas: Option<Informer<FlowSchema>> = informers.of(FLOW_SCHEMAS.0, FLOW_SCHEMAS.2);
    let levels: Option<Informer<PriorityLevelConfiguration>> = informers.of(PRIORITY_LEVELS.0, PRIORITY_LEVELS.2);
    let (Some(schemas), Some(levels)) = (schemas, levels) else { return };
    schemas.synced().await;
    levels.synced().await;
    let (control, loopback, clock) = (control.clone(), loopback.clone(), clock.clone());
    let (applied, updates) = Default::default();
    let mut consumer = Consumer { control, loopback, clock, schemas, levels, applied, updates };
    consumer.configure();
    tokio::spawn(consumer.follow());
}

impl Consumer {
    async fn follow(mut self) {
        let (mut schemas, mut levels) = (self.schemas.changes(), self.levels.changes());
        loop {
            let known = self.configure();
            let all_current = self.update_conditions(&known).await;
            let retry = async {
                match all_current {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(RETRY).await,
                }
            };
            tokio::select! {
                ended = schemas.changed() => if ended.is_err() { return },
                ended = levels.changed() => if ended.is_err() { return },
                () = retry => {}
            }
        }
    }

    /// Applies the stored configuration. Returns the names of valid priority levels.
    fn configure(&mut self) -> BTreeSet<String> {
        let mut levels = Vec::new();
        for stored in self.levels.all() {
            match convert::level(&stored) {
                Some(level) => levels.push(level),
                None => {
                    tracing::warn!(name = stored.metadata.name, "invalid priority level configuration; ignored")
                }
            }
        }
        let known = levels.iter().map(|level| level.name.clone()).collect();
        let schemas = self.schemas.all().iter().map(|schema| convert::schema(schema)).collect();
        let configured = (schemas, levels);
        // Most changes affect conditions only.
        if self.applied != configured {
            self.applied.clone_from(&configured);
            self.control.configure(configured.0, configured.1);
        }
        known
    }

    /// Updates outdated conditions. Returns whether all conditions are current.
    async fn update_conditions(&mut self, levels: &BTreeSet<String>) -> bool {
        let mut all_current = true;
        for schema in self.schemas.all() {
            let condition = condition(&schema, levels, self.clock.now());
            if has_condition(&schema, &condition) {
                continue;
            }
            let name = &schema.metadata.name;
            match self.may_update(name) {
                true => all_current &= self.write(name, &condition).await,
                false => all_current = false,
            }
        }
        let names: BTreeSet<String> = self.schemas.all().iter().map(|schema| schema.metadata.name.clone()).collect();
        self.updates.retain(|name, _| names.contains(name));
        all_current
    }

    async fn write(&self, name: &str, condition: &FlowSchemaCondition) -> bool {
        match self.apply(name, condition).await {
            Ok(()) => true,
            // The schema was deleted.
            Err(status) if status.code == 404 => true,
            Err(status) => {
                tracing::warn!(
                    name,
                    why = status.message,
                    "cannot update the Dangling condition of the flow schema; retrying"
                );
                false
            }
        }
    }

    async fn apply(&self, name: &str, condition: &FlowSchemaCondition) -> Result<(), Status> {
        let status = json!({"conditions": [{
            "type": condition.r#type,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
            "lastTransitionTime": condition.last_transition_time.to_string(),
        }]});
        self.loopback.apply_status(FLOW_SCHEMAS, name, MANAGER, status).await
    }

    /// Whether the rate limit allows an update of the condition. Counts the update.
    fn may_update(&mut self, name: &str) -> bool {
        let now = Instant::now();
        let updates = self.updates.entry(name.to_owned()).or_default();
        updates.retain(|at| now.duration_since(*at) < UPDATE_WINDOW);
        let may = updates.len() < MAX_UPDATES;
        if may {
            updates.push_back(now);
        }
        may
    }
}

/// Builds the condition: whether the schema's priority level exists.
fn condition(schema: &FlowSchema, levels: &BTreeSet<String>, now: Time) -> FlowSchemaCondition {
    let level = &schema.spec.priority_level_configuration.name;
    let about = format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?}");
    let (status, reason, message) = match levels.contains(level) {
        true => (condition_status::FALSE, "Found", format!("{about} and it exists")),
        false => (condition_status::TRUE, "NotFound", format!("{about} but there is no such object")),
    };
    FlowSchemaCondition {
        r#type: DANGLING.to_owned(),
        status: status.to_owned(),
        last_transition_time: now,
        reason: reason.to_owned(),
        message,
    }
}

/// Whether a schema has this condition.
fn has_condition(schema: &FlowSchema, condition: &FlowSchemaCondition) -> bool {
    let same = |current: &&FlowSchemaCondition| current.r#type == condition.r#type;
    schema.status.conditions.iter().find(same).is_some_and(|current| {
        (&current.status, &current.reason, &current.message)
            == (&condition.status, &condition.reason, &condition.message)
    })
}
