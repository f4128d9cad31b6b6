use std::collections::BTreeMap;

use super::*;
use crate::def::{FieldInfo, Flags};
use crate::describe;
use crate::format::field;
use crate::hooks::Context;
use crate::reflect::Struct;
use crate::validate::{Half, Scope, Validator};

const OMIT: Flags = Flags::OMIT_EMPTY;

fn errors_of<T: Struct>(new: &T, old: Option<&T>, subresource: &str) -> Vec<String> {
    let context = Context { subresource: subresource.into(), ..Context::default() };
    let validator = Validator { scope: Scope::Tagged, half: Half::Both, context: &context, rules: None };
    let mut errors = Vec::new();
    validator.validate(Ref::of(new), old.map(Ref::of), &Path::NONE, &mut errors);
    errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
}

fn errors<T: Struct>(new: &T, old: Option<&T>) -> Vec<String> {
    errors_of(new, old, "")
}

const fn check(field: &'static [&'static str], assertions: &'static [Assertion]) -> CheckDef {
    CheckDef { field, when: &[], assertions }
}

const fn check_when(
    field: &'static [&'static str],
    when: &'static [Condition],
    assertions: &'static [Assertion],
) -> CheckDef {
    CheckDef { field, when, assertions }
}

#[derive(Clone, Default)]
struct Port {
    name: String,
    number: i32,
}

describe! { Port, PORT "Port" { .checks(&[
    check(&["number"], &[Assertion::Positive(""), Assertion::Max(65535, "")]),
    check(&["name"], &[Assertion::Optional, Assertion::Format(field::dns1123_label)]),
]) } [
    name:   "name",   1, OMIT;
    number: "number", 2, OMIT;
] }

#[derive(Clone, Default)]
struct Spec {
    kind: String,
    mode: Option<String>,
    size: Option<Quantity>,
    ports: Vec<Port>,
    first: Option<Box<Port>>,
    tags: Vec<String>,
    labels: BTreeMap<String, String>,
    class: String,
}

describe! { Spec, SPEC "Spec" { .checks(&[
    check(&["class"], &[Assertion::Immutable("")]),
    check(&["kind"], &[Assertion::Required(""), Assertion::OneOf(&["B", "A"])]),
    check_when(&["mode"], &[Condition::Is(&["kind"], &["A"])], &[Assertion::Required("for A"), Assertion::OneOf(&["x"])]),
    check_when(&["mode"], &[Condition::IsNot(&["kind"], &["A"])], &[Assertion::Forbidden("but for A")]),
    check(&["size"], &[Assertion::NotNegative("")]),
    check(&["ports"], &[Assertion::Filled("at least one"), Assertion::MaxItems(2), Assertion::Below]),
    check(&["first", "number"], &[Assertion::Min(2, "too small")]),
    check(&["tags"], &[Assertion::Each(&[Assertion::MaxBytes(3)])]),
    check(&["labels"], &[Assertion::Keys(&[Assertion::Name(NameRule::Dns1123Label)]), Assertion::Unchanged("stays")]),
    check_when(&[], &[Condition::Set(&["first"]), Condition::Unset(&["tags"])], &[Assertion::Missing("tags with first")]),
]) } [
    kind:   "kind",   1, OMIT, &FieldInfo { go_type: "Kind", ..FieldInfo::PLAIN };
    mode:   "mode",   2, OMIT;
    size:   "size",   3, OMIT;
    ports:  "ports",  4, OMIT;
    first:  "first",  5, OMIT;
    tags:   "tags",   6, OMIT;
    labels: "labels", 7, OMIT;
    class:  "class",  8, OMIT;
] }

#[derive(Clone, Default)]
struct Thing {
    spec: Spec,
    status: Port,
}

describe! { Thing, THING "Thing" { .checks(&[
    check_when(&["spec"], &[Condition::Subresource("")], &[Assertion::Below]),
    check_when(&["status"], &[Condition::Subresource("status")], &[Assertion::Below]),
    check_when(&["spec", "class"], &[Condition::Update], &[Assertion::Filled("on updates")]),
]) } [
    spec:   "spec",   1, OMIT;
    status: "status", 2, OMIT;
] }

fn port(number: i32) -> Port {
    Port { number, ..Port::default() }
}

fn fine() -> Thing {
    let spec = Spec { kind: "B".into(), ports: vec![port(1)], class: "c".into(), ..Spec::default() };
    Thing { spec, ..Thing::default() }
}

#[test]
fn checks_are_made_in_their_order_and_below_where_they_say_so() {
    assert_eq!(errors(&fine(), None), [""; 0]);
    let mut bad = fine();
    bad.spec.kind = "C".into();
    bad.spec.size = Some("-1".parse().unwrap());
    bad.spec.ports = vec![port(0), Port { name: "A".into(), number: 70_000 }];
    bad.spec.tags = vec!["abc".into(), "abcd".into()];
    bad.spec.labels = BTreeMap::from([("A_".into(), String::new())]);
    let found = errors(&bad, None);
    let begins = [
        "spec.kind: Unsupported value: \"C\": supported values: \"B\", \"A\"",
        "spec.size: Invalid value: \"-1\": must be greater than or equal to 0",
        "spec.ports[0].number: Invalid value: 0: must be greater than zero",
        "spec.ports[1].number: Invalid value: 70000: must be less than or equal to 65535",
        "spec.ports[1].name: Invalid value: \"A\": a lowercase RFC 1123 label",
        "spec.tags[1]: Too long: may not be more than 3 bytes",
        "spec.labels: Invalid value: \"A_\": a lowercase RFC 1123 label",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(begin), "{found}"));
}

#[test]
fn an_empty_field_ends_its_check_where_it_is_required_and_not_where_it_is_to_be_filled() {
    let mut empty = fine();
    empty.spec.kind.clear();
    empty.spec.ports.clear();
    assert_eq!(errors(&empty, None), ["spec.kind: Required value", "spec.ports: Required value: at least one"]);
    empty.spec.kind = "B".into();
    empty.spec.ports = vec![port(1), port(1), port(1)];
    assert_eq!(errors(&empty, None), ["spec.ports: Too many: 3: must have at most 2 items"]);
}

#[test]
fn conditions_tell_when_a_check_is_made() {
    let mut thing = fine();
    thing.spec.mode = Some(String::new());
    assert_eq!(errors(&thing, None), ["spec.mode: Forbidden: but for A"]);
    thing.spec.kind = "A".into();
    assert_eq!(errors(&thing, None), ["spec.mode: Unsupported value: \"\": supported values: \"x\""]);
    thing.spec.mode = None;
    assert_eq!(errors(&thing, None), ["spec.mode: Required value: for A"]);
    thing.spec.mode = Some("x".into());
    assert_eq!(errors(&thing, None), [""; 0]);
    thing.status.number = -1;
    assert_eq!(errors(&thing, None), [""; 0]);
    assert_eq!(errors_of(&thing, None, "status"), ["status.number: Invalid value: -1: must be greater than zero"]);
}

#[test]
fn a_struct_that_is_not_there_is_not_entered() {
    let mut thing = fine();
    thing.spec.first = Some(Box::new(port(1)));
    let expect = ["spec.first.number: Invalid value: 1: too small", "spec: Required value: tags with first"];
    assert_eq!(errors(&thing, None), expect);
    thing.spec.tags = vec!["a".into()];
    thing.spec.first = Some(Box::new(port(2)));
    assert_eq!(errors(&thing, None), [""; 0]);
}

#[test]
fn updates_are_compared_with_what_is_stored() {
    let old = fine();
    let mut new = fine();
    assert_eq!(errors(&new, Some(&old)), [""; 0]);
    new.spec.class.clear();
    new.spec.labels.insert("a".into(), "b".into());
    let expect = [
        "spec.class: Invalid value: \"\": field is immutable",
        "spec.labels: Forbidden: stays",
        "spec.class: Required value: on updates",
    ];
    assert_eq!(errors(&new, Some(&old)), expect);
}
