//! Tests with known encodings, and with input that must be rejected.

use super::*;
use crate::json::fixture::v1::Pod;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    hex.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn json(hex: &str) -> String {
    match to_json(&bytes(hex)) {
        Ok(json) => String::from_utf8(json).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn output_matches_upstream() {
    let cases = [
        ("null", "f6"),
        ("[true,false]", "82 f5 f4"),
        ("[0,23,24,255,256,65536,4294967296]", "87 00 17 1818 18ff 190100 1a00010000 1b0000000100000000"),
        ("[-1,-24,-25,-9223372036854775808]", "84 20 37 3818 3b7fffffffffffffff"),
        ("[1.5,65504.5,1.1,5.960464477539063e-8,-0.5]", "85 f93e00 fa477fe080 fb3ff199999999999a f90001 f9b800"),
        (r#"{"bb":"é","a":{},"ab":[]}"#, "a3 4161 a0 426162 80 426262 42c3a9"),
    ];
    for (text, expect) in cases {
        let mut out = Vec::new();
        from_json(text.as_bytes(), &mut out).unwrap();
        assert_eq!(out, [&MAGIC[..], &bytes(expect)].concat(), "{text}");
        let mut again = Vec::new();
        crate::json::encode_value(&parse(text.as_bytes(), &mut Issues::ignore()).unwrap(), &mut again);
        assert_eq!(to_json(&out).unwrap(), again);
    }
}

#[test]
fn reads_other_forms() {
    let cases = [
        ("9f 01 7f 6161 6162 ff 5f 4163 ff ff", r#"[1,"ab","c"]"#),
        ("bf 6161 01 ff", r#"{"a":1}"#),
        ("d6 42 fbff", r#""+/8=""#),
        ("d5 42 fbff", r#""-_8""#),
        ("d7 42 fbff", r#""fbff""#),
        ("c0 74 323032302d30312d30315430303a30303a30305a", r#""2020-01-01T00:00:00Z""#),
        ("fa 3fc00000", "1.5"),
    ];
    for (hex, expect) in cases {
        assert_eq!(json(hex), expect, "{hex}");
    }
}

#[test]
fn rejects_values_that_json_cannot_represent() {
    let cases = [
        ("", "unexpected EOF"),
        ("a2 6161 01 6161 02", "cbor: found duplicate map key \"a\""),
        ("a1 01 02", "cbor: cannot unmarshal a map key that is not a string into Go value of type string"),
        ("f7", "cbor: simple value 23 is not recognized"),
        ("f97e00", "cbor: floating-point NaN or infinity"),
        ("c2 4101", "cbor: cannot unmarshal bignum into Go value of type interface {}"),
        ("61ff", "cbor: invalid UTF-8 string"),
        ("01 02", "cbor: 1 bytes of extraneous data starting at index 1"),
        ("ff", "cbor: unexpected \"break\" code"),
        ("1c", "cbor: invalid additional information 28 for type 0"),
        ("5bffffffffffffffff", "unexpected EOF"),
        ("9bffffffffffffffff", "unexpected EOF"),
    ];
    for (hex, expect) in cases {
        assert_eq!(json(hex), expect, "{hex}");
    }
    assert!(to_json(&vec![0x81; 100_000]).is_err());
}

#[test]
fn carries_objects() {
    let mut pod = Pod::default();
    let text =
        br#"{"metadata":{"name":"a"},"spec":{"replicas":0,"ports":[{"port":1,"targetPort":"x"}],"data":{"a":"AAE="}}}"#;
    crate::json::decode(text, Mut::of(&mut pod), &mut Issues::ignore()).unwrap();
    let mut out = Vec::new();
    encode_object("v1", "Pod", Ref::of(&pod), &mut out);
    let mut back = Pod::default();
    let mut issues = Issues::collect();
    decode(&out, Mut::of(&mut back), &mut issues).unwrap();
    assert_eq!(back.type_meta.kind, "Pod");
    assert!(issues.is_empty());
    back.type_meta = Default::default();
    assert_eq!(back, pod);
}
