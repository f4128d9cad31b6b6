//! Fuzz tests of the codecs with malformed input: no panics, and accepted input round-trips.

use super::fixture::v1::Pod;
use super::{Issues, Value, decode, encode, encode_value, is_valid, parse, syntax_error};
use crate::reflect::{Mut, Ref};
use crate::{cbor, yaml};

const DOCUMENTS: &[&str] = &[
    r#"{"metadata":{"name":"a\u00e9\n","labels":{"a":"b"}},"spec":{"ports":[{"port":1,"targetPort":"x"}],"limits":{"cpu":"1"}}}"#,
    r#"{"spec":{"data":{"a":"AAE="},"micro":"2020-01-02T03:04:05.000006Z","raw":{"a":[1,2.5e3,null,true]},"extra":{"a":["x"]}}}"#,
    "{\"schema\":{\"items\":[{\"type\":\"a\"}],\"additionalProperties\":false,\"dependencies\":{\"a\":[\"b\"]}}}",
    "metadata: {name: &a x}\nspec:\n  args:\n  - *a\n  - |\n    b\n   \n  - >-\n    c\n    d\n  - 'e'\n  named:\n    ? k\n    : {port: 010, <<: {}}\n",
    "# c\n---\n- ! x\n- !!int '1'\n- \"\\x41\"\n- [a, {b: c}]\n...\n",
    "\u{1}\u{85}\u{feff}\u{2028}😀",
];

/// A random number generator of the xorshift family: every run has the same inputs.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// A part of a document with a few changed bytes.
    fn document(&mut self, of: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = of[self.below(of.len())].clone();
        bytes.truncate(1 + self.below(bytes.len() + bytes.len() / 2));
        for _ in 0..self.below(4) {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 => bytes[at] = b"{}[]:,\"'\\-|>&*!#%@ \n\t0a\xff\xc3"[self.below(25)],
                1 => bytes[at] = self.below(256) as u8,
                _ => bytes.insert(at, bytes[self.below(bytes.len())]),
            }
        }
        bytes
    }
}

#[test]
fn survives_any_bytes() {
    let mut sources: Vec<Vec<u8>> = DOCUMENTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    for text in &DOCUMENTS[..3] {
        let mut out = Vec::new();
        cbor::from_json(text.as_bytes(), &mut out).unwrap();
        sources.push(out);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let document = random.document(&sources);
        accepts_what_it_writes(&document);
        let _ = yaml::to_json(&document, &mut Issues::collect()).map(|json| assert!(is_valid(&json)));
        let _ = cbor::to_json(&document).map(|json| assert!(is_valid(&json)));
        let _ = cbor::decode(&document, Mut::of(&mut Pod::default()), &mut Issues::collect());
    }
}

fn accepts_what_it_writes(document: &[u8]) {
    assert_eq!(is_valid(document), syntax_error(document).is_none());
    let mut pod = Pod::default();
    if decode(document, Mut::of(&mut pod), &mut Issues::collect()).is_ok() {
        let mut text = Vec::new();
        encode(Ref::of(&pod), &mut text);
        let mut again = Pod::default();
        decode(&text, Mut::of(&mut again), &mut Issues::ignore()).unwrap();
        let mut text_again = Vec::new();
        encode(Ref::of(&again), &mut text_again);
        assert_eq!(String::from_utf8_lossy(&text), String::from_utf8_lossy(&text_again));
    }
    if let Ok(tree) = parse(document, &mut Issues::collect()) {
        round_trips(&tree);
    }
}

fn round_trips(tree: &Value) {
    let mut text = Vec::new();
    encode_value(tree, &mut text);
    assert!(parse(&text, &mut Issues::ignore()).is_ok());
    let mut lines = Vec::new();
    if yaml::encode_value_as_yaml(tree, &mut lines).is_ok() {
        let _ = yaml::to_json(&lines, &mut Issues::ignore());
    }
}
