//! Tests that every recursive function over documents fits into half of the stack of a worker
//! thread at the depth limit.

use crate::json::fixture::v1::Pod;
use crate::json::{self, Issues, Value};
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::reflect::{Mut, Ref, Struct};
use crate::{cbor, protobuf, yaml};

fn on_a_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap()
}

/// `depth` alternating lists and objects around a number.
fn nested(depth: usize) -> String {
    let open: String = (0..depth).map(|level| if level % 2 == 0 { "{\"a\":" } else { "[" }).collect();
    let close: String = (0..depth).rev().map(|level| if level % 2 == 0 { "}" } else { "]" }).collect();
    format!("{open}1{close}")
}

#[test]
fn every_codec_accepts_documents_at_depth_limit() {
    let text = nested(MAX_STORED_DEPTH);
    on_a_small_stack(move || {
        let tree = json::parse(text.as_bytes(), &mut Issues::ignore()).unwrap();
        let copy = tree.clone();
        assert!(copy == tree);
        let mut again = Vec::new();
        json::encode_value(&tree, &mut again);
        assert_eq!(again, text.as_bytes());
        assert_eq!(serde_json::to_string(&tree).unwrap(), text);
        let mut lines = Vec::new();
        json::pretty(text.as_bytes(), &mut lines);
        let mut block = Vec::new();
        yaml::encode_value_as_yaml(&tree, &mut block).unwrap();
        let mut binary = Vec::new();
        cbor::encode_value(&tree, &mut binary);
    });
}

#[test]
fn every_format_decodes_bodies_at_depth_limit() {
    let parse = |text: &str| json::parse(text.as_bytes(), &mut Issues::collect());
    assert!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().to_string().ends_with("exceeded max depth"));
    on_a_small_stack(move || {
        let text = nested(MAX_DEPTH);
        let tree = parse(&text).unwrap();
        let (mut block, mut binary) = (Vec::new(), Vec::new());
        yaml::from_json(text.as_bytes(), &mut block).unwrap();
        assert!(yaml::to_value(&block, &mut Issues::collect()).unwrap() == tree);
        cbor::encode_value(&tree, &mut binary);
        assert!(cbor::to_value(&binary).unwrap() == tree);
    });
}

#[test]
fn every_codec_accepts_structs_at_depth_limit() {
    // Each level is a schema and its union.
    let levels = (MAX_DEPTH - 1) / 2;
    let schemas = |levels| format!("{{\"schema\":{}{{}}{}}}", "{\"items\":".repeat(levels), "}".repeat(levels));
    on_a_small_stack(move || {
        let mut pod = Pod::default();
        let mut read = |text: String| json::decode(text.as_bytes(), Mut::of(&mut pod), &mut Issues::collect());
        assert!(read(schemas(levels + 1)).is_err());
        read(schemas(levels - 1)).unwrap();
        let copy = pod.clone();
        assert!(Ref::of(&copy) == Ref::of(&pod));
        let (mut text, mut binary, mut again) = (Vec::new(), Vec::new(), Vec::new());
        json::encode(Ref::of(&pod), &mut text);
        protobuf::encode(Ref::of(&pod), &mut binary);
        protobuf::to_json(Pod::def(), &binary, &mut again).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), String::from_utf8(again).unwrap());
        protobuf::decode_body(&binary, Mut::of(&mut Pod::default())).unwrap();
        let tree: Value = json::to_value(Ref::of(&pod));
        json::from_value(&tree, Mut::of(&mut Pod::default()), &mut Issues::collect()).unwrap();
        yaml::encode(Ref::of(&pod), &mut Vec::new()).unwrap();
    });
}

#[test]
fn indentation_of_text_is_bounded() {
    let wide =
        |depth: usize, items: usize| format!("{}{}1{}", "[".repeat(depth), "1,".repeat(items), "]".repeat(depth));
    let (deep, shallow) = (wide(250, 100_000), wide(4, 100_000));
    let pretty = |text: &str| {
        let mut out = Vec::new();
        json::pretty(text.as_bytes(), &mut out);
        out
    };
    assert_eq!(pretty(&deep), deep.as_bytes());
    assert_eq!(pretty(&shallow).iter().filter(|byte| **byte == b'\n').count(), 100_008);
    let mut block = Vec::new();
    yaml::from_json(deep.as_bytes(), &mut block).unwrap();
    assert_eq!(block, [deep.as_bytes(), b"\n"].concat());
}

#[test]
fn rejects_document_of_empty_structs_before_allocation() {
    let ports = "{\"deep\":{}},".repeat(250_000);
    let text = format!("{{\"spec\":{{\"ports\":[{}]}}}}", ports.trim_end_matches(','));
    let mut pod = Pod::default();
    let refused = json::decode(text.as_bytes(), Mut::of(&mut pod), &mut Issues::collect()).unwrap_err();
    assert!(matches!(refused, json::Error::TooLarge(_)), "{refused}");
    // The field `ports` of `spec`, with empty messages.
    let items = [0x2a, 0].repeat(3_000_000);
    let mut body = vec![0x12];
    let mut length = items.len();
    while length >= 0x80 {
        body.push(length as u8 | 0x80);
        length >>= 7;
    }
    body.push(length as u8);
    body.extend(items);
    let refused = protobuf::decode_body(&body, Mut::of(&mut pod)).unwrap_err();
    assert!(matches!(refused, protobuf::Error::TooLarge(_)), "{refused}");
}

#[test]
fn issues_with_long_paths_are_bounded() {
    let key = "k".repeat(1 << 20);
    let text = format!("{{\"spec\":{{\"named\":{{\"{key}\":{{{}\"b\":1}}}}}}}}", "\"a\":1,".repeat(100_000));
    let mut issues = Issues::collect();
    json::decode(text.as_bytes(), Mut::of(&mut Pod::default()), &mut issues).unwrap();
    assert_eq!(issues.iter().count(), 1);
}
