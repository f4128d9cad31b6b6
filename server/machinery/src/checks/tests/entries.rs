use super::*;
use crate::scalar::RawExtension;
use bytes::Bytes;

#[derive(Clone, Default)]
struct Shelf {
    tags: Vec<String>,
    raw: RawExtension,
    named: BTreeMap<String, Port>,
    ports: Vec<Port>,
    kept: Vec<Port>,
}

describe! { Shelf, SHELF "Shelf" { .checks(&[
    check_when(&["tags"], &[Condition::SentEmpty(&["tags"])], &[Assertion::InvalidNull("must not be empty")]),
    check(&["raw"], &[Assertion::MaxBytes(8, ""), Assertion::Valid, Assertion::JsonObject]),
    check(&["named"], &[Assertion::ShortKeys(7, &[Assertion::Each(&[
        Assertion::Key(&[Assertion::At(".", &[Assertion::Format(field::dns1123_label)])]),
        Assertion::Below(""),
    ])])]),
    check(&["ports"], &[Assertion::Paired("name", &[Assertion::Each(&[
        Assertion::Field(&["number"], &[Assertion::Immutable("")]),
    ])])]),
    check(&["kept"], &[Assertion::Each(&[Assertion::Ratchet, Assertion::Missing("must be stored")])]),
]) } [
    tags:  "tags",  2, OMIT;
    raw:   "raw",   4, OMIT;
    named: "named", 5, OMIT;
    ports: "ports", 6, OMIT;
    kept:  "kept",  7, OMIT;
] }

fn named(name: &str, number: i32) -> Port {
    Port { name: name.into(), number }
}

/// The errors of the declared checks, with a request document.
fn errors_with(new: &Shelf, old: Option<&Shelf>, sent: &str) -> Vec<String> {
    let context = WriteContext::default();
    let sent = serde_json::from_str(sent).ok();
    context.sent.set(move || sent);
    let mut errors = Vec::new();
    let mut v = Validation::new(&context, &mut errors);
    v.checks(&Path::NONE, Ref::of(new), old.map(Ref::of));
    errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
}

#[test]
fn conditions_look_at_the_document() {
    let expect = ["tags: Invalid value: null: must not be empty"];
    assert_eq!(errors_with(&Shelf::default(), None, "{\"tags\": []}"), expect);
    assert_eq!(errors_with(&Shelf::default(), None, "{\"tags\": null}"), [""; 0]);
}

#[test]
fn raw_json_is_an_object() {
    let errors = |text: &str| {
        let raw = RawExtension::new(Bytes::copy_from_slice(text.as_bytes()));
        errors_with(&Shelf { raw, ..Shelf::default() }, None, "{}")
    };
    assert_eq!(errors(""), [""; 0]);
    assert_eq!(errors("{}"), [""; 0]);
    assert_eq!(errors("{\"a\": 100}"), ["raw: Too long: may not be more than 8 bytes"]);
    assert_eq!(errors("[]"), ["raw: Invalid value: \"<value omitted>\": must be a valid JSON object"]);
    assert_eq!(errors("null"), ["raw: Required value"]);
    assert!(errors("{")[0].starts_with("raw: Invalid value: \"<value omitted>\": error parsing data as JSON: "));
}

#[test]
fn entries_have_keys_that_are_shown_in_short() {
    let entries = [("a", named("a", 0)), ("Abcdefgh", named("a", 0))].map(|(key, port)| (key.to_string(), port));
    let found = errors_with(&Shelf { named: BTreeMap::from(entries), ..Shelf::default() }, None, "{}");
    let begins = [
        "named: Invalid value: \"Abcdefgh\": a lowercase RFC 1123 label",
        "named[Ab...gh].number: Invalid value: 0: must be greater than zero",
        "named[a].number: Invalid value: 0: must be greater than zero",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(begin), "{found}"));
}

#[test]
fn items_are_compared_with_stored_ones_of_the_same_name() {
    let old = Shelf { ports: vec![named("a", 1), named("b", 2), named("b", 3)], ..Shelf::default() };
    let new = Shelf { ports: vec![named("b", 2), named("c", 3), named("a", 4)], ..Shelf::default() };
    let expect = ["ports[2].number: Invalid value: 4: field is immutable"];
    assert_eq!(errors_with(&new, Some(&old), "{}"), expect);
}

#[test]
fn structs_are_looked_for_among_stored_ones() {
    let old = Shelf { kept: vec![named("a", 1), named("b", 2)], ..Shelf::default() };
    let new = Shelf { kept: vec![named("b", 2), named("a", 2)], ..Shelf::default() };
    assert_eq!(errors_with(&new, Some(&old), "{}"), ["kept[1]: Required value: must be stored"]);
}
