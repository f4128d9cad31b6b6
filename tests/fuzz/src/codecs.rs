//! Codecs: JSON, protobuf, YAML and CBOR.

use generated::apps::v1::Deployment;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use machinery::json::{self, Issues};
use machinery::reflect::{Mut, Ref, Struct};
use machinery::{cbor, envelope, protobuf, yaml};

use crate::written;

/// Decodes JSON as a declared type and as untyped JSON.
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

/// Decodes protobuf with and without its envelope; the transcoder agrees with the decoder and JSON
/// encoder.
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

/// Converts YAML to JSON.
pub fn yaml(bytes: &[u8]) {
    if let Ok(text) = yaml::to_json(bytes, &mut Issues::collect()) {
        assert!(json::is_valid(&text));
        yaml::from_json(&text, &mut Vec::new()).expect("JSON becomes YAML");
    }
}

/// Decodes CBOR as a declared type and as untyped CBOR.
pub fn cbor(bytes: &[u8]) {
    let _ = cbor::decode(bytes, Mut::of(&mut Deployment::default()), &mut Issues::collect());
    if let Ok(text) = cbor::to_json(bytes) {
        assert!(json::is_valid(&text));
    }
}

/// Maximum size of the JSON of an `aliases` document.
const MAX_EXPANDED: usize = 32 << 20;

/// Converts YAML that consists of anchors and aliases: its expansion is bounded in depth and bytes.
pub fn aliases(bytes: &[u8]) {
    let Ok(document) = anchored_document(&mut Unstructured::new(bytes)) else { return };
    if let Ok(text) = yaml::to_json(document.as_bytes(), &mut Issues::collect()) {
        assert!(text.len() <= MAX_EXPANDED, "{} bytes became {}", document.len(), text.len());
        assert!(json::is_valid(&text));
        yaml::from_json(&text, &mut Vec::new()).expect("JSON becomes YAML");
    }
}

/// Generates a mapping whose values define anchors and refer to earlier anchors.
fn anchored_document(input: &mut Unstructured<'_>) -> Result<String> {
    let mut document = String::new();
    for anchor in 0..input.int_in_range(1..=600)? {
        let node = anchored_node(input, anchor)?;
        document.push_str(&format!("k{anchor}: &a{anchor} {node}\n"));
    }
    Ok(document)
}

fn anchored_node(input: &mut Unstructured<'_>, anchor: usize) -> Result<String> {
    if anchor == 0 || input.ratio(1, 8)? {
        return Ok("x".repeat(input.int_in_range(1..=4_000)?));
    }
    let width = input.int_in_range(1..=12)?;
    let mut parts = Vec::new();
    for part in 0..width {
        // Most aliases refer to the previous node, so that depth and size grow fast.
        let to = if input.ratio(3, 4)? { anchor - 1 } else { input.int_in_range(0..=anchor - 1)? };
        parts.push((part, to));
    }
    Ok(match input.ratio(1, 2)? {
        true => format!("[{}]", parts.iter().map(|(_, to)| format!("*a{to}")).collect::<Vec<_>>().join(", ")),
        false => format!("{{{}}}", parts.iter().map(|(n, to)| format!("p{n}: *a{to}")).collect::<Vec<_>>().join(", ")),
    })
}
