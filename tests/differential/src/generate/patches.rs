//! Patches of every type, well-formed and malformed.

use serde_json::{Map, Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, Subject, request};

impl Generator<'_> {
    /// An object and several patches of it.
    pub(super) fn patches(&mut self) {
        let subject = self.subject();
        let step = request("POST", subject.kind.collection()).body(subject.object.clone());
        self.push(step);
        for _ in 0..2 + self.random.below(4) {
            self.patch_step(&subject);
        }
    }

    /// A patch other than an apply.
    pub(super) fn patch_step(&mut self, subject: &Subject<'_>) {
        let (kind, body) = match self.random.below(10) {
            0..=2 => ("application/json-patch+json", self.json_patch(subject)),
            3..=5 => ("application/merge-patch+json", self.merge_patch(subject)),
            _ => ("application/strategic-merge-patch+json", self.strategic_patch(subject)),
        };
        let status = subject.kind.subresources.iter().any(|sub| sub.name == "status") && self.random.percent(12);
        let path = subject.path() + if status { "/status" } else { "" } + &self.write_query();
        let body = if self.random.percent(3) { odd(&mut self.random) } else { body };
        let step = request("PATCH", path).body(body).header("Content-Type", kind);
        self.push(step);
    }

    /// Changes the object; returns the new object, and the path and value of the change.
    fn change(&mut self, subject: &Subject<'_>) -> (Value, Vec<String>, Value) {
        let values = self.values(subject.kind);
        let mut object = subject.object.clone();
        let schema = self.catalog.schema(&values.root, &subject.kind.api_version(), &subject.kind.kind);
        if self.random.percent(15) {
            self.decorate(&mut object);
            let metadata = object["metadata"].clone();
            return (object, vec!["metadata".into()], metadata);
        }
        let (path, value) = match schema {
            Some(schema) => values.mutate(&mut object, schema, &mut self.random),
            None => (vec!["data".into(), "a".into()], odd(&mut self.random)),
        };
        super::restrict_to_conversation(&mut object);
        (object, path, value)
    }

    fn json_patch(&mut self, subject: &Subject<'_>) -> Value {
        let mut operations = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let (_, path, value) = self.change(subject);
            let mut pointer: String =
                path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect();
            if self.random.percent(8) {
                pointer =
                    self.random.pick(&["", "/", "a", "/metadata/labels/-", "/~2", "/metadata", "/spec/-1"]).to_string();
            }
            let op =
                *self.random.pick(&["add", "add", "replace", "replace", "remove", "test", "copy", "move", "bad", ""]);
            let mut operation = json!({"op": op, "path": pointer});
            if ["copy", "move"].contains(&op) {
                operation["from"] = json!(self.random.pick(&["/metadata/name", "/metadata", "/nothing", "", "/kind"]));
            } else if op != "remove" && self.random.percent(95) {
                operation["value"] = value;
            }
            operations.push(operation);
        }
        operations.into()
    }

    fn merge_patch(&mut self, subject: &Subject<'_>) -> Value {
        let (object, path, _) = self.change(subject);
        let mut patch = only(&object, &path);
        if self.random.percent(25) {
            self.decorate(&mut patch);
        }
        patch
    }

    fn strategic_patch(&mut self, subject: &Subject<'_>) -> Value {
        let mut patch = self.merge_patch(subject);
        if self.random.percent(45) {
            let word = *self.random.pick(ODD_STRINGS);
            let directives = [
                ("$patch", json!("delete")),
                ("$patch", json!("replace")),
                ("$patch", json!("merge")),
                ("$patch", json!(word)),
                ("$retainKeys", json!(["name", "a"])),
                ("$setElementOrder/containers", json!([{"name": "a"}])),
                ("$setElementOrder/finalizers", json!([word])),
                ("$deleteFromPrimitiveList/finalizers", json!(["example.com/f"])),
                ("$deleteFromPrimitiveList/args", json!([word])),
                ("$setElementOrder/ports", json!([{"port": 80}])),
            ];
            let (name, value) = self.random.pick(&directives).clone();
            let place = self.random.below(4);
            directed(&mut patch, place, name, value);
        }
        patch
    }
}

/// Returns the part of an object at a path. In a list, the item with its key.
fn only(object: &Value, path: &[String]) -> Value {
    let Some((first, rest)) = path.split_first() else { return object.clone() };
    match object {
        Value::Object(fields) => {
            let below = fields.get(first).map_or(Value::Null, |value| only(value, rest));
            Value::Object(Map::from_iter([(first.clone(), below)]))
        }
        Value::Array(items) => {
            let Some(item) = first.parse::<usize>().ok().and_then(|at| items.get(at)) else { return json!([]) };
            let mut below = only(item, rest);
            for key in ["name", "port", "type", "containerPort", "mountPath", "key", "ip", "uid"] {
                if let Some((value, below)) = item.get(key).zip(below.as_object_mut()) {
                    below.entry(key).or_insert(value.clone());
                }
            }
            json!([below])
        }
        other => other.clone(),
    }
}

/// Inserts a directive into a patch at a depth.
fn directed(patch: &mut Value, depth: usize, name: &str, value: Value) {
    match patch {
        Value::Array(items) if !items.is_empty() => directed(&mut items[0], depth, name, value),
        Value::Object(fields) => {
            let next = if depth == 0 { None } else { fields.values_mut().find(|v| v.is_object() || v.is_array()) };
            match next {
                Some(next) => directed(next, depth - 1, name, value),
                None => {
                    fields.insert(name.into(), value);
                }
            }
        }
        _ => {}
    }
}

impl Generator<'_> {
    /// Server-side apply by two managers, with updates in between.
    pub(super) fn apply(&mut self) {
        let subject = self.subject();
        if self.random.percent(40) {
            self.create(&subject);
        }
        for _ in 0..3 + self.random.below(3) {
            if self.random.percent(80) {
                self.apply_step(&subject);
            } else {
                self.patch_step(&subject);
            }
        }
    }

    pub(super) fn apply_step(&mut self, subject: &Subject<'_>) {
        let mut object = self.changed(subject, 2);
        if self.random.percent(30)
            && let Some(fields) = object.as_object_mut()
        {
            let known: Vec<String> = fields
                .keys()
                .filter(|key| !["apiVersion", "kind", "metadata"].contains(&key.as_str()))
                .cloned()
                .collect();
            if !known.is_empty() {
                fields.remove(self.random.pick(&known));
            }
        }
        if self.random.percent(4) {
            object = self.spoiled(object);
        }
        let manager = *self.random.pick(&["m", "m", "m", "n", "n", ""]);
        let force = *self.random.pick(&["", "", "&force=true", "&force=true", "&force=false", "&force=bad"]);
        let mut query = format!("?fieldManager={manager}{force}");
        if self.random.percent(20) {
            query += &self.write_query().replace('?', "&");
        }
        let has_status = subject.kind.subresources.iter().any(|sub| sub.name == "status");
        let status = if has_status && self.random.percent(12) { "/status" } else { "" };
        let kind = *self.random.weighted(&[
            (8, "application/apply-patch+yaml"),
            (1, "application/apply-patch+json"),
            (1, "application/apply-patch+cbor"),
        ]);
        let path = format!("{}{status}{query}", subject.path());
        let step = request("PATCH", path).body(object).header("Content-Type", kind);
        self.push(step);
    }
}
