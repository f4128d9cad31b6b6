//! What every decoder of bytes from outside keeps to, whatever the bytes are: it does not panic, and what it accepts comes back from
//! what it writes. `targets/` feeds these to libFuzzer; README.md says how.

use generated::apps::v1::Deployment;
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref, Struct};
use machinery::selector::{FieldSelector, LabelSelector};
use machinery::{cbor, envelope, protobuf, yaml};
use patch::FieldSet;
use serde_json::Value;

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
