//! Generates conversations from a seed. The same seed and the same catalog give the same
//! conversation.

mod custom;
mod definitions;
mod objects;
mod options;
mod patches;
mod policies;
mod reads;
mod routes;
mod subresources;
mod value;

use serde_json::{Value, json};

use crate::catalog::{Catalog, Kind};
use crate::conversation::{Conversation, Step};
use crate::random::Random;
use value::Values;

/// Names of objects in namespaces.
const NAMES: &[&str] = &["a", "b", "c.d", "e-1"];

/// Names that few kinds accept.
const ODD_NAMES: &[&str] = &["A", "-a", "a_b", "a:b", "..", "a%2Fb", "a b", "ü", "a.", "system:a", "1", "a/b"];

/// Kinds whose status the servers write asynchronously.
const FOLLOWED: [&str; 4] =
    ["/flowschemas", "/prioritylevelconfigurations", "/customresourcedefinitions", "/apiservices"];

/// Areas by weight.
const AREAS: [(usize, &str); 12] = [
    (30, "objects"),
    (8, "patches"),
    (10, "apply"),
    (10, "deletion"),
    (12, "reads"),
    (9, "media types"),
    (9, "paths and methods"),
    (9, "subresources"),
    (5, "definitions"),
    (2, "custom resources"),
    (3, "rights"),
    (2, "admission"),
];

/// Generates one conversation.
pub struct Generator<'c> {
    catalog: &'c Catalog,
    random: Random,
    steps: Vec<Step>,
    cleanup: Vec<String>,
}

/// An object of a conversation.
struct Subject<'c> {
    kind: &'c Kind,
    name: String,
    /// The expected state of the object.
    object: Value,
}

impl Subject<'_> {
    fn path(&self) -> String {
        format!("{}/{}", self.kind.collection(), self.name)
    }
}

/// Returns the names of all areas.
pub fn areas() -> impl Iterator<Item = &'static str> {
    AREAS.iter().map(|(_, area)| *area)
}

/// Returns the area of a seed's conversation, which is the first random choice of `generate`.
pub fn area_of(seed: u64) -> &'static str {
    let (random, areas) = (&mut Random::new(seed), &AREAS);
    random.weighted::<&str>(areas)
}

/// Generates the conversation of a seed.
pub fn generate(catalog: &Catalog, seed: u64) -> Conversation {
    let random = Random::new(seed);
    let mut generator = Generator { catalog, random, steps: Vec::new(), cleanup: Vec::new() };
    let area = *generator.random.weighted(&AREAS);
    generator.area(area);
    Conversation {
        name: format!("seed-{seed}"),
        about: format!("Generated from the seed {seed}."),
        area: area.into(),
        namespace: true,
        steps: generator.steps,
        cleanup: generator.cleanup,
    }
}

impl<'c> Generator<'c> {
    fn area(&mut self, area: &str) {
        match area {
            "patches" => self.patches(),
            "apply" => self.apply(),
            "deletion" => self.deletion(),
            "reads" => self.reads(),
            "media types" => self.media_types(),
            "paths and methods" => self.paths(),
            "subresources" => self.subresources(),
            "definitions" => self.definitions(),
            "custom resources" => self.custom(),
            "rights" => self.rights(),
            "admission" => self.admission(),
            _ => self.objects(),
        }
    }

    /// Adds a step and returns its ID.
    fn push(&mut self, step: Step) -> String {
        let id = format!("s{}", self.steps.len() + 1);
        let is_followed = |last: &Step| last.method != "GET" && FOLLOWED.iter().any(|kind| last.path.contains(kind));
        let pause = if self.steps.last().is_some_and(is_followed) { step.pause.max(0.3) } else { step.pause };
        self.steps.push(Step { id: id.clone(), pause, ..step });
        id
    }

    fn values(&self, kind: &Kind) -> Values<'c> {
        Values { catalog: self.catalog, root: kind.root() }
    }

    /// Returns a kind with an accepted object.
    fn subject(&mut self) -> Subject<'c> {
        let kinds = self.catalog.creatable();
        let kind = *self.random.pick(&kinds);
        self.subject_of(kind)
    }

    fn subject_of(&mut self, kind: &'c Kind) -> Subject<'c> {
        let mut object = self.random.pick(&kind.objects).clone();
        let name = match (kind.namespaced, kind.kind.as_str()) {
            (_, "APIService") => "v1.${rand}.example.com".into(),
            (true, _) => self.random.pick(NAMES).to_string(),
            (false, _) => "${rand}".into(),
        };
        object["metadata"]["name"] = json!(name);
        restrict_to_conversation(&mut object);
        // The cleanup includes objects whose names no response contains.
        match kind.namespaced {
            true => self.cleanup.push(kind.collection()),
            false => self.cleanup.push(format!("{}/{name}", kind.collection())),
        }
        Subject { kind, name, object }
    }

    /// Returns the object with some changes.
    fn changed(&mut self, subject: &Subject<'_>, most: usize) -> Value {
        let mut object = subject.object.clone();
        let values = self.values(subject.kind);
        let schema = self.catalog.schema(&values.root, &subject.kind.api_version(), &subject.kind.kind);
        for _ in 0..self.random.below(most + 1) {
            if self.random.percent(25) {
                self.decorate(&mut object);
            } else if let Some(schema) = schema {
                values.mutate(&mut object, schema, &mut self.random);
            }
        }
        if self.random.percent(90) && object["metadata"].is_object() {
            object["metadata"]["name"] = json!(subject.name);
        }
        restrict_to_conversation(&mut object);
        object
    }

    /// Adds metadata that clients may set, and metadata that they should not set.
    fn decorate(&mut self, object: &mut Value) {
        let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u",
            "controller": self.random.percent(50), "blockOwnerDeletion": true}]);
        let word = *self.random.pick(value::ODD_STRINGS);
        let choices = [
            ("labels", json!({"app": "a"})),
            ("labels", json!({ word: "a", "b": word })),
            ("annotations", json!({"example.com/a": word})),
            ("annotations", json!({ word: "a" })),
            ("finalizers", json!(["example.com/f"])),
            ("finalizers", json!([word])),
            ("finalizers", json!(["foregroundDeletion", "orphan"])),
            ("ownerReferences", owner),
            ("ownerReferences", json!([{}])),
            ("generateName", json!("g-")),
            ("resourceVersion", json!(word)),
            ("resourceVersion", json!("0")),
            ("resourceVersion", json!("1")),
            ("uid", json!(word)),
            ("uid", json!("00000000-0000-4000-8000-000000000000")),
            ("creationTimestamp", json!("2001-01-01T00:00:00Z")),
            ("deletionTimestamp", json!("2001-01-01T00:00:00Z")),
            ("deletionGracePeriodSeconds", json!(5)),
            ("generation", json!(7)),
            ("selfLink", json!("/a")),
            ("namespace", json!("other")),
            ("namespace", json!("${ns}")),
            ("name", json!(word)),
            ("managedFields", json!([])),
            ("managedFields", json!([{}])),
            (
                "managedFields",
                json!([{"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}, "time": "2001-01-01T00:00:00Z"}]),
            ),
            ("unknown", json!(1)),
        ];
        let (name, value) = self.random.pick(&choices).clone();
        if object["metadata"].is_object() || object["metadata"].is_null() {
            object["metadata"][name] = value;
        }
    }

    /// Returns a kind that is served.
    fn kind(&self, group: &str, resource: &str) -> Option<&'c Kind> {
        self.catalog.kind(group, resource).filter(|kind| !kind.objects.is_empty())
    }
}

/// Creates a step without an ID.
fn request(method: &str, path: impl Into<String>) -> Step {
    Step::new("", method, path)
}

/// Restricts policies and webhooks to the namespace of the conversation, and makes cluster-wide
/// unique values depend on its name.
fn restrict_to_conversation(object: &mut Value) {
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": "${ns}"}});
    let kind = object["kind"].as_str().unwrap_or_default().to_string();
    match kind.as_str() {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            for hook in object["webhooks"].as_array_mut().into_iter().flatten().filter(|hook| hook.is_object()) {
                hook["namespaceSelector"] = selector.clone();
            }
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" if object["spec"].is_object() => {
            object["spec"]["matchResources"] = json!({"namespaceSelector": selector});
        }
        "PriorityClass" => object["globalDefault"] = json!(false),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    fn catalog() -> Catalog {
        let objects = vec![json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a": "b"}})];
        let verbs = ["create", "get", "list", "update", "patch", "delete", "watch"].map(str::to_string).to_vec();
        let config = Kind {
            version: "v1".into(),
            kind: "ConfigMap".into(),
            resource: "configmaps".into(),
            namespaced: true,
            verbs,
            objects,
            ..Kind::default()
        };
        let schema = json!({
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "ConfigMap"}],
            "properties": {
                "data": {"type": "object", "additionalProperties": {"type": "string"}},
                "immutable": {"type": "boolean"},
            },
        });
        Catalog::of(vec![config], "api/v1", Map::from_iter([("ConfigMap".to_string(), schema)]))
    }

    #[test]
    fn seed_determines_the_conversation() {
        for seed in 0..500 {
            assert_eq!(generate(&catalog(), seed), generate(&catalog(), seed));
        }
    }

    #[test]
    fn seeds_give_conversations_of_every_area_with_at_least_three_steps() {
        let talks: Vec<Conversation> = (0..2000).map(|seed| generate(&catalog(), seed)).collect();
        for area in areas() {
            assert!(talks.iter().any(|talk| talk.area == area), "no conversation of {area}");
        }
        assert!((0..).zip(&talks).all(|(seed, talk)| talk.area == area_of(seed)));
        let lengths: Vec<usize> = talks.iter().map(|talk| talk.steps.len()).collect();
        assert!(lengths.iter().all(|length| (3..=8).contains(length)), "{lengths:?}");
    }

    #[test]
    fn policies_stay_within_the_namespace_of_the_conversation() {
        let mut object = json!({"kind": "ValidatingWebhookConfiguration", "webhooks": [{"name": "a"}]});
        restrict_to_conversation(&mut object);
        let labels = &object["webhooks"][0]["namespaceSelector"]["matchLabels"];
        assert_eq!(labels["kubernetes.io/metadata.name"], "${ns}");
    }
}
