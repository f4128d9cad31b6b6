//! Resources and subresources that accept bodies.

use std::collections::HashSet;
use std::fmt;

use machinery::catalog::{KindDef, ResourceDef, Serving, SubresourceDef};
use machinery::def::StructDef;
use serde_json::Value;

use crate::samples::sample;

/// A method of writing an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Create,
    CreateYaml,
    CreateProtobuf,
    CreateCbor,
    Update,
    JsonPatch,
    /// A JSON patch with one operation for each element.
    JsonPatchEach,
    MergePatch,
    StrategicPatch,
    /// A strategic merge patch that states the order of the elements.
    OrderedPatch,
    /// A strategic merge patch that deletes the elements.
    DeletingPatch,
    Apply,
    /// A read as a table.
    Table,
}

/// The stored object before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUp {
    /// An object with as many elements.
    Stored,
    /// An object without them; the subresource then writes them.
    Written,
    /// An object without them: storing many would change the server's behavior.
    Small,
    /// Nothing: the target accepts only POST.
    Nothing,
}

/// A resource or a subresource.
pub struct Target {
    /// The path of the resource.
    pub collection: String,
    pub subresource: &'static str,
    /// The object of the resource; null when nothing is created first.
    pub object: Value,
    /// The body of the subresource, or the object.
    pub body: Value,
    /// The descriptor of the body; custom resources have none.
    pub kind: Option<&'static KindDef>,
    pub methods: Vec<Method>,
    pub set_up: SetUp,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &str| self.object.get(name).and_then(Value::as_str).unwrap_or_default();
        write!(f, "{} {}", text("apiVersion"), text("kind"))?;
        if !self.subresource.is_empty() { write!(f, "/{}", self.subresource) } else { Ok(()) }
    }
}

/// Subresources without object bodies.
const STREAMS: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// Groups with kinds that change the server's behavior.
const EFFECTIVE: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];
const EFFECTIVE_KINDS: [&str; 3] = ["Namespace", "ServiceCIDR", "IPAddress"];

/// Feature gates of kinds that are off by default.
pub const GATES: &str = "ClusterTrustBundle=true,GenericWorkload=true,PodCertificateRequest=true,\
    StorageVersionMigrator=true";

/// Returns everything that accepts bodies: all versions that are served by default, and the first
/// version of other kinds.
///
/// Resources come before their subresources.
pub fn targets() -> Vec<Target> {
    let is_on = |kind: &KindDef| kind.serving == Serving::On && kind.gate.is_empty();
    let (on, off): (Vec<&KindDef>, Vec<_>) = kubernetes::catalog().kinds.iter().partition(|kind| is_on(kind));
    let mut known: HashSet<_> = on.iter().map(|kind| (kind.group, kind.kind)).collect();
    let off = off.into_iter().filter(|kind| kind.serving == Serving::Off);
    let served = on.into_iter().chain(off.filter(|kind| known.insert((kind.group, kind.kind))));
    let mut targets = Vec::new();
    for kind in served {
        let Some(resource) = kind.resource else { continue };
        targets.extend(of_resource(kind, resource));
        let takes_body = |sub: &&SubresourceDef| !STREAMS.contains(&sub.name);
        targets.extend(
            resource.subresources.iter().filter(takes_body).filter_map(|sub| of_subresource(kind, resource, sub)),
        );
    }
    targets
}

fn of_resource(kind: &'static KindDef, resource: &'static ResourceDef) -> Option<Target> {
    if !resource.verbs.contains(&"create") {
        return None;
    }
    let object = object(kind);
    let is_effective = EFFECTIVE.contains(&kind.group) || EFFECTIVE_KINDS.contains(&kind.kind);
    let set_up = match (resource.verbs.contains(&"update"), is_effective) {
        (false, _) => SetUp::Nothing,
        (true, true) => SetUp::Small,
        (true, false) => SetUp::Stored,
    };
    Some(Target {
        collection: collection(kind, resource),
        subresource: "",
        body: object.clone(),
        object,
        kind: Some(kind),
        methods: methods(resource.verbs),
        set_up,
    })
}

fn of_subresource(
    kind: &'static KindDef,
    resource: &'static ResourceDef,
    subresource: &'static SubresourceDef,
) -> Option<Target> {
    let methods = methods(subresource.verbs);
    if methods.is_empty() {
        return None;
    }
    let (group, version, name) = subresource.kind;
    let body = kubernetes::catalog().kind(group, version, name).unwrap_or(kind);
    let set_up = match subresource.name {
        _ if methods.contains(&Method::Create) => SetUp::Nothing,
        "resize" | "scale" | "finalize" => SetUp::Small,
        _ if EFFECTIVE.contains(&kind.group) || EFFECTIVE_KINDS.contains(&kind.kind) => SetUp::Small,
        _ => SetUp::Written,
    };
    Some(Target {
        collection: collection(kind, resource),
        subresource: subresource.name,
        object: object(kind),
        body: object(body),
        kind: Some(body),
        methods,
        set_up,
    })
}

/// Returns the sample of a kind; fails when there is none, so that every kind is covered.
fn object(kind: &KindDef) -> Value {
    let mut object = sample(kind.group, kind.kind).unwrap_or_else(|| panic!("no sample of {}", kind.kind));
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.into();
    object
}

fn collection(kind: &KindDef, resource: &ResourceDef) -> String {
    let root = match kind.group {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    match resource.namespaced {
        true => format!("{root}/namespaces/default/{}", resource.plural),
        false => format!("{root}/{}", resource.plural),
    }
}

fn methods(verbs: &[&str]) -> Vec<Method> {
    let of_verb = |verb: &str| match verb {
        "create" => &[Method::Create][..],
        "update" => &[Method::Update],
        "patch" => &PATCHES,
        _ => &[],
    };
    verbs.iter().flat_map(|verb| of_verb(verb)).copied().collect()
}

const PATCHES: [Method; 7] = [
    Method::JsonPatch,
    Method::JsonPatchEach,
    Method::MergePatch,
    Method::StrategicPatch,
    Method::OrderedPatch,
    Method::DeletingPatch,
    Method::Apply,
];

impl Target {
    pub fn def(&self) -> Option<&'static StructDef> {
        self.kind.map(|kind| kind.def)
    }

    /// Reports whether the subresource accepts a field. Resources accept all fields.
    pub fn takes(&self, steps: &[String]) -> bool {
        let step = |index: usize| steps.get(index).map_or("", String::as_str);
        match self.subresource {
            "status" | "approval" => step(0) == "status",
            "ephemeralcontainers" => step(1) == "ephemeralContainers",
            "resize" => ["containers", "initContainers"].contains(&step(1)),
            "finalize" => step(0) == "spec",
            _ => true,
        }
    }

    /// Reports whether updates of the resource keep the old value of a field, or reject any value.
    pub fn ignores(&self, steps: &[String]) -> bool {
        let is_ephemeral = steps.iter().any(|step| step == "ephemeralContainers");
        if is_ephemeral && self.subresource != "ephemeralcontainers" {
            return true;
        }
        let has_status = || self.kind?.resource?.subresources.iter().find(|sub| sub.name == "status");
        self.subresource.is_empty() && steps[0] == "status" && has_status().is_some()
    }
}
