//! Has flow control follow the stored flow schemas and priority levels, and says of each schema whether there is its level (upstream:
//! `configController`).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use endpoints::{Loopback, ServerContext};
use flowcontrol::{FlowControl, PriorityLevel};
use generated::flowcontrol::v1::{FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration, condition_status};
use machinery::scalar::Time;
use machinery::status::Status;
use registry::Informer;
use serde_json::json;
use tokio::time::Instant;

use super::{FLOW_SCHEMAS, PRIORITY_LEVELS, convert};

/// Who owns the condition.
const MANAGER: &str = "api-priority-and-fairness-config-consumer-v1";
/// The type of the condition.
const DANGLING: &str = "Dangling";
/// How often the condition of one schema is written within [`UPDATE_WINDOW`]: servers of different releases may disagree about it.
const MOST_UPDATES: usize = 6;
const UPDATE_WINDOW: Duration = Duration::from_secs(60);
/// How soon a condition that could not be written is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Follows the configuration.
struct Consumer {
    control: FlowControl,
    loopback: Arc<Loopback>,
    schemas: Informer<FlowSchema>,
    levels: Informer<PriorityLevelConfiguration>,
    /// What flow control follows.
    followed: (Vec<flowcontrol::FlowSchema>, Vec<PriorityLevel>),
    /// When the conditions of schemas were written.
    updates: HashMap<String, VecDeque<Instant>>,
}

/// Begins to follow; returns when the configuration that was stored holds.
pub async fn start(environment: &ServerContext, loopback: &Arc<Loopback>, control: &FlowControl) {
    let schemas: Option<Informer<FlowSchema>> = environment.informers.of(FLOW_SCHEMAS.0, FLOW_SCHEMAS.2);
    let levels: Option<Informer<PriorityLevelConfiguration>> =
        environment.informers.of(PRIORITY_LEVELS.0, PRIORITY_LEVELS.2);
    let (Some(schemas), Some(levels)) = (schemas, levels) else { return };
    schemas.synced().await;
    levels.synced().await;
    let (control, loopback) = (control.clone(), loopback.clone());
    let (followed, updates) = Default::default();
    let mut consumer = Consumer { control, loopback, schemas, levels, followed, updates };
    consumer.configure();
    tokio::spawn(consumer.follow());
}

impl Consumer {
    async fn follow(mut self) {
        let (mut schemas, mut levels) = (self.schemas.changes(), self.levels.changes());
        loop {
            let known = self.configure();
            let settled = self.say_what_dangles(&known).await;
            let retry = async {
                match settled {
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

    /// Has flow control follow what is stored now; gives the names of the levels that can be followed.
    fn configure(&mut self) -> BTreeSet<String> {
        let mut levels = Vec::new();
        for stored in self.levels.all() {
            match convert::level(&stored) {
                Some(level) => levels.push(level),
                None => {
                    tracing::warn!(name = stored.metadata.name, "a priority level contradicts itself and is ignored")
                }
            }
        }
        let known = levels.iter().map(|level| level.name.clone()).collect();
        let schemas = self.schemas.all().iter().map(|schema| convert::schema(schema)).collect();
        let configured = (schemas, levels);
        // Most changes are those of conditions.
        if self.followed != configured {
            self.followed.clone_from(&configured);
            self.control.configure(configured.0, configured.1);
        }
        known
    }

    /// Writes the conditions that are not true; whether all are, then.
    async fn say_what_dangles(&mut self, levels: &BTreeSet<String>) -> bool {
        let mut settled = true;
        for schema in self.schemas.all() {
            let condition = condition(&schema, levels);
            if says(&schema, &condition) {
                continue;
            }
            let name = &schema.metadata.name;
            match self.may_update(name) {
                true => settled &= self.write(name, &condition).await,
                false => settled = false,
            }
        }
        let names: BTreeSet<String> = self.schemas.all().iter().map(|schema| schema.metadata.name.clone()).collect();
        self.updates.retain(|name, _| names.contains(name));
        settled
    }

    async fn write(&self, name: &str, condition: &FlowSchemaCondition) -> bool {
        match self.apply(name, condition).await {
            Ok(()) => true,
            // It is gone, and so is what there was to say.
            Err(status) if status.code == 404 => true,
            Err(status) => {
                tracing::warn!(name, why = status.message, "writing the condition of a flow schema");
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

    /// Whether the condition of a schema was not written too often lately; counts this time.
    fn may_update(&mut self, name: &str) -> bool {
        let now = Instant::now();
        let updates = self.updates.entry(name.to_owned()).or_default();
        updates.retain(|at| now.duration_since(*at) < UPDATE_WINDOW);
        let may = updates.len() < MOST_UPDATES;
        if may {
            updates.push_back(now);
        }
        may
    }
}

/// Whether a schema's level is there.
fn condition(schema: &FlowSchema, levels: &BTreeSet<String>) -> FlowSchemaCondition {
    let level = &schema.spec.priority_level_configuration.name;
    let about = format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?}");
    let (status, reason, message) = match levels.contains(level) {
        true => (condition_status::FALSE, "Found", format!("{about} and it exists")),
        false => (condition_status::TRUE, "NotFound", format!("{about} but there is no such object")),
    };
    FlowSchemaCondition {
        r#type: DANGLING.to_owned(),
        status: status.to_owned(),
        last_transition_time: Time::from(std::time::SystemTime::now()),
        reason: reason.to_owned(),
        message,
    }
}

/// Whether a schema says this already.
fn says(schema: &FlowSchema, condition: &FlowSchemaCondition) -> bool {
    let same = |said: &&FlowSchemaCondition| said.r#type == condition.r#type;
    schema.status.conditions.iter().find(same).is_some_and(|said| {
        (&said.status, &said.reason, &said.message) == (&condition.status, &condition.reason, &condition.message)
    })
}
