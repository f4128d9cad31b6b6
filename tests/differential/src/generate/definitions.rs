//! Definitions of custom resources, and objects of them.

use serde_json::{Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, ask};
use crate::conversation::Step;

impl Generator<'_> {
    /// A definition, then objects; or a definition that is changed.
    pub(super) fn definitions(&mut self) {
        let mut definition = self.definition();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let own = format!("{path}/things.${{rand}}.example.com");
        if self.random.percent(35) {
            self.break_definition(&mut definition);
            let step = ask("POST", path).body(definition.clone());
            self.push(step);
            for _ in 0..2 + self.random.below(3) {
                self.break_definition(&mut definition);
                let step = ask("PATCH", format!("{own}{}", self.write_query())).body(definition.clone());
                self.push(step.header("Content-Type", "application/merge-patch+json"));
            }
            return;
        }
        let step = ask("POST", path).body(definition);
        self.push(step);
        let step = ask("GET", "/apis/${rand}.example.com/v1");
        self.push(Step { until: Some(200), ..step });
        for _ in 0..3 + self.random.below(3) {
            self.custom_object();
        }
    }

    fn definition(&mut self) -> Value {
        let mut properties = json!({"spec": {"type": "object", "properties": {}}});
        for name in ["a", "b", "c", "d"] {
            if self.random.percent(75) {
                properties["spec"]["properties"][name] = self.schema(0);
            }
        }
        let status = self.random.percent(50);
        if status {
            properties["status"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        }
        let mut version = json!({"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}});
        if status {
            version["subresources"] = json!({"status": {}});
        }
        if self.random.percent(25) {
            let kind = *self.random.pick(&["string", "integer", "date", "number", "boolean"]);
            version["additionalPrinterColumns"] = json!([{"name": "A", "type": kind, "jsonPath": ".spec.a"}]);
        }
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.${rand}.example.com"},
            "spec": {"group": "${rand}.example.com", "scope": "Namespaced", "versions": [version],
                "names": {"plural": "things", "kind": "Thing"}}})
    }

    /// A structural schema.
    fn schema(&mut self, depth: usize) -> Value {
        let mut schema = match self.random.below(if depth > 1 { 6 } else { 9 }) {
            0 => json!({"type": "string", "maxLength": 5, "minLength": 1}),
            1 => json!({"type": "string", "enum": ["a", "b"]}),
            2 => {
                json!({"type": "string", "format": self.random.pick(&["date-time", "uuid", "byte", "ipv4", "email",
                    "duration", "uri"])})
            }
            3 => json!({"type": "integer", "minimum": 0, "maximum": 10, "multipleOf": 2}),
            4 => json!({"type": self.random.pick(&["number", "integer", "boolean", "string"])}),
            5 => json!({"x-kubernetes-int-or-string": true}),
            6 => {
                json!({"type": "array", "items": {"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"},
                "value": self.schema(depth + 1)}}, "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"]})
            }
            7 => json!({"type": "array", "maxItems": 3, "items": self.schema(2),
                "x-kubernetes-list-type": self.random.pick(&["atomic", "set"])}),
            _ => json!({"type": "object", "properties": {"a": self.schema(depth + 1), "b": self.schema(depth + 1)},
                "required": ["a"]}),
        };
        let extras = [
            ("nullable", json!(true)),
            ("pattern", json!("^a+$")),
            ("default", json!("a")),
            ("default", json!(2)),
            ("x-kubernetes-preserve-unknown-fields", json!(true)),
            ("x-kubernetes-validations", json!([{"rule": "self == oldSelf", "message": "no changes"}])),
            ("x-kubernetes-validations", json!([{"rule": "has(self.a)"}])),
        ];
        if self.random.percent(15) {
            let (name, value) = self.random.pick(&extras).clone();
            schema[name] = value;
        }
        schema
    }

    fn break_definition(&mut self, definition: &mut Value) {
        let Some(kind) = self.kind("apiextensions.k8s.io", "customresourcedefinitions") else { return };
        let values = self.values(kind);
        let schema = self.catalog.schema(&values.root, "apiextensions.k8s.io/v1", "CustomResourceDefinition");
        if let Some(schema) = schema {
            values.mutate(definition, schema, &mut self.random);
        }
        if definition["metadata"].is_object() {
            definition["metadata"]["name"] = json!("things.${rand}.example.com");
        }
        // Groups of others are theirs.
        if definition["spec"]["group"].is_string() && definition["spec"]["names"].is_object() {
            definition["spec"]["group"] = json!("${rand}.example.com");
        }
    }

    fn custom_object(&mut self) {
        let mut object =
            json!({"apiVersion": "${rand}.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}});
        for name in ["a", "b", "c", "d", "unknown"] {
            if self.random.percent(60) {
                object["spec"][name] = match self.random.below(6) {
                    0 => odd(&mut self.random),
                    1 => json!(self.random.below(13)),
                    2 => json!([{"name": "a", "value": odd(&mut self.random)}, {"name": "b"}]),
                    3 => json!({"a": "a", "b": odd(&mut self.random)}),
                    4 => json!(["a", "b"]),
                    _ => json!(self.random.pick(ODD_STRINGS)),
                };
            }
        }
        if self.random.percent(20) {
            self.decorate(&mut object);
        }
        let path = "/apis/${rand}.example.com/v1/namespaces/${ns}/things";
        let query = self.write_query();
        let (method, path, kind) = match self.random.below(10) {
            0..=3 => ("POST", format!("{path}{query}"), "application/json"),
            4 => ("PUT", format!("{path}/a{query}"), "application/json"),
            5 => ("PATCH", format!("{path}/a{query}"), "application/merge-patch+json"),
            6 => ("PATCH", format!("{path}/a?fieldManager=m&force=true"), "application/apply-patch+yaml"),
            7 => ("PATCH", format!("{path}/a"), "application/strategic-merge-patch+json"),
            8 => ("PUT", format!("{path}/a/status{query}"), "application/json"),
            _ => ("GET", format!("{path}{}", self.read_query(2)), ""),
        };
        if kind.is_empty() {
            let accept = self.accept(40);
            let step = ask(method, path);
            self.push(accept.into_iter().fold(step, |step, accept| step.header("Accept", accept)));
            return;
        }
        let step = ask(method, path).body(object).header("Content-Type", kind);
        self.push(step);
    }
}
