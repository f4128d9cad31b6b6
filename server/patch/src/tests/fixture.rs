//! Kinds for tests: a ConfigMap, and a Deployment with its pod template flattened into its spec.

use std::collections::BTreeMap;

use machinery::def::{FieldInfo, Flags, ListType, Literal, PatchStrategy, StructDef};
use machinery::reflect::{Owned, Struct};
use machinery::scalar::{JsonValue, Quantity};
use machinery::status::Status;
use machinery::{describe, json};
use serde_json::Value;

use crate::field_set::Filter;
use crate::managed::{self, Applied, FieldManagerContext, ObjectVersions, OwnerEntry, Update};
use crate::schema::SchemaType;
use crate::typed::{self, Comparison};

/// Returns owners without times, as the registry compares them before it writes an update.
fn without_times(owners: &[OwnerEntry]) -> Vec<OwnerEntry> {
    owners.iter().map(|owner| OwnerEntry { time: None, ..owner.clone() }).collect()
}

#[derive(Default, Clone)]
pub(super) struct TypeMeta {
    pub kind: String,
    pub api_version: String,
}
describe! { TypeMeta, TYPE_META "TypeMeta" {} [
    kind: "kind", 1, Flags::OMIT_EMPTY;
    api_version: "apiVersion", 2, Flags::OMIT_EMPTY;
] }

const SET: FieldInfo = FieldInfo { list: ListType::Set, patch_strategy: PatchStrategy::Merge, ..FieldInfo::PLAIN };

#[derive(Default, Clone)]
pub(super) struct ObjectMeta {
    pub name: String,
    pub namespace: String,
    pub uid: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub finalizers: Vec<String>,
    pub managed_fields: Vec<JsonValue>,
}
describe! { ObjectMeta, OBJECT_META "ObjectMeta" {} [
    name: "name", 1, Flags::OMIT_EMPTY;
    namespace: "namespace", 3, Flags::OMIT_EMPTY;
    uid: "uid", 5, Flags::OMIT_EMPTY;
    labels: "labels", 11, Flags::OMIT_EMPTY;
    annotations: "annotations", 12, Flags::OMIT_EMPTY;
    finalizers: "finalizers", 14, Flags::OMIT_EMPTY, &SET;
    managed_fields: "managedFields", 17, Flags::OMIT_EMPTY;
] }

#[derive(Default, Clone)]
pub(super) struct ConfigMap {
    pub type_meta: TypeMeta,
    pub metadata: ObjectMeta,
    pub data: BTreeMap<String, String>,
}
describe! { ConfigMap, CONFIG_MAP "ConfigMap" {} [
    type_meta: "", 0, Flags::INLINE;
    metadata: "metadata", 1, Flags::OMIT_EMPTY;
    data: "data", 2, Flags::OMIT_EMPTY;
] }

const PROTOCOL: FieldInfo = FieldInfo { default: Some(Literal::String("TCP")), ..FieldInfo::PLAIN };

#[derive(Default, Clone)]
pub(super) struct Port {
    pub name: String,
    pub container_port: i32,
    pub protocol: String,
}
describe! { Port, PORT "ContainerPort" {} [
    name: "name", 1, Flags::OMIT_EMPTY;
    container_port: "containerPort", 3, Flags::NONE;
    protocol: "protocol", 4, Flags::OMIT_EMPTY, &PROTOCOL;
] }

const PORTS: FieldInfo = FieldInfo {
    list: ListType::Map(&["containerPort", "protocol"]),
    patch_strategy: PatchStrategy::Merge,
    patch_merge_key: "containerPort",
    ..FieldInfo::PLAIN
};

#[derive(Default, Clone)]
pub(super) struct Container {
    pub name: String,
    pub image: String,
    pub args: Vec<String>,
    pub ports: Vec<Port>,
    pub limits: BTreeMap<String, Quantity>,
}
describe! { Container, CONTAINER "Container" {} [
    name: "name", 1, Flags::NONE;
    image: "image", 2, Flags::OMIT_EMPTY;
    args: "args", 4, Flags::OMIT_EMPTY;
    ports: "ports", 6, Flags::OMIT_EMPTY, &PORTS;
    limits: "limits", 8, Flags::OMIT_EMPTY;
] }

#[derive(Default, Clone)]
pub(super) struct Rolling {
    pub max_surge: Option<i32>,
}
describe! { Rolling, ROLLING "RollingUpdateDeployment" {} [
    max_surge: "maxSurge", 2, Flags::OMIT_EMPTY;
] }

#[derive(Default, Clone)]
pub(super) struct Strategy {
    pub kind: String,
    pub rolling_update: Option<Box<Rolling>>,
}
describe! { Strategy, STRATEGY "DeploymentStrategy" {} [
    kind: "type", 1, Flags::OMIT_EMPTY;
    rolling_update: "rollingUpdate", 2, Flags::OMIT_EMPTY;
] }

const CONTAINERS: FieldInfo = FieldInfo {
    list: ListType::Map(&["name"]),
    patch_strategy: PatchStrategy::Merge,
    patch_merge_key: "name",
    ..FieldInfo::PLAIN
};
const RETAIN_KEYS: FieldInfo = FieldInfo { patch_strategy: PatchStrategy::RetainKeys, ..FieldInfo::PLAIN };
const ATOMIC_MAP: FieldInfo = FieldInfo { map_atomic: Some(true), ..FieldInfo::PLAIN };

#[derive(Default, Clone)]
pub(super) struct Spec {
    pub replicas: Option<i32>,
    pub paused: bool,
    pub selector: BTreeMap<String, String>,
    pub strategy: Strategy,
    pub containers: Vec<Container>,
    pub node_selector: BTreeMap<String, String>,
}
describe! { Spec, SPEC "DeploymentSpec" {} [
    replicas: "replicas", 1, Flags::OMIT_EMPTY;
    paused: "paused", 7, Flags::OMIT_EMPTY;
    selector: "selector", 2, Flags::OMIT_EMPTY, &ATOMIC_MAP;
    strategy: "strategy", 4, Flags::OMIT_EMPTY, &RETAIN_KEYS;
    containers: "containers", 3, Flags::NONE, &CONTAINERS;
    node_selector: "nodeSelector", 8, Flags::OMIT_EMPTY;
] }

#[derive(Default, Clone)]
pub(super) struct Deployment {
    pub type_meta: TypeMeta,
    pub metadata: ObjectMeta,
    pub spec: Spec,
}
describe! { Deployment, DEPLOYMENT "Deployment" {} [
    type_meta: "", 0, Flags::INLINE;
    metadata: "metadata", 1, Flags::OMIT_EMPTY;
    spec: "spec", 2, Flags::OMIT_EMPTY;
] }

pub(super) fn deployment() -> &'static StructDef {
    Deployment::def()
}

/// An object and its writers; the clock advances by a second with each request.
pub(super) struct Server {
    def: &'static StructDef,
    api_version: &'static str,
    kind: &'static str,
    pub live: Option<Value>,
    seconds: u32,
}

impl Server {
    pub(super) fn of_config_map() -> Self {
        Server { def: ConfigMap::def(), api_version: "v1", kind: "ConfigMap", live: None, seconds: 0 }
    }

    pub(super) fn of_deployment() -> Self {
        Server { def: Deployment::def(), api_version: "apps/v1", kind: "Deployment", live: None, seconds: 0 }
    }

    pub(super) fn def(&self) -> &'static StructDef {
        self.def
    }

    pub(super) fn schema(&self) -> SchemaType<'static> {
        SchemaType::Struct(self.def)
    }

    fn with<T>(
        &mut self,
        manager: &str,
        act: impl FnOnce(&FieldManagerContext<'_, 'static>, Option<&Value>) -> T,
    ) -> T {
        self.seconds += 1;
        let now = format!("2001-02-03T04:05:{:02}Z", self.seconds);
        let context = FieldManagerContext {
            manager,
            api_version: self.api_version,
            kind: self.kind,
            subresource: "",
            now: &now,
            schema: SchemaType::Struct(self.def),
            filter: &Filter::None,
            schemas: &|_| None,
            convert: &|document, _| Ok(document.clone()),
            zeros_have_owners: false,
        };
        act(&context, self.live.as_ref())
    }

    fn complete(&self, mut object: Value) -> Value {
        object["apiVersion"] = self.api_version.into();
        object["kind"] = self.kind.into();
        object["metadata"]["name"] = "a".into();
        object
    }

    /// Creates or updates the object; the new object has the live one's managed fields, as after a patch.
    pub(super) fn write(&mut self, manager: &str, object: Value) -> &Value {
        let mut new = self.complete(object);
        let live_owners = self.live.as_ref().map(entries);
        let has_owners = new["metadata"].get("managedFields").is_some();
        let new_owners = if has_owners { entries(&new) } else { live_owners.clone().unwrap_or_default() };
        let versions = Documents { def: self.def, live: self.live.clone(), new: new.clone() };
        let mut owners = self.with(manager, |context, _| {
            let update = Update { live: live_owners.as_deref(), new: &new_owners, versions: &versions };
            managed::on_update(context, &update)
        });
        if let (Some(changes), Some(live_owners)) = (versions.compare(self.api_version), live_owners)
            && changes == Comparison::default()
            && without_times(&live_owners) == without_times(&owners)
        {
            owners = live_owners;
        }
        new["metadata"]["managedFields"] = owners.iter().map(document).collect();
        self.store(new)
    }

    pub(super) fn try_apply(&mut self, manager: &str, object: Value, force: bool) -> Result<Applied, Status> {
        let config = self.complete(object);
        let applied = self.with(manager, |context, live| managed::apply(context, live, &config, force))?;
        self.store(applied.object.clone());
        Ok(applied)
    }

    pub(super) fn apply(&mut self, manager: &str, object: Value) -> &Value {
        self.try_apply(manager, object, false).unwrap();
        self.live.as_ref().unwrap()
    }

    fn store(&mut self, mut object: Value) -> &Value {
        object["metadata"]["uid"] = "u".into();
        self.live.insert(object)
    }

    /// Returns one line per entry: `manager Operation second: fields`.
    pub(super) fn owners(&self) -> String {
        let entries = self.live.as_ref().and_then(|live| live.pointer("/metadata/managedFields")?.as_array());
        let lines = entries.into_iter().flatten().map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or("-").to_string();
            let time = text("time").trim_end_matches('Z').rsplit(':').next().unwrap_or("-").to_string();
            format!("{} {} {time}: {}", text("manager"), text("operation"), entry["fieldsV1"])
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Returns the owners in a document.
pub(super) fn entries(object: &Value) -> Vec<OwnerEntry> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let entry = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_string();
        OwnerEntry {
            manager: text("manager"),
            operation: text("operation"),
            api_version: text("apiVersion"),
            time: entry["time"].as_str().map(Into::into),
            fields_type: text("fieldsType"),
            fields: entry.get("fieldsV1").map(|fields| fields.to_string().as_str().into()),
            subresource: text("subresource"),
        }
    };
    entries.into_iter().flatten().map(entry).collect()
}

fn document(entry: &OwnerEntry) -> Value {
    let mut document = serde_json::json!({
        "manager": entry.manager,
        "operation": entry.operation,
        "apiVersion": entry.api_version,
        "fieldsType": entry.fields_type,
        "fieldsV1": serde_json::from_slice::<Value>(entry.fields.as_ref().unwrap().as_bytes()).unwrap(),
    });
    if let Some(time) = &entry.time {
        document["time"] = time.as_str().into();
    }
    document
}

/// A stored and a new object in the only version.
pub(super) struct Documents {
    pub def: &'static StructDef,
    pub live: Option<Value>,
    pub new: Value,
}

impl ObjectVersions<'static> for Documents {
    fn schema(&self, _: &str) -> Option<SchemaType<'static>> {
        Some(SchemaType::Struct(self.def))
    }

    fn compare(&self, _: &str) -> Option<Comparison> {
        let object = |document: Option<&Value>| {
            let mut object = Owned::new(self.def);
            if let Some(mut document) = document.cloned() {
                let metadata = document["metadata"].as_object_mut().unwrap();
                metadata.retain(|name, _| name != "managedFields" && name != "uid");
                json::from_value(&document, object.as_mut(), &mut json::Issues::ignore()).unwrap();
            }
            object
        };
        let (live, new) = (object(self.live.as_ref()), object(Some(&self.new)));
        Some(typed::compare(SchemaType::Struct(self.def), live.as_ref(), new.as_ref()))
    }
}
