//! The data from which documents are made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a server serves, as far as its OpenAPI documents say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Schemas by definition name in their v3 form: references start with `#/components/schemas/`.
    pub definitions: BTreeMap<String, Value>,
    /// Query parameters of the verbs.
    pub parameters: Parameters,
    /// Every (group, version) that clients and the server know, served or not: `DeleteOptions` and `WatchEvent` belong
    /// to all of them.
    pub known_versions: Vec<(String, String)>,
    /// The group versions that can be served.
    pub versions: Vec<GroupVersion>,
}

/// One group version and its resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupVersion {
    /// Empty for core.
    pub group: String,
    pub version: String,
    pub serving: Serving,
    pub resources: Vec<Resource>,
}

/// Whether something is served unless configured otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Serving {
    #[default]
    On,
    Off,
}

/// Whether objects live in a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    #[default]
    Namespaced,
    Cluster,
}

/// A resource of one group version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    pub plural: String,
    pub kind: String,
    /// Definition of the kind.
    pub definition: String,
    /// Definition of its list, when it can be listed.
    pub list: Option<String>,
    pub scope: Scope,
    pub serving: Serving,
    pub verbs: Vec<String>,
    /// DELETE answers with the object instead of a Status.
    pub delete_returns_object: bool,
    /// Whether the deprecated `/watch/` paths exist; custom resources never had them.
    pub watch_paths: bool,
    pub subresources: Vec<Subresource>,
}

/// A subresource of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subresource {
    pub name: String,
    /// What its requests are about: the parent's kind, or that of the body, or that of the query of a connection.
    pub kind: GroupVersionKind,
    pub verbs: Vec<String>,
    pub answer: Answer,
}

/// What a subresource answers with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// An object of this definition, which also is the body of writes.
    Object(String),
    /// A stream of text, asked for with these query parameters (`pods/log`).
    Text(Vec<Parameter>),
    /// A connection that is handed through, asked for with these query parameters (`pods/exec`, `nodes/proxy`).
    Connection(Vec<Parameter>),
}

impl Default for Answer {
    fn default() -> Self {
        Answer::Text(Vec::new())
    }
}

/// Group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupVersionKind {
    pub group: String,
    pub version: String,
    pub kind: String,
}

/// A query or path parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// `string`, `integer` or `boolean`; of a parameter that may be repeated, the type of one value.
    #[serde(rename = "type")]
    pub kind: String,
    pub description: String,
}

/// The query parameters of each verb: the fields of `ListOptions`, `CreateOptions` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    pub list: Vec<Parameter>,
    pub create: Vec<Parameter>,
    pub update: Vec<Parameter>,
    pub patch: Vec<Parameter>,
    pub delete: Vec<Parameter>,
}

impl GroupVersion {
    /// Path below which the resources are, such as `/api/v1` and `/apis/apps/v1`.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }
}

impl Resource {
    /// Whether it has the verb.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|have| have == verb)
    }
}

impl Subresource {
    /// Whether it has the verb.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|have| have == verb)
    }
}

impl Catalog {
    /// Adds what another one has. Of a definition that both have, this one's counts.
    pub fn extend(&mut self, other: Catalog) {
        for (name, definition) in other.definitions {
            self.definitions.entry(name).or_insert(definition);
        }
        if self.parameters == Parameters::default() {
            self.parameters = other.parameters;
        }
        self.known_versions.extend(other.known_versions);
        self.known_versions.sort();
        self.known_versions.dedup();
        self.versions.extend(other.versions);
    }

    /// Keeps the resources that `enabled` accepts, and drops group versions that are left without any.
    pub fn retain(&mut self, mut enabled: impl FnMut(&GroupVersion, &Resource) -> bool) {
        for version in &mut self.versions {
            let resources = std::mem::take(&mut version.resources);
            version.resources = resources.into_iter().filter(|resource| enabled(version, resource)).collect();
        }
        self.versions.retain(|version| !version.resources.is_empty());
    }

    /// Keeps what is served unless configured otherwise.
    pub fn retain_defaults(&mut self) {
        self.retain(|version, resource| version.serving == Serving::On && resource.serving == Serving::On);
    }
}
