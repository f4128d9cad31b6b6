//! The resources that the server, or a server behind it, serves: from its own discovery document.

use endpoints::Discovery;
use machinery::status::Status;
use serde_json::Value;

/// A resource in the preferred one of its versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServedResource {
    /// The API group; empty for core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub plural: String,
    /// The kind of its objects.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// The verbs, such as `deletecollection`.
    pub verbs: Vec<String>,
}

/// All resources, and the group versions whose resources are not known at present.
#[derive(Debug, Default)]
pub struct ServedResources {
    /// The resources, each in its preferred version.
    pub resources: Vec<ServedResource>,
    /// Group versions of aggregated servers that do not answer, such as `metrics.k8s.io/v1beta1`.
    pub stale: Vec<String>,
}

impl ServedResource {
    /// Whether it has a verb.
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|has| has == verb)
    }

    /// The path of its objects, in a namespace unless that is empty.
    pub fn path(&self, namespace: &str) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace {
            "" => format!("{root}/{}", self.plural),
            _ => format!("{root}/namespaces/{namespace}/{}", self.plural),
        }
    }

    /// Its name in messages of upstream: `pods.`, `deployments.apps`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

/// Reads the discovery documents.
///
/// # Errors
/// A document is no JSON.
pub fn served(discovery: &Discovery) -> Result<ServedResources, Status> {
    let mut all = ServedResources::default();
    for is_core in [true, false] {
        let document = discovery.aggregated(is_core, false);
        let document: Value = serde_json::from_slice(&document.text).map_err(Status::internal)?;
        items(&document["items"]).for_each(|group| all.add_group(group));
    }
    Ok(all)
}

impl ServedResources {
    /// Adds a group. Its versions are in the order of preference.
    fn add_group(&mut self, entry: &Value) {
        let group = text(&entry["metadata"]["name"]);
        let first = self.resources.len();
        for version in items(&entry["versions"]) {
            if version["freshness"] == "Stale" {
                self.stale.push(format!("{group}/{}", text(&version["version"])));
            }
            for resource in items(&version["resources"]) {
                let plural = text(&resource["resource"]);
                if self.resources[first..].iter().all(|known| known.plural != plural) {
                    self.resources.push(ServedResource {
                        group: group.clone(),
                        version: text(&version["version"]),
                        plural,
                        kind: text(&resource["responseKind"]["kind"]),
                        namespaced: resource["scope"] == "Namespaced",
                        verbs: items(&resource["verbs"]).map(text).collect(),
                    });
                }
            }
        }
    }
}

/// The items of a list; none if it is absent.
pub fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A text; empty if it is absent.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prefers_the_first_version_of_a_resource() {
        let resource = |plural: &str| json!({"resource": plural, "responseKind": {"kind": "A"}, "scope": "Namespaced", "verbs": ["list"]});
        let mut all = ServedResources::default();
        all.add_group(&json!({"metadata": {"name": "a.b"}, "versions": [
            {"version": "v2", "freshness": "Current", "resources": [resource("as")]},
            {"version": "v1", "freshness": "Stale", "resources": [resource("as"), resource("bs")]},
        ]}));
        all.add_group(&json!({"metadata": {}, "versions": [
            {"version": "v1", "freshness": "Current", "resources": [resource("as")]},
        ]}));
        let paths: Vec<_> = all.resources.iter().map(|resource| resource.path("n")).collect();
        let wanted = ["/apis/a.b/v2/namespaces/n/as", "/apis/a.b/v1/namespaces/n/bs", "/api/v1/namespaces/n/as"];
        assert_eq!(paths, wanted);
        assert_eq!(all.resources[2].path(""), "/api/v1/as");
        assert_eq!(all.stale, ["a.b/v1"]);
        assert!(all.resources[0].has_verb("list") && !all.resources[0].has_verb("delete"));
    }
}
