//! Custom resources with random schemas: valid and nearly valid objects, in every kind of write,
//! with columns, selectable fields and scales.

use serde_json::{Map, Value, json};

use super::value::{ODD_STRINGS, odd};
use super::{Generator, request};
use crate::conversation::Step;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OBJECTS: &str = "/apis/${rand}.example.com/v1/namespaces/${ns}/things";

/// Names of the fields below `spec`, in addition to `list` and `doc`.
const FIELDS: [&str; 4] = ["a", "b", "c", "d"];

const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "uuid",
    "byte",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "email",
    "hostname",
    "uri",
    "duration",
    "password",
    "isbn",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "bsonobjectid",
    "datetime",
    "int32",
    "unknown",
    "k8s-short-name",
    "k8s-long-name",
];

const COLUMNS: &[&str] = &[
    ".spec.a",
    ".spec.b",
    ".spec.list",
    ".spec.list[0].name",
    ".spec.list[-1].name",
    ".spec.list[*].name",
    ".spec.list[0:1].name",
    ".spec.list[-1:].value",
    ".spec.list[::2].name",
    ".spec.list[0,1].name",
    ".spec.list[?(@.name==\"a\")].value",
    ".spec.list[?(@.name=='b')].name",
    ".spec.list[?(@.name!=\"a\")].name",
    ".spec.list[?(@.value>1)].name",
    ".spec.list[?(@.value<=2)].value",
    ".spec.list[?(@.value==1.5)].name",
    ".spec.list[?(@.value==true)].name",
    ".spec.list[?(@.value)].name",
    ".spec.list[?(@.name=~\"^a\")].name",
    ".spec['a','b']",
    ".spec['a']",
    ".spec.*",
    ".spec..name",
    ".spec.doc.x",
    ".spec.doc.n.a",
    ".metadata.labels.app",
    ".metadata.labels['example\\.com/a']",
    ".metadata.creationTimestamp",
    ".status.replicas",
];

const EXPRESSIONS: &[&str] = &[
    "!has(self.a) || self.a == self.a",
    "!has(self.list) || self.list.size() < 2",
    "!has(self.list) || self.list.all(i, i.name != 'b')",
    "has(self.a)",
    "self == oldSelf",
    "!has(oldSelf.a) || has(self.a)",
];

impl Generator<'_> {
    /// A definition with a random schema, then objects of it.
    pub(super) fn custom(&mut self) {
        let definition = self.random_definition();
        let schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        let step = request("POST", DEFINITIONS).body(definition);
        self.push(step);
        let step = request("GET", "/apis/${rand}.example.com/v1");
        self.push(Step { until: Some(200), ..step });
        let mut object = self.object_of(&schema);
        let step = request("POST", OBJECTS).body(object.clone());
        self.push(step);
        for _ in 0..2 + self.random.below(4) {
            self.custom_step(&schema, &mut object);
        }
    }

    /// Returns a definition that is usually accepted.
    pub(super) fn random_definition(&mut self) -> Value {
        let mut spec = Map::new();
        for name in FIELDS {
            if self.random.percent(60) {
                spec.insert(name.into(), self.random_schema(0));
            }
        }
        if self.random.percent(60) {
            let value = self.random_schema(2);
            spec.insert("list".into(), self.list_of(value));
        }
        if self.random.percent(50) {
            spec.insert("doc".into(), json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
        }
        let mut spec = json!({"type": "object", "properties": spec});
        if self.random.percent(20) {
            spec["required"] = json!([self.random.pick(&FIELDS)]);
        }
        if self.random.percent(20) {
            let rule = *self.random.pick(EXPRESSIONS);
            spec["x-kubernetes-validations"] = json!([{"rule": rule}]);
        }
        let status = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}});
        let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": spec, "status": status}}}});
        self.random_extras(&mut version);
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.${rand}.example.com"},
            "spec": {"group": "${rand}.example.com", "scope": "Namespaced", "versions": [version],
                "names": {"plural": "things", "kind": "Thing"}}})
    }

    /// Adds columns, subresources and selectable fields to a version.
    fn random_extras(&mut self, version: &mut Value) {
        if self.random.percent(50) {
            let columns: Vec<Value> = (0..1 + self.random.below(4))
                .map(|at| {
                    let kind = *self.random.pick(&["string", "string", "integer", "number", "boolean", "date"]);
                    json!({"name": format!("C{at}"), "type": kind, "jsonPath": self.random.pick(COLUMNS)})
                })
                .collect();
            version["additionalPrinterColumns"] = columns.into();
        }
        if self.random.percent(50) {
            version["subresources"] = json!({"status": {}});
            if self.random.percent(50) {
                version["subresources"]["scale"] = json!({"specReplicasPath": ".spec.a",
                    "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"});
            }
        }
        if self.random.percent(15) {
            version["selectableFields"] = json!([{"jsonPath": self.random.pick(&[".spec.a", ".spec.b"])}]);
        }
    }

    fn list_of(&mut self, value: Value) -> Value {
        let mut list = json!({"type": "array", "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "value": value}}});
        if self.random.percent(60) {
            list["x-kubernetes-list-type"] = json!("map");
            list["x-kubernetes-list-map-keys"] = json!(["name"]);
        }
        list
    }

    fn random_schema(&mut self, depth: usize) -> Value {
        let mut schema = match self.random.below(if depth > 1 { 7 } else { 12 }) {
            0 => json!({"type": "string"}),
            1 => json!({"type": "string", "format": self.random.pick(FORMATS)}),
            2 => json!({"type": "string", "enum": self.random.pick(&[json!(["a", "b"]), json!(["a", ""])])}),
            3 => self.number("integer"),
            4 => self.number("number"),
            5 => json!({"type": "boolean"}),
            6 => json!({"x-kubernetes-int-or-string": true}),
            7 => json!({"type": "object", "additionalProperties": self.random_schema(depth + 1)}),
            8 => {
                let item = self.random_schema(2);
                json!({"type": "array", "items": item})
            }
            9 => {
                let value = self.random_schema(2);
                self.list_of(value)
            }
            10 => json!({"type": "object", "properties": {"a": self.random_schema(depth + 1),
                "b": self.random_schema(depth + 1)}}),
            _ => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        };
        for _ in 0..self.random.below(3) {
            self.constrain(&mut schema);
        }
        schema
    }

    fn number(&mut self, kind: &str) -> Value {
        let choices = [
            json!({}),
            json!({"minimum": 1, "maximum": 10}),
            json!({"minimum": 0, "exclusiveMinimum": true}),
            json!({"maximum": 5, "exclusiveMaximum": true}),
            json!({"multipleOf": 3}),
            json!({"multipleOf": 0.5}),
            json!({"enum": [1, 2, 65]}),
            json!({"enum": [1.5, 2]}),
            json!({"format": "int32"}),
            json!({"format": "int64"}),
            json!({"format": "float"}),
        ];
        let mut schema = self.random.pick(&choices).clone();
        schema["type"] = json!(kind);
        schema
    }

    /// Adds a constraint that fits the type of the schema.
    fn constrain(&mut self, schema: &mut Value) {
        let at_object = [("maxProperties", json!(2)), ("minProperties", json!(1)), ("required", json!(["a"]))];
        let choices = match schema["type"].as_str() {
            Some("string") => vec![
                ("minLength", json!(1)),
                ("maxLength", json!(4)),
                ("pattern", json!("^[a-z0-9.]*$")),
                ("default", json!("a")),
            ],
            Some("integer") => vec![("default", json!(2))],
            Some("number") => vec![("default", json!(1.5))],
            Some("boolean") => vec![("default", json!(true))],
            Some("array") => vec![("maxItems", json!(2)), ("minItems", json!(1)), ("default", json!([]))],
            Some("object") if schema.get("additionalProperties").is_some() => at_object[..2].to_vec(),
            Some("object") => at_object.to_vec(),
            _ => vec![("maximum", json!(10)), ("pattern", json!("^a"))],
        };
        let any = [
            ("nullable", json!(true)),
            ("default", json!("a")),
            ("x-kubernetes-preserve-unknown-fields", json!(true)),
            ("x-kubernetes-validations", json!([{"rule": "self == oldSelf", "message": "no changes"}])),
        ];
        let (name, value) = match self.random.below(20) {
            // Some of these fit few types.
            0 => self.random.pick(&any).clone(),
            1..=4 => any[0].clone(),
            _ => self.random.pick(&choices).clone(),
        };
        schema[name] = value;
    }

    /// Returns an object that mostly follows the schema.
    fn object_of(&mut self, schema: &Value) -> Value {
        let mut object = json!({"apiVersion": "${rand}.example.com/v1", "kind": "Thing", "metadata": {"name": "a"}});
        object["spec"] = self.value_of(&schema["properties"]["spec"]);
        if self.random.percent(30) {
            object["metadata"]["labels"] = json!({"app": "a", "example.com/a": "b"});
        }
        if self.random.percent(30) {
            object["status"] = json!({"replicas": self.random.below(3), "selector": "app=a", "conditions": []});
        }
        if self.random.percent(8) {
            self.decorate(&mut object);
        }
        object
    }

    fn value_of(&mut self, schema: &Value) -> Value {
        if self.random.percent(6) {
            return odd(&mut self.random);
        }
        if let Some(choices) = schema["enum"].as_array().filter(|_| self.random.percent(70)) {
            return self.random.pick(choices).clone();
        }
        match schema["type"].as_str() {
            Some("string") => self.text_of(schema["format"].as_str().unwrap_or_default()),
            Some("integer") => json!(self.random.pick(&[0, 1, 2, 3, 6, 9, 10, 65, -1])),
            Some("number") => self.random.pick(&[json!(0), json!(1), json!(1.5), json!(2.25), json!(3)]).clone(),
            Some("boolean") => json!(self.random.percent(50)),
            Some("array") => (0..self.random.below(4)).map(|_| self.value_of(&schema["items"])).collect(),
            Some("object") => self.members_of(schema),
            _ => self.random.pick(&[json!(1), json!("25%"), json!("a"), json!(11)]).clone(),
        }
    }

    fn members_of(&mut self, schema: &Value) -> Value {
        let mut members = Map::new();
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            let is_name = name == "name";
            if is_name || self.random.percent(70) {
                let value = if is_name { json!(self.random.pick(&["a", "b", "c"])) } else { self.value_of(below) };
                members.insert(name.clone(), value);
            }
        }
        if schema["additionalProperties"].is_object() {
            for _ in 0..self.random.below(4) {
                let key = *self.random.pick(&["a", "b", "c.d", "e/f", "", "1"]);
                let value = self.value_of(&schema["additionalProperties"]);
                members.insert(key.into(), value);
            }
        }
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            members.insert("x".into(), odd(&mut self.random));
            members.insert("n".into(), json!({"b": [1, 2, {"z": 1, "y": 2}], "a": {"z": 1, "a": null}}));
        }
        if self.random.percent(4) {
            members.insert("unknown".into(), odd(&mut self.random));
        }
        members.into()
    }

    fn text_of(&mut self, format: &str) -> Value {
        let fitting = match format {
            "date-time" | "datetime" => "2001-01-01T00:00:00.5Z",
            "date" => "2001-02-29",
            "uuid" => "00000000-0000-4000-8000-000000000000",
            "byte" => "YWI=",
            "ipv4" => "1.2.3.4",
            "ipv6" => "::ffff:1.2.3.4",
            "cidr" => "10.0.0.1/8",
            "mac" => "00:00:5e:00:53:01",
            "email" => "a <a@example.com>",
            "uri" => "http://example.com/a b",
            "duration" => "1h 5m",
            "hexcolor" => "#fff",
            "rgbcolor" => "rgb(1,2,256)",
            "isbn" => "0-306-40615-2",
            "creditcard" => "4111111111111111",
            _ => "",
        };
        match fitting {
            "" => self.host_name(),
            _ if self.random.percent(25) => self.host_name(),
            fitting => json!(fitting),
        }
    }

    /// Returns a short valid or nearly valid host name.
    fn host_name(&mut self) -> Value {
        if self.random.percent(25) {
            return json!(self.random.pick(ODD_STRINGS));
        }
        let characters = ["a", "b", "Z", "0", "9", "-", "_", ".", "é", "漢", "+", "€", " ", "a"];
        let length = self.random.below(7);
        (0..length).map(|_| *self.random.pick(&characters)).collect::<String>().into()
    }

    fn custom_step(&mut self, schema: &Value, object: &mut Value) {
        let path = format!("{OBJECTS}/a");
        let status = if self.random.percent(12) { "/status" } else { "" };
        let (method, path, kind) = match self.random.below(11) {
            0 => ("PUT", format!("{path}{status}"), "application/json"),
            1 | 2 => ("PATCH", format!("{path}{status}"), "application/merge-patch+json"),
            3..=5 => ("PATCH", format!("{path}{status}"), "application/json-patch+json"),
            6 | 7 => {
                let manager = *self.random.pick(&["m", "m", "n"]);
                let force = *self.random.pick(&["", "&force=true"]);
                ("PATCH", format!("{path}{status}?fieldManager={manager}{force}"), "application/apply-patch+yaml")
            }
            8 => return self.read_custom(),
            9 => return self.scale_custom(),
            _ => ("POST", OBJECTS.to_string(), "application/json"),
        };
        let body = match kind {
            "application/json-patch+json" => self.operations(object),
            "application/merge-patch+json" => json!({"spec": self.value_of(&schema["properties"]["spec"])}),
            _ => {
                *object = self.object_of(schema);
                object.clone()
            }
        };
        let step = request(method, path).body(body).header("Content-Type", kind);
        self.push(step);
    }

    fn read_custom(&mut self) {
        let queries = ["", "?fieldSelector=spec.a%3Da", "?fieldSelector=spec.b!%3Da", "?labelSelector=app%3Da"];
        let query = *self.random.pick(&queries);
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let step = request("GET", format!("{OBJECTS}{query}"));
        self.push(step.header("Accept", table));
    }

    fn scale_custom(&mut self) {
        let path = format!("{OBJECTS}/a/scale");
        let step = match self.random.below(3) {
            0 => request("GET", path),
            1 => {
                let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a",
                    "namespace": "${ns}"}, "spec": {"replicas": self.random.below(4)}});
                request("PUT", path).body(scale)
            }
            _ => {
                let patch = json!({"spec": {"replicas": self.random.below(4)}});
                request("PATCH", path).body(patch).header("Content-Type", "application/merge-patch+json")
            }
        };
        self.push(step);
    }

    /// Returns a JSON patch whose operations address fields of the object.
    fn operations(&mut self, object: &Value) -> Value {
        (0..1 + self.random.below(4)).map(|_| self.operation(object)).collect()
    }

    fn operation(&mut self, object: &Value) -> Value {
        let op = *self.random.weighted(&[
            (4, "add"),
            (3, "replace"),
            (3, "remove"),
            (2, "test"),
            (2, "copy"),
            (2, "move"),
            (1, "bad"),
        ]);
        let mut operation = json!({"op": op, "path": self.pointer(object)});
        match op {
            "copy" | "move" => operation["from"] = self.pointer(object).into(),
            "test" => {
                let there = operation["path"].as_str().and_then(|path| object.pointer(path)).cloned();
                operation["value"] = there.filter(|_| self.random.percent(60)).unwrap_or_else(|| odd(&mut self.random));
            }
            "remove" => {}
            _ if self.random.percent(95) => operation["value"] = odd(&mut self.random),
            _ => {}
        }
        operation
    }

    /// Returns a pointer into the object, which may end at a missing field.
    fn pointer(&mut self, object: &Value) -> String {
        let mut pointer = "/spec".to_string();
        let mut at = &object["spec"];
        while self.random.percent(80) {
            let step = match at {
                Value::Object(members) if !members.is_empty() => {
                    let names: Vec<&String> = members.keys().collect();
                    (*self.random.pick(&names)).clone()
                }
                Value::Array(items) if !items.is_empty() => self.random.below(items.len()).to_string(),
                _ => break,
            };
            at = match at {
                Value::Array(items) => &items[step.parse::<usize>().unwrap_or(0)],
                other => &other[&step],
            };
            pointer += &format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        }
        if self.random.percent(25) {
            let beside = *self.random.pick(&["-", "-1", "0", "1", "3", "new", "a", "01", "", "~01"]);
            pointer += &format!("/{beside}");
        }
        pointer
    }
}
