//! The data that documents are built from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The API of a server, as far as OpenAPI documents describe it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Schemas in v3 form by definition name. References start with `#/components/schemas/`.
    pub definitions: BTreeMap<String, Value>,
    /// Query parameters of the verbs.
    pub parameters: Parameters,
    /// Every known (group, version), served or not. `DeleteOptions` and `WatchEvent` belong to all
    /// of them.
    pub known_versions: Vec<(String, String)>,
    /// The group versions that can be served.
    pub versions: Vec<GroupVersion>,
}

/// A group version and its resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupVersion {
    /// Empty for core.
    pub group: String,
    pub version: String,
    pub serving: Serving,
    pub resources: Vec<Resource>,
}

/// Whether a group version or a resource is served by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Serving {
    #[default]
    On,
    Off,
}

/// Whether a resource is namespaced.
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
    /// Definition name of the kind.
    pub definition: String,
    /// Definition name of the list kind, if the resource can be listed.
    pub list: Option<String>,
    pub scope: Scope,
    pub serving: Serving,
    pub verbs: Vec<String>,
    /// Whether DELETE returns the object instead of a Status.
    pub delete_returns_object: bool,
    /// Whether the deprecated `/watch/` paths exist; custom resources never had them.
    pub watch_paths: bool,
    pub subresources: Vec<Subresource>,
}

/// A subresource of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subresource {
    pub name: String,
    /// The kind of its requests: the kind of the parent, of the body, or of the query of a
    /// connection.
    pub kind: GroupVersionKind,
    pub verbs: Vec<String>,
    pub answer: SubresourceResponse,
}

/// The response of a subresource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SubresourceResponse {
    /// An object of this definition, which is also the body of writes.
    Object(String),
    /// A text stream with these query parameters (`pods/log`).
    Text(Vec<Parameter>),
    /// A proxied connection with these query parameters (`pods/exec`, `nodes/proxy`).
    Connection(Vec<Parameter>),
}

impl Default for SubresourceResponse {
    fn default() -> Self {
        SubresourceResponse::Text(Vec::new())
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
    /// `string`, `integer` or `boolean`. For a repeatable parameter, the type of one value.
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
    /// The path prefix of the resources, such as `/api/v1` and `/apis/apps/v1`.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }
}

impl Resource {
    /// Whether the resource supports a verb.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|have| have == verb)
    }
}

impl Subresource {
    /// Whether the subresource supports a verb.
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|have| have == verb)
    }
}

impl Catalog {
    /// Adds the content of another catalog. A definition that is in both keeps the value of `self`.
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

    /// Keeps the resources that `enabled` accepts, and drops group versions without resources.
    pub fn retain(&mut self, mut enabled: impl FnMut(&GroupVersion, &Resource) -> bool) {
        for version in &mut self.versions {
            let resources = std::mem::take(&mut version.resources);
            version.resources = resources.into_iter().filter(|resource| enabled(version, resource)).collect();
        }
        self.versions.retain(|version| !version.resources.is_empty());
    }

    /// Keeps what is served by default.
    pub fn retain_defaults(&mut self) {
        self.retain(|version, resource| version.serving == Serving::On && resource.serving == Serving::On);
    }
}
