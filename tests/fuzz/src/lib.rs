//! What every decoder of bytes from outside keeps to, whatever the bytes are: it does not panic, and what it accepts comes back from
//! what it writes. `targets/` feeds these to libFuzzer; README.md says how.

use cel::{Budget, Environment, Type};
use generated::apiextensions::v1::JSONSchemaProps;
use generated::apps::v1::Deployment;
use machinery::field_path::Path;
use machinery::format::field::DeclaredFormat;
use machinery::format::url::Url;
use machinery::format::{ip, is_qualified_name};
use machinery::json::{self, Issues};
use machinery::json_path::JsonPath;
use machinery::reflect::{Mut, Ref, Struct};
use machinery::scalar::{Duration, MicroTime, Quantity, Time};
use machinery::selector::{FieldSelector, LabelSelector};
use machinery::{cbor, envelope, protobuf, yaml};
use patch::FieldSet;
use schema::Schema;
use serde_json::{Value, json as value};
use serving::RequestInfo;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// Lets a library panic whose panics its caller turns into errors: libFuzzer takes every panic for a crash as soon as it begins.
pub fn pass_over_panics_of(library: &'static str) {
    let crash = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains(library)) {
            crash(panic);
        }
    }));
}

/// JSON of a declared type, and of none.
pub fn json(bytes: &[u8]) {
    let mut object = Deployment::default();
    if json::decode(bytes, Mut::of(&mut object), &mut Issues::collect()).is_ok() {
        let text = written(|out| json::encode(Ref::of(&object), out));
        let mut again = Deployment::default();
        json::decode(&text, Mut::of(&mut again), &mut Issues::ignore()).expect("what is written can be read");
        assert_eq!(written(|out| json::encode(Ref::of(&again), out)), text);
    }
    if let Ok(tree) = json::parse(bytes, &mut Issues::collect()) {
        let text = written(|out| json::encode_value(&tree, out));
        assert!(json::is_valid(&text));
    }
}

/// Protobuf in its envelope and without; what the transcoder says is what the decoder and the JSON encoder say.
pub fn protobuf(bytes: &[u8]) {
    let _ = envelope::split(bytes);
    let mut object = Deployment::default();
    let decoded = protobuf::decode(bytes, Mut::of(&mut object));
    let mut transcoded = Vec::new();
    let direct = protobuf::to_json(Deployment::def(), bytes, &mut transcoded);
    if decoded.is_err() {
        return;
    }
    let raw = written(|out| protobuf::encode(Ref::of(&object), out));
    let mut again = Deployment::default();
    protobuf::decode(&raw, Mut::of(&mut again)).expect("what is written can be read");
    assert_eq!(written(|out| protobuf::encode(Ref::of(&again), out)), raw);
    if direct.is_ok() && raw == bytes {
        assert_eq!(transcoded, written(|out| json::encode(Ref::of(&object), out)));
    }
}

/// YAML becomes JSON.
pub fn yaml(bytes: &[u8]) {
    if let Ok(text) = yaml::to_json(bytes, &mut Issues::collect()) {
        assert!(json::is_valid(&text));
        yaml::from_json(&text, &mut Vec::new()).expect("JSON becomes YAML");
    }
}

/// CBOR of a declared type, and of none.
pub fn cbor(bytes: &[u8]) {
    let _ = cbor::decode(bytes, Mut::of(&mut Deployment::default()), &mut Issues::collect());
    if let Ok(text) = cbor::to_json(bytes) {
        assert!(json::is_valid(&text));
    }
}

/// Three kinds of patch of a document; a zero byte parts the two.
pub fn patches(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else { return };
    let Ok(document) = serde_json::from_slice::<Value>(&bytes[..at]) else { return };
    let text = &bytes[at + 1..];
    let _ = patch::json_patch(&document, text, &mut Issues::collect());
    let _ = patch::merge_patch(&document, text, &mut Issues::collect());
    let _ = patch::strategic_merge(Deployment::def(), &document, text, &mut Issues::collect());
}

/// Selectors of labels and fields.
pub fn selectors(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(selector) = LabelSelector::parse(text) {
        LabelSelector::parse(&selector.to_string()).expect("what is shown can be read");
    }
    let _ = FieldSelector::parse(text);
}

/// Owned fields.
pub fn field_sets(bytes: &[u8]) {
    if let Ok(set) = FieldSet::from_json(bytes) {
        let text = written(|out| set.append_json(out));
        assert_eq!(FieldSet::from_json(&text).as_ref(), Ok(&set));
    }
}

/// Rules in CEL, over a document that has something of everything.
pub fn cel(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let environment = Environment::new([("self", Type::Dyn), ("oldSelf", Type::Dyn)]).with_bindings();
    match cel::compile(source, &environment) {
        Ok(program) => {
            let document = value!({
                "s": "a,b/c.\u{e9}", "n": -7, "f": 1.5, "b": true, "none": null, "l": [3, 1, 2], "m": {"k": "v", "x y": ["z"]},
                "ip": "10.0.0.1", "cidr": "10.0.0.0/8", "url": "https://u@h:1/p?q=1#f", "q": "100Mi", "t": "2026-01-02T03:04:05Z", "d": "1h2m",
            });
            let both = [("self", cel::Value::untyped(&document)), ("oldSelf", cel::Value::untyped(&document))];
            let mut budget = Budget { per_call: 20_000, left: 20_000 };
            let _ = program.evaluate(&both, &mut budget).map(|made| made.to_json());
        }
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
}

/// A schema of a custom resource, and an object; a zero byte parts the two.
pub fn schemas(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else { return };
    let mut props = JSONSchemaProps::default();
    if json::decode(&bytes[..at], Mut::of(&mut props), &mut Issues::ignore()).is_err() {
        return;
    }
    let schema = Schema::compile(&props);
    let text = &bytes[at + 1..];
    let Ok(mut object) = serde_json::from_slice::<Value>(text) else { return };
    let is_certain = object.as_object().is_some_and(|content| schema::is_certainly_valid(&schema, content));
    let errors = schema::check(&schema, &object, "");
    assert!(!is_certain || errors.is_empty(), "{errors:?}");
    assert!(
        schema::check_update(&schema, &object, &object, "").len() <= errors.len(),
        "what has not changed is let be"
    );
    schema::check_lists(&Path::NONE, &schema, &object, &mut Vec::new());
    schema::prune(&mut object, &schema, true, Some(&mut Vec::new()));
    let pruned = object.clone();
    schema::prune(&mut object, &schema, true, None);
    assert_eq!(object, pruned, "what was pruned stays as it is");
    schema::apply_defaults(&mut object, &schema);
    let defaulted = object.clone();
    schema::apply_defaults(&mut object, &schema);
    assert_eq!(object, defaulted, "what has defaults gets no more");
}

/// Texts that mean something: numbers with units, times, names, patterns, paths.
pub fn texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(quantity) = Quantity::parse(text) {
        assert_eq!(Quantity::parse(&quantity.to_string()).as_ref(), Ok(&quantity));
    }
    if let Ok(duration) = Duration::parse(text) {
        assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
    }
    if let Ok(time) = Time::parse(text) {
        assert_eq!(Time::parse(&time.to_string()), Ok(time));
    }
    let _ = MicroTime::parse(text);
    is_qualified_name(text);
    ip::is_valid_ip(&Path::NONE, text);
    ip::is_valid_cidr(&Path::NONE, text);
    for name in ["long-name", "label-key", "label-value", "uuid", "resource-pool-name", "resource-fully-qualified-name"]
    {
        let format = DeclaredFormat::from_name(&format!("k8s-{name}")).expect("it is declared");
        format.check(&Path::NONE, text);
    }
    let _ = Url::parse(text);
    let _ = JsonPath::parse(text).map(|path| path.first().map(str::len));
    if schema::pattern_fault(text).is_none() {
        schema::Pattern::new(text).is_match("a-1.b");
    }
}

/// The line that a request begins with.
pub fn requests(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (method, target) = text.split_once(' ').unwrap_or(("GET", text));
    let (Ok(method), Ok(uri)) = (method.parse::<http::Method>(), target.parse::<http::Uri>()) else { return };
    if let Ok(info) = RequestInfo::new(&method, &uri) {
        assert!(!info.is_resource_request || info.depth > 0);
    }
}
