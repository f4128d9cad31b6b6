//! Errors of invalid objects: fields, order and messages, of hand-written validation and of declared
//! checks.
//!
//! A file of `cases/` has objects, and writes of them with the recorded answer of kube-apiserver
//! 1.36.2:
//!
//! ```text
//! object {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
//! create PATCH          a create of the object, changed by a merge patch
//!     FIELD: MESSAGE    an error, or `accepted`
//! update OLD NEW        an update of the object changed by OLD, which is changed by NEW
//! update status OLD NEW
//! # a comment
//! ```
//!
//! `record` (beside this file) writes the answers of a running kube-apiserver into the files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod limits;

use std::sync::Arc;

use apiserver::convert;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::features::FeatureGates;
use machinery::field_error::with_bounded_texts;
use machinery::hooks::WriteContext;
use machinery::reflect::Owned;
use machinery::request_document::RequestDocument;
use machinery::status::{GroupResource, Status};
use registry::{DeclaredStrategy, Strategy, meta_mut};
use serde_json::Value;

/// An object as the server decodes it.
struct Decoded {
    hub: Owned,
    strategy: DeclaredStrategy,
    context: WriteContext,
}

impl Decoded {
    fn new(object: &Value, subresource: &str) -> Self {
        let catalog = kubernetes::catalog();
        let body = serde_json::to_vec(object).unwrap();
        let mut decoded = convert::decode(catalog, &body, None).unwrap();
        apply_defaults(decoded.value.as_mut());
        let mut hub = decoded.kind.to_hub(decoded.value);
        normalize(hub.as_mut());
        let resource = decoded.kind.resource.unwrap();
        let namespace = if resource.namespaced { "default" } else { "" };
        let meta = meta_mut(&mut hub).unwrap();
        meta.namespace = namespace.into();
        meta.uid = "00000000-0000-0000-0000-000000000000".into();
        let sent = RequestDocument::default();
        sent.set(move || serde_json::from_slice(&body).ok());
        let context = WriteContext {
            namespace: namespace.into(),
            group: decoded.kind.group.into(),
            version: decoded.kind.version.into(),
            subresource: subresource.into(),
            user: "admin".into(),
            sent,
            ..WriteContext::default()
        };
        Decoded { hub, strategy: DeclaredStrategy::new(catalog, decoded.kind, resource), context }
    }

    /// The object as a create stores it; `status` is stored by a second write.
    fn stored(object: &Value) -> Owned {
        let mut created = Self::new(object, "");
        meta_mut(&mut created.hub).unwrap().resource_version = "1".into();
        created.strategy.prepare_for_create(&created.context, &mut created.hub);
        if object.get("status").is_none() {
            return created.hub;
        }
        let mut new = Self::new(object, "status");
        new.strategy.prepare_for_update(&new.context, &mut new.hub, created.hub.as_ref());
        meta_mut(&mut new.hub).unwrap().resource_version = "2".into();
        new.hub
    }
}

/// The recorded form of an answer.
fn answer(
    context: &WriteContext,
    object: &Owned,
    errors: impl FnOnce() -> Vec<machinery::field_error::FieldError>,
) -> Vec<String> {
    let mut errors = with_bounded_texts(errors);
    context.sent.complete(&mut errors, object.def());
    let status = Status::invalid(GroupResource { group: "", resource: "" }, "", &errors);
    let causes = status.details.map(|details| details.causes).unwrap_or_default();
    match causes.is_empty() {
        true => vec!["accepted".to_owned()],
        false => {
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message).replace('\n', "\\n")).collect()
        }
    }
}

fn create(object: &Value) -> Vec<String> {
    create_with(object, &[])
}

/// The answer to a create by a server with these feature gates, such as `NAME=true`.
fn create_with(object: &Value, features: &[&str]) -> Vec<String> {
    let mut new = Decoded::new(object, "");
    new.context.features = Arc::new(FeatureGates::parse(features.iter().copied()).unwrap());
    new.strategy.prepare_for_create(&new.context, &mut new.hub);
    answer(&new.context, &new.hub, || new.strategy.validate(&new.context, new.hub.as_ref()))
}

fn update(subresource: &str, old: &Value, new: &Value) -> Vec<String> {
    let (old, mut new) = (Decoded::stored(old), Decoded::new(new, subresource));
    let from = registry::meta(old.as_ref()).unwrap();
    let to = meta_mut(&mut new.hub).unwrap();
    to.resource_version = from.resource_version.clone();
    to.generation = from.generation;
    to.creation_timestamp = from.creation_timestamp;
    new.strategy.prepare_for_update(&new.context, &mut new.hub, old.as_ref());
    answer(&new.context, &new.hub, || new.strategy.validate_update(&new.context, new.hub.as_ref(), old.as_ref()))
}

/// Applies a merge patch.
fn merged(target: &Value, patch: &Value) -> Value {
    let (Value::Object(target), Value::Object(patch)) = (target, patch) else { return patch.clone() };
    let mut target = target.clone();
    for (name, value) in patch {
        match value {
            Value::Null => drop(target.remove(name)),
            value => drop(target.insert(name.clone(), merged(target.get(name).unwrap_or(&Value::Null), value))),
        }
    }
    // A patch of an object that is absent creates it without the members that the patch removes.
    Value::Object(target)
}

fn play(object: &Value, case: &str) -> Vec<String> {
    let start = case.find('{').unwrap();
    let words: Vec<&str> = case[..start].split_whitespace().collect();
    let patches: Vec<Value> =
        serde_json::Deserializer::from_str(&case[start..]).into_iter().collect::<Result<_, _>>().unwrap();
    match (words.as_slice(), patches.as_slice()) {
        (["create"], [patch]) => create(&merged(object, patch)),
        (["update", subresource @ ..], [old, new]) => {
            let old = merged(object, old);
            update(subresource.first().copied().unwrap_or_default(), &old, &merged(&old, new))
        }
        _ => panic!("a malformed case: {case}"),
    }
}

/// Plays the cases of a file, and fails with all differences.
fn check(file: &str, text: &str) {
    let (mut object, mut differences, mut cases) = (Value::Null, Vec::new(), 0);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if let Some(json) = line.strip_prefix("object ") {
            object = serde_json::from_str(json).unwrap();
        } else if !line.is_empty() && !line.starts_with('#') {
            let mut expected = Vec::new();
            while let Some((_, answer)) = lines.next_if(|(_, line)| line.starts_with("    ")) {
                expected.push(answer[4..].to_owned());
            }
            let found = play(&object, line);
            cases += 1;
            if found != expected {
                let (found, expected) = (found.join("\n    "), expected.join("\n    "));
                differences
                    .push(format!("{file}:{}: {line}\n  found\n    {found}\n  expected\n    {expected}", number + 1));
            }
        }
    }
    assert!(cases > 0, "{file} has no cases");
    assert!(differences.is_empty(), "{} of {cases} cases differ:\n{}", differences.len(), differences.join("\n"));
}

/// A test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let file = concat!("cases/", stringify!($name), ".txt");
            check(file, include_str!(concat!("cases/", stringify!($name), ".txt")));
        })*

        #[test]
        fn each_file_has_a_test() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validation/cases");
            let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut found: Vec<String> = found.map(|name| name.to_str().unwrap().replace(".txt", "")).collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),*]);
        }
    };
}

files! {
    admissionregistration
    annotations_of_pods
    apiserverinternal
    apps
    autoscaling
    batch
    certificates
    changes_of_pods
    containers
    coordination
    core
    discovery
    flowcontrol
    networking
    nodes
    pods
    rbac
    resource
    scheduling
    services
    states_of_pods
    storage
    storagemigration
    volumes
}
