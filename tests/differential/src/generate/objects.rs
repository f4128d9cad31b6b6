//! The life cycle of one object: created, changed in several ways, deleted.

use serde_json::{Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, ODD_NAMES, Subject, request};
use crate::conversation::Step;

impl Generator<'_> {
    /// Creates, changes and deletes.
    pub(super) fn objects(&mut self) {
        let subject = self.subject();
        let begin = self.create(&subject);
        for _ in 0..2 + self.random.below(4) {
            match self.random.below(10) {
                0..=2 => self.put(&subject, &begin),
                3 => self.put_status(&subject, &begin),
                4..=5 => self.patch_step(&subject),
                6 => self.apply_step(&subject),
                7 => {
                    self.create(&subject);
                }
                8 => self.read_one(&subject),
                _ => self.delete_step(&subject, &begin),
            }
        }
        if self.random.percent(50) {
            self.read_one(&subject);
        }
    }

    /// Adds a POST of an object and returns the ID of the step.
    pub(super) fn create(&mut self, subject: &Subject<'_>) -> String {
        let most = if self.random.percent(45) { 0 } else { 2 };
        let mut object = self.changed(subject, most);
        if self.random.percent(6) {
            object = self.spoiled(object);
        }
        let path = subject.kind.collection() + &self.write_query();
        let step = request("POST", path).body(object);
        let step = self.with_text(step);
        self.push(step)
    }

    /// Returns an object that is mostly invalid for its kind.
    pub(super) fn spoiled(&mut self, mut object: Value) -> Value {
        match self.random.below(9) {
            0 => odd(&mut self.random),
            1 => {
                object["apiVersion"] = json!(self.random.pick(&["v2", "apps/v1", "", "a/b/c", "example.com/v1"]));
                object
            }
            2 => {
                object["kind"] = json!(self.random.pick(&["Pod", "Nothing", "", "List", "Status", "DeleteOptions"]));
                object
            }
            3 => {
                let key = *self.random.pick(&["apiVersion", "kind", "metadata"]);
                object[key] = odd(&mut self.random);
                object
            }
            4 => {
                let key = *self.random.pick(&["apiVersion", "kind", "metadata"]);
                if let Some(fields) = object.as_object_mut() {
                    fields.remove(key);
                }
                object
            }
            5 => json!({"$text": object.to_string().replacen('{', "{\"metadata\": {\"name\": \"x\"}, ", 1)}),
            6 => json!({"$text": object.to_string().trim_end_matches('}')}),
            7 => json!({"$text": format!("{object} {{}}")}),
            _ => json!({"$text": ""}),
        }
    }

    /// Sends some bodies as YAML, or as JSON with another media type.
    fn with_text(&mut self, step: Step) -> Step {
        match self.random.below(40) {
            0 => step.header("Content-Type", "application/yaml"),
            1 => step.header("Content-Type", "application/json; charset=utf-8"),
            2 => step.header("Content-Type", Value::Null),
            _ => step,
        }
    }

    pub(super) fn put(&mut self, subject: &Subject<'_>, begin: &str) {
        let most = if self.random.percent(20) { 0 } else { 2 };
        let mut object = self.changed(subject, most);
        self.version(&mut object, begin);
        if self.random.percent(4) {
            object = self.spoiled(object);
        }
        let path = subject.path() + &self.write_query();
        let step = request("PUT", path).body(object);
        self.push(step);
    }

    /// Sets resource versions and UIDs as writes may state them.
    fn version(&mut self, object: &mut Value, begin: &str) {
        if !object["metadata"].is_object() {
            return;
        }
        match self.random.below(20) {
            0..=5 => {
                object["metadata"]["resourceVersion"] = json!(format!("${{{begin}.body.metadata.resourceVersion}}"))
            }
            6 => object["metadata"]["resourceVersion"] = json!(self.random.pick(&["1", "0", "-1", "a", "", "01"])),
            7 => object["metadata"]["uid"] = json!(format!("${{{begin}.body.metadata.uid}}")),
            _ => {}
        }
    }

    fn put_status(&mut self, subject: &Subject<'_>, begin: &str) {
        if !subject.kind.subresources.iter().any(|sub| sub.name == "status") {
            return self.put(subject, begin);
        }
        let mut object = subject.object.clone();
        let values = self.values(subject.kind);
        let schema = self.catalog.schema(&values.root, &subject.kind.api_version(), &subject.kind.kind);
        if let Some(schema) = schema {
            let status = self.catalog.resolve(&values.root, &schema["properties"]["status"]);
            object["status"] = values.of(status, 0, &mut self.random);
            if self.random.percent(25) {
                values.mutate(&mut object, schema, &mut self.random);
            }
        }
        if self.random.percent(20) {
            self.decorate(&mut object);
        }
        self.version(&mut object, begin);
        let path = format!("{}/status{}", subject.path(), self.write_query());
        let patch = self.random.percent(40);
        let step = request(if patch { "PATCH" } else { "PUT" }, path).body(object);
        let step = if patch { step.header("Content-Type", "application/merge-patch+json") } else { step };
        self.push(step);
    }

    pub(super) fn read_one(&mut self, subject: &Subject<'_>) {
        let name = if self.random.percent(90) { subject.name.clone() } else { self.random.pick(ODD_NAMES).to_string() };
        let query = if self.random.percent(20) { self.read_query(2) } else { String::new() };
        let accept = self.accept(85);
        let step = request("GET", format!("{}/{name}{query}", subject.kind.collection()));
        self.push(match accept {
            Some(accept) => step.header("Accept", accept),
            None => step,
        });
    }

    /// Finalizers, preconditions, propagation, collections.
    pub(super) fn deletion(&mut self) {
        let mut subject = self.subject();
        if self.random.percent(50) {
            let word = *self.random.pick(&["example.com/f", "foregroundDeletion", "orphan", "example.com/g"]);
            subject.object["metadata"]["finalizers"] = json!([word]);
        }
        subject.object["metadata"]["labels"] = json!({"app": "a"});
        let begin = self.create(&subject);
        for _ in 0..1 + self.random.below(3) {
            if self.random.percent(80) {
                self.delete_step(&subject, &begin);
            } else {
                self.delete_collection(&subject);
            }
            match self.random.below(6) {
                0 => self.read_one(&subject),
                1 => self.put(&subject, &begin),
                2 => {
                    let patch = json!({"metadata": {"finalizers": self.random.pick(&[json!(null), json!([]),
                        json!(["a.b/c"])])}});
                    let step = request("PATCH", subject.path()).body(patch);
                    self.push(step.header("Content-Type", "application/merge-patch+json"));
                }
                _ => {}
            }
        }
        self.read_one(&subject);
    }

    pub(super) fn delete_step(&mut self, subject: &Subject<'_>, begin: &str) {
        let path = subject.path() + &self.delete_query();
        let step = request("DELETE", path);
        let step = if self.random.percent(55) { step.body(self.delete_options(begin)) } else { step };
        self.push(step);
    }

    fn delete_collection(&mut self, subject: &Subject<'_>) {
        // For cluster-scoped kinds, only objects of this conversation are deleted.
        let collection = subject.kind.collection();
        let query = match (subject.kind.namespaced, self.random.percent(50)) {
            (false, _) => format!("?fieldSelector=metadata.name={}", subject.name),
            (true, true) => self.read_query(2),
            (true, false) => self.delete_query(),
        };
        let step = request("DELETE", collection + &query);
        self.push(step);
    }

    fn delete_options(&mut self, begin: &str) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        for _ in 0..1 + self.random.below(3) {
            let word = *self.random.pick(ODD_STRINGS);
            let choices = [
                (
                    "gracePeriodSeconds",
                    self.random.pick(&[json!(0), json!(1), json!(-1), json!("0"), json!(1.5)]).clone(),
                ),
                ("propagationPolicy", json!(*self.random.pick(&["Foreground", "Background", "Orphan", "", "Bad"]))),
                ("orphanDependents", json!(self.random.percent(50))),
                ("preconditions", json!({"uid": format!("${{{begin}.body.metadata.uid}}")})),
                ("preconditions", json!({"resourceVersion": format!("${{{begin}.body.metadata.resourceVersion}}")})),
                ("preconditions", json!({"uid": word})),
                ("preconditions", json!({"resourceVersion": word})),
                (
                    "dryRun",
                    self.random.pick(&[json!(["All"]), json!([]), json!(["Bad"]), json!("All"), json!([""])]).clone(),
                ),
                ("kind", json!(*self.random.pick(&["DeleteOptions", "Pod", "", "Status"]))),
                ("apiVersion", json!(*self.random.pick(&["v1", "apps/v1", "meta.k8s.io/v1", "", "bad/v1"]))),
                ("unknown", odd(&mut self.random)),
            ];
            let (name, value) = self.random.pick(&choices).clone();
            options[name] = value;
        }
        options
    }
}
