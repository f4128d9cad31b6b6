//! The API of a server: kinds from discovery, schemas from OpenAPI v3, and sample objects that
//! validation accepts.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::play::{Exchange, Server};

/// Objects that kube-apiserver accepts, by `apiVersion kind`.
const OBJECTS: &str = include_str!("../corpus/objects.json");

/// A kind in one version.
#[derive(Clone, Debug, Default)]
pub struct Kind {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub resource: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
    pub subresources: Vec<Subresource>,
    /// Accepted objects without names.
    pub objects: Vec<Value>,
}

/// A subresource, such as `status`.
#[derive(Clone, Debug)]
pub struct Subresource {
    pub name: String,
    pub api_version: String,
    pub kind: String,
    pub verbs: Vec<String>,
}

/// The kinds and schemas for conversations.
#[derive(Default)]
pub struct Catalog {
    pub kinds: Vec<Kind>,
    /// Schemas by name, by the path of the document.
    documents: HashMap<String, Map<String, Value>>,
}

impl Kind {
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the path of the group version.
    pub fn root(&self) -> String {
        if self.group.is_empty() { "api/v1".into() } else { format!("apis/{}/{}", self.group, self.version) }
    }

    /// Returns the path of the collection, in the namespace of the conversation.
    pub fn collection(&self) -> String {
        let namespace = if self.namespaced { "namespaces/${ns}/" } else { "" };
        format!("/{}/{namespace}{}", self.root(), self.resource)
    }

    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }

    fn read(group: &str, version: &str, entry: &Value, objects: &Value) -> Option<Kind> {
        let word = |value: &Value| value.as_str().map(str::to_string);
        let words = |list: &Value| list.as_array().into_iter().flatten().filter_map(word).collect();
        let of = |kind: &Value| {
            let version = [kind["group"].as_str()?, kind["version"].as_str()?];
            Some(if version[0].is_empty() { version[1].to_string() } else { version.join("/") })
        };
        let mut kind = Kind {
            group: group.into(),
            version: version.into(),
            kind: word(&entry["responseKind"]["kind"])?,
            resource: word(&entry["resource"])?,
            namespaced: entry["scope"] == "Namespaced",
            verbs: words(&entry["verbs"]),
            ..Kind::default()
        };
        let accepted = &objects[format!("{} {}", kind.api_version(), kind.kind)];
        kind.objects = accepted.as_array().cloned().unwrap_or_default();
        let subresources = entry["subresources"].as_array().into_iter().flatten();
        let read = |entry: &Value| {
            Some(Subresource {
                name: word(&entry["subresource"])?,
                api_version: of(&entry["responseKind"]).unwrap_or_default(),
                kind: word(&entry["responseKind"]["kind"]).unwrap_or_default(),
                verbs: words(&entry["verbs"]),
            })
        };
        kind.subresources = subresources.filter_map(read).collect();
        Some(kind)
    }
}

impl Catalog {
    /// Reads the catalog of a server.
    pub async fn fetch(server: &impl Server) -> Result<Catalog> {
        let objects: Value = serde_json::from_str(OBJECTS)?;
        let mut catalog = Catalog::default();
        for path in ["/api", "/apis"] {
            let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
            let found = get(server, path, accept).await?;
            for group in found["items"].as_array().into_iter().flatten() {
                catalog.add_group(group, &objects);
            }
        }
        if catalog.kinds.is_empty() {
            return Err(Error::Other("the server serves no kinds".into()));
        }
        let mut roots: Vec<String> = catalog.kinds.iter().map(Kind::root).collect();
        roots.dedup();
        for root in roots {
            let mut document = get(server, &format!("/openapi/v3/{root}"), "application/json").await?;
            if let Value::Object(schemas) = document["components"]["schemas"].take() {
                catalog.documents.insert(root, schemas);
            }
        }
        Ok(catalog)
    }

    fn add_group(&mut self, group: &Value, objects: &Value) {
        let name = group["metadata"]["name"].as_str().unwrap_or_default();
        // Definitions of an earlier run are not part of the server.
        if name.ends_with(".example.com") {
            return;
        }
        for version in group["versions"].as_array().into_iter().flatten() {
            let resources = version["resources"].as_array().into_iter().flatten();
            let version = version["version"].as_str().unwrap_or_default();
            self.kinds.extend(resources.filter_map(|entry| Kind::read(name, version, entry, objects)));
        }
    }

    /// Creates a catalog without a server.
    pub fn of(kinds: Vec<Kind>, root: &str, schemas: Map<String, Value>) -> Catalog {
        Catalog { kinds, documents: HashMap::from([(root.to_string(), schemas)]) }
    }

    /// Returns kinds with sample objects.
    pub fn creatable(&self) -> Vec<&Kind> {
        self.kinds.iter().filter(|kind| kind.can("create") && kind.can("get") && !kind.objects.is_empty()).collect()
    }

    /// Returns the kind of a resource, in the first served version.
    pub fn kind(&self, group: &str, resource: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.group == group && kind.resource == resource)
    }

    /// Returns the schema of a kind.
    pub fn schema(&self, root: &str, api_version: &str, kind: &str) -> Option<&Value> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.documents.get(root)?.values().find(|schema| {
            let names = schema["x-kubernetes-group-version-kind"].as_array();
            names.is_some_and(|names| {
                names.iter().any(|n| n["group"] == group && n["version"] == version && n["kind"] == kind)
            })
        })
    }

    /// Returns a schema, or the schema that it references.
    pub fn resolve<'c>(&'c self, root: &str, schema: &'c Value) -> &'c Value {
        let one = schema["allOf"].get(0).unwrap_or(schema);
        let name = one["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        name.and_then(|name| self.documents.get(root)?.get(name)).unwrap_or(one)
    }
}

async fn get(server: &impl Server, path: &str, accept: &str) -> Result<Value> {
    let headers = vec![("Accept".to_string(), accept.to_string())];
    let exchange = Exchange { method: "GET".into(), path: path.into(), headers, ..Exchange::default() };
    let answer = server.send(&exchange).await?;
    if answer.status != 200 {
        return Err(Error::Other(format!("GET {path} answered {}", answer.status)));
    }
    Ok(serde_json::from_slice(&answer.body)?)
}
