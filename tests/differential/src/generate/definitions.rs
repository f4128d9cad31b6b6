//! Custom resource definitions, and objects of them.

use serde_json::{Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, request};
use crate::conversation::Step;

impl Generator<'_> {
    /// A definition, then objects; or a definition that is changed.
    pub(super) fn definitions(&mut self) {
        let mut definition = self.random_definition();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let own = format!("{path}/things.${{rand}}.example.com");
        if self.random.percent(35) {
            self.break_definition(&mut definition);
            let step = request("POST", path).body(definition.clone());
            self.push(step);
            for _ in 0..2 + self.random.below(3) {
                self.break_definition(&mut definition);
                let step = request("PATCH", format!("{own}{}", self.write_query())).body(definition.clone());
                self.push(step.header("Content-Type", "application/merge-patch+json"));
            }
            return;
        }
        let step = request("POST", path).body(definition);
        self.push(step);
        let step = request("GET", "/apis/${rand}.example.com/v1");
        self.push(Step { until: Some(200), ..step });
        for _ in 0..3 + self.random.below(3) {
            self.custom_object();
        }
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
        // The group stays that of the conversation: other groups belong to other conversations.
        if definition["spec"]["group"].is_string() && definition["spec"]["names"].is_object() {
            definition["spec"]["group"] = json!("${rand}.example.com");
        }
    }

    /// A write or a read of an object that hardly follows its schema.
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
            let step = request(method, path);
            self.push(accept.into_iter().fold(step, |step, accept| step.header("Accept", accept)));
            return;
        }
        let step = request(method, path).body(object).header("Content-Type", kind);
        self.push(step);
    }
}
