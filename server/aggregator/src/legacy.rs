//! Converts an `APIResourceList` of servers without aggregated discovery (upstream:
//! `endpoints.ConvertGroupVersionIntoToDiscovery`).

use serde_json::{Value, json};

/// Converts the resources of a list to entries of an `APIVersionDiscovery`.
pub(crate) fn resources(list: &Value) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for resource in list["resources"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = resource["name"].as_str().unwrap_or_default();
        match name.split_once('/') {
            None => match position(&out, name) {
                // A subresource precedes its resource.
                Some(at) => {
                    let subresources = out[at]["subresources"].take();
                    out[at] = entry(name, resource);
                    out[at]["subresources"] = subresources;
                }
                None => out.push(entry(name, resource)),
            },
            Some((parent, subresource)) => {
                let at = position(&out, parent).unwrap_or_else(|| {
                    out.push(json!({"resource": parent, "scope": scope(resource), "verbs": []}));
                    out.len() - 1
                });
                if let Some(all) = list_of(&mut out[at], "subresources") {
                    all.push(subresource_entry(subresource, resource));
                }
            }
        }
    }
    out
}

fn position(all: &[Value], name: &str) -> Option<usize> {
    all.iter().position(|entry| entry["resource"] == name)
}

fn list_of<'a>(entry: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    if entry[key].is_null() {
        entry[key] = json!([]);
    }
    entry[key].as_array_mut()
}

fn scope(resource: &Value) -> &'static str {
    if resource["namespaced"] == true { "Namespaced" } else { "Cluster" }
}

fn kind(resource: &Value) -> Value {
    let text = |key: &str| resource[key].as_str().unwrap_or_default();
    json!({"group": text("group"), "version": text("version"), "kind": text("kind")})
}

fn entry(name: &str, resource: &Value) -> Value {
    let mut entry = json!({"resource": name, "responseKind": kind(resource), "scope": scope(resource)});
    entry["singularResource"] = resource["singularName"].as_str().unwrap_or_default().into();
    for key in ["verbs", "shortNames", "categories"] {
        if resource[key].is_array() {
            entry[key] = resource[key].clone();
        }
    }
    entry
}

fn subresource_entry(name: &str, resource: &Value) -> Value {
    let verbs = if resource["verbs"].is_array() { resource["verbs"].clone() } else { json!([]) };
    json!({"subresource": name, "responseKind": kind(resource), "verbs": verbs})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_subresources() {
        let list = json!({"resources": [
            {"name": "nodes/status", "namespaced": false, "kind": "Node", "verbs": ["get"]},
            {"name": "nodes", "singularName": "node", "namespaced": false, "kind": "Node", "verbs": ["list"]},
            {"name": "pods", "namespaced": true, "kind": "Pod", "verbs": ["get"], "shortNames": ["po"]},
        ]});
        let kind = |kind: &str| json!({"group": "", "version": "", "kind": kind});
        assert_eq!(
            resources(&list),
            [
                json!({"resource": "nodes", "responseKind": kind("Node"), "scope": "Cluster", "singularResource": "node",
                       "verbs": ["list"],
                       "subresources": [{"subresource": "status", "responseKind": kind("Node"), "verbs": ["get"]}]}),
                json!({"resource": "pods", "responseKind": kind("Pod"), "scope": "Namespaced", "singularResource": "",
                       "verbs": ["get"], "shortNames": ["po"]}),
            ]
        );
    }
}
