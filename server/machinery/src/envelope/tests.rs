use super::*;
use crate::protobuf::tests::golden::secret;
use crate::protobuf::tests::types::{ListMeta, Secret};
use crate::protobuf::tests::{assert_bytes, encoded, unhex};

// Written by upstream's protobuf serializer for the same objects.
const HEAD: &str = "6b3873000a0c0a027631120653656372657412 9001";
const LIST_HEAD: &str = "6b3873000a100a027631120a5365637265744c69737412b5010a0a0a00120231321a002003";

#[test]
fn encoded_object_matches_upstream() {
    let raw = encoded(&secret());
    let expect = [&unhex(HEAD), &raw, &TAIL[..]].concat();
    let mut out = Vec::new();
    encode_object("v1", "Secret", Ref::of(&secret()), &mut out);
    assert_bytes(&out, &expect);
    out.clear();
    encode_raw("v1", "Secret", &raw, &mut out);
    assert_bytes(&out, &expect);

    let envelope = split(&out).unwrap();
    assert_eq!((envelope.api_version, envelope.kind, envelope.raw), ("v1", "Secret", &raw[..]));
    assert_eq!(envelope.raw.as_ptr(), out[out.len() - 4 - raw.len()..].as_ptr(), "no copy");
}

#[test]
fn a_list_is_written_from_its_parts() {
    let meta = ListMeta { resource_version: "12".into(), remaining_item_count: Some(3), ..Default::default() };
    let items = [encoded(&secret()), encoded(&Secret::default())];
    let mut out = Vec::new();
    let len = items.iter().map(|i| item_len(i.len())).sum();
    list_head("v1", "SecretList", Ref::of(&meta), len, &mut out);
    assert_bytes(&out, &unhex(LIST_HEAD));
    for item in &items {
        item_head(item.len(), &mut out);
        out.extend_from_slice(item);
    }
    out.extend_from_slice(&TAIL);
    let end = "12140a100a0012001a0022002a003200380042001a00 1a002200";
    assert_bytes(&out, &[unhex(LIST_HEAD), unhex("129001"), items[0].clone(), unhex(end)].concat());
}

#[test]
fn a_watch_event_begins_with_the_length_of_its_frame() {
    let mut out = Vec::new();
    watch_head("ADDED", 3, &mut out);
    assert_bytes(&out, &unhex("0000000e 0a05414444454412050a03"));
}

#[test]
fn rejects_malformed_envelopes_with_upstreams_messages() {
    let check = |bytes: &[u8], expect: &str| assert_eq!(split(bytes).unwrap_err().to_string(), expect);
    check(b"", "empty data");
    check(b"k8s\0", "empty body");
    check(b"{}", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
    check(b"k8s\0\x12\x05a", "unexpected EOF");
    check(b"k8s\0\x10\x05", "proto: wrong wireType = 0 for field Raw");
    check(b"k8s\0\x0a\x02\x08\x01", "proto: wrong wireType = 0 for field APIVersion");
    let unknown = [&MAGIC[..], &unhex("280112 0161")].concat();
    assert_eq!(split(&unknown).unwrap().raw, b"a");
}
