//! Subresources, and virtual kinds (reviews).

use serde_json::{Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, request};

impl Generator<'_> {
    /// An object and requests to its subresources; or reviews.
    pub(super) fn subresources(&mut self) {
        if self.random.percent(15) {
            return self.reviews();
        }
        let kinds: Vec<_> = self.catalog.creatable().into_iter().filter(|kind| !kind.subresources.is_empty()).collect();
        let Some(pods) = self.kind("", "pods") else { return self.reviews() };
        let Some(kind) = kinds.get(self.random.below(kinds.len())) else { return self.reviews() };
        let kind = if self.random.percent(35) { pods } else { *kind };
        let subject = self.subject_of(kind);
        let step = request("POST", subject.kind.collection()).body(subject.object.clone());
        let begin = self.push(step);
        for _ in 0..2 + self.random.below(4) {
            let sub = self.random.pick(&subject.kind.subresources).clone();
            let method = match self.random.below(10) {
                0 => *self.random.pick(&["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD"]),
                _ => ["get", "create", "update", "patch"].into_iter().find(|_| self.random.percent(30)).map_or(
                    "GET",
                    |verb| match verb {
                        "create" => "POST",
                        "update" => "PUT",
                        "patch" => "PATCH",
                        _ => "GET",
                    },
                ),
            };
            let method =
                if sub.verbs.iter().any(|verb| verb == "create") && self.random.percent(70) { "POST" } else { method };
            let mut path = format!("{}/{}", subject.path(), sub.name);
            if ["log", "exec", "attach", "portforward"].contains(&sub.name.as_str()) {
                path += *self.random.pick(&[
                    "",
                    "?container=a",
                    "?container=main&tailLines=-1",
                    "?command=a&stdout=true",
                    "?follow=a",
                    "?limitBytes=0",
                    "?sinceSeconds=0",
                    "?sinceTime=a",
                    "?previous=true",
                    "?ports=80",
                    "?stream=Stdout",
                ]);
            } else {
                path += &self.write_query();
            }
            let mut step = request(method, path);
            if ["POST", "PUT", "PATCH"].contains(&method) {
                step = step.body(self.subresource_body(&subject.object, &sub.api_version, &sub.kind, &begin));
                if method == "PATCH" {
                    let types = [
                        "application/merge-patch+json",
                        "application/strategic-merge-patch+json",
                        "application/apply-patch+yaml",
                    ];
                    step = step.header("Content-Type", *self.random.pick(&types));
                }
            }
            self.push(step);
        }
    }

    fn subresource_body(&mut self, object: &Value, api_version: &str, kind: &str, begin: &str) -> Value {
        let name = object["metadata"]["name"].clone();
        let word = *self.random.pick(ODD_STRINGS);
        let mut body = match kind {
            "Scale" => {
                json!({"spec": {"replicas": self.random.pick(&[json!(2), json!(-1), json!("2"), json!(null),
                    json!(2147483648_u64)])}})
            }
            "Eviction" => json!({"deleteOptions": self.random.pick(&[json!(null), json!({"dryRun": ["All"]}),
                json!({"gracePeriodSeconds": 0}), json!({"preconditions": {"uid": word}}),
                    json!({"dryRun": [word]})])}),
            "Binding" => {
                json!({"target": self.random.pick(&[json!({"kind": "Node", "name": "n"}), json!({"name": word}),
                json!({"kind": "Pod", "name": "n"}), json!(null), json!({"kind": "Node"})])})
            }
            "TokenRequest" => {
                json!({"spec": {"audiences": self.random.pick(&[json!(null), json!(["a"]), json!([""]), json!("a")]),
                "expirationSeconds": self.random.pick(&[json!(600), json!(599), json!(null), json!(4294967297_u64),
                    json!(-1)]),
                "boundObjectRef": self.random.pick(&[json!(null), json!({"kind": "Pod", "name": word}),
                    json!({"kind": "Secret",
                    "apiVersion": "v1", "name": "a"}), json!({})])}})
            }
            _ => object.clone(),
        };
        body["apiVersion"] = json!(api_version);
        body["kind"] = json!(kind);
        body["metadata"]["name"] = if self.random.percent(90) { name } else { json!(word) };
        if kind == object["kind"] {
            let root = self.catalog.kinds.iter().find(|k| k.kind == kind && k.api_version() == api_version);
            if let Some(known) = root {
                let values = self.values(known);
                if let Some(schema) = self.catalog.schema(&values.root, api_version, kind) {
                    let status = self.catalog.resolve(&values.root, &schema["properties"]["status"]);
                    if self.random.percent(60) && !status.is_null() {
                        body["status"] = values.of(status, 0, &mut self.random);
                    }
                    if self.random.percent(50) {
                        values.mutate(&mut body, schema, &mut self.random);
                    }
                }
            }
        }
        if self.random.percent(30) && body["metadata"].is_object() {
            body["metadata"]["resourceVersion"] = json!(format!("${{{begin}.body.metadata.resourceVersion}}"));
        }
        if self.random.percent(5) { odd(&mut self.random) } else { body }
    }

    /// Access reviews, token reviews and rules reviews.
    pub(super) fn reviews(&mut self) {
        let kinds: Vec<_> = self.catalog.kinds.iter().filter(|kind| kind.verbs == ["create"]).collect();
        for _ in 0..3 + self.random.below(4) {
            let Some(kind) = kinds.get(self.random.below(kinds.len())) else {
                let step = request("GET", "/api/v1/namespaces/${ns}");
                self.push(step);
                continue;
            };
            let values = self.values(kind);
            let mut object = json!({"apiVersion": kind.api_version(), "kind": kind.kind});
            if let Some(schema) = self.catalog.schema(&values.root, &kind.api_version(), &kind.kind) {
                let spec = self.catalog.resolve(&values.root, &schema["properties"]["spec"]);
                object["spec"] = values.of(spec, 0, &mut self.random);
                if self.random.percent(20) {
                    self.decorate(&mut object);
                }
            }
            let path = kind.collection() + &self.write_query();
            let step = request("POST", path).body(object);
            self.push(step);
        }
    }
}
