mod choices;
mod entries;
mod items;
mod notes;
mod plans;
mod ways;

use std::collections::BTreeMap;

use super::*;
use crate::def::{FieldInfo, Flags};
use crate::describe;
use crate::format::field;
use crate::hooks::WriteContext;
use crate::reflect::Struct;
use crate::scalar::{IntOrString, Quantity};
use crate::validate::{Half, ValidationScope, Validator};

const OMIT: Flags = Flags::OMIT_EMPTY;

fn errors_of<T: Struct>(new: &T, old: Option<&T>, subresource: &str) -> Vec<String> {
    let context = WriteContext { subresource: subresource.into(), ..WriteContext::default() };
    let validator = Validator { scope: ValidationScope::Tagged, half: Half::Both, context: &context, rules: None };
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
    check_when(
        &["mode"],
        &[Condition::Is(&["kind"], &["A"])],
        &[Assertion::Required("for A"), Assertion::OneOf(&["x"])],
    ),
    check_when(&["mode"], &[Condition::Not(&Condition::Is(&["kind"], &["A"]))], &[Assertion::Forbidden("but for A")]),
    check(&["size"], &[Assertion::NotNegative("")]),
    check(&["ports"], &[Assertion::Filled("at least one"), Assertion::MaxItems(2, ""), Assertion::Below("")]),
    check(&["first", "number"], &[Assertion::Min(2, "too small")]),
    check(&["tags"], &[Assertion::Each(&[Assertion::MaxBytes(3, "")])]),
    check(&["labels"], &[Assertion::Keys(&[Assertion::Name(NameRule::Dns1123Label)]), Assertion::Unchanged("stays")]),
    check_when(
        &[],
        &[Condition::Set(&["first"]), Condition::Unset(&["tags"])],
        &[Assertion::Missing("tags with first")],
    ),
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
    check_when(&["spec"], &[Condition::Subresource("")], &[Assertion::Below("")]),
    check_when(&["status"], &[Condition::Subresource("status")], &[Assertion::Below("")]),
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
fn conditions_determine_whether_a_check_runs() {
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

#[derive(Clone, Default)]
struct Source {
    disk: Option<Box<Port>>,
    share: Option<Box<Port>>,
    note: String,
    free: bool,
}

describe! { Source, SOURCE "Source" { .checks(&[
    check(&["disk"], &[Assertion::Member("only one", &[]), Assertion::Below("")]),
    check(&["share"], &[
        Assertion::At("Share", &[Assertion::Member("only one", &[&["disk"]])]),
        Assertion::At("shared", &[Assertion::Below("strict")]),
    ]),
    check_when(
        &[],
        &[Condition::None(&[&["disk"], &["share"]])],
        &[Assertion::Missing("one of two")],
    ),
    check_when(
        &[],
        &[Condition::All(&[Condition::Many(&[&["disk"], &["share"]]), Condition::Is(&["free"], &["true"])])],
        &[Assertion::Invalid("two of two")],
    ),
    check_when(
        &["note"],
        &[Condition::Is(&["free"], &["true"])],
        &[Assertion::InvalidAs("resource", "not of a free one")],
    ),
    check(
        &["note"],
        &[Assertion::Optional, Assertion::MaxBytes(3, ""), Assertion::Valid, Assertion::Name(NameRule::Dns1123Label)],
    ),
    check_when(&["share", "name"], &[Condition::Part(&["strict"])], &[Assertion::Filled("")]),
]) } [
    disk:  "disk",  1, OMIT;
    share: "share", 2, OMIT;
    note:  "note",  3, OMIT;
    free:  "free",  4, OMIT;
] }

#[derive(Clone, Default)]
struct Item {
    name: String,
    weight: i32,
    port: IntOrString,
    by: Option<Box<Port>>,
}

describe! { Item, ITEM "Item" { .checks(&[
    check_when(&["name"], &[Condition::Several], &[Assertion::Filled("")]),
    check(&["name"], &[Assertion::Optional, Assertion::Distinct(&[], ""), Assertion::Name(NameRule::Dns1123Label)]),
    check_when(&["weight"], &[Condition::Part(&["", "strict"])], &[Assertion::Range(0, 100, "")]),
    check_when(&["weight"], &[Condition::Part(&["strict"])], &[Assertion::Max(10, "")]),
    check(&["port"], &[Assertion::Port]),
    check(&["by", "number"], &[Assertion::AtMost(&["weight"], "more than the weight")]),
]) } [
    name:   "name",   1, OMIT;
    weight: "weight", 2, OMIT;
    port:   "port",   3, OMIT;
    by:     "by",     4, OMIT;
] }

#[derive(Clone, Default)]
struct Whole {
    items: Vec<Item>,
    strict: Option<Box<Item>>,
    labels: BTreeMap<String, String>,
    class: String,
    numbers: Vec<i64>,
}

describe! { Whole, WHOLE "Whole" { .checks(&[
    check(&["items"], &[Assertion::Each(&[Assertion::Distinct(&[&["name"], &["weight"]], "")]), Assertion::Below("")]),
    check(&["items"], &[Assertion::Each(&[Assertion::Field(&["by", "number"], &[Assertion::Positive("")])])]),
    check(&["strict"], &[Assertion::Below("strict")]),
    check(&["labels"], &[Assertion::Labels, Assertion::EachKey(&[Assertion::MaxBytes(2, "")])]),
    check(&["class"], &[Assertion::At("/Class", &[Assertion::Immutable("")])]),
    check_when(
        &["class"],
        &[Condition::Was(&Condition::Set(&["class"])), Condition::Changed(&["class"])],
        &[Assertion::Invalid("was set and changes")],
    ),
    check_when(
        &["class"],
        &[Condition::Any(&[Condition::Option("picky"), Condition::Is(&["class"], &["odd"])])],
        &[Assertion::Invalid("not here")],
    ),
    check(&["numbers"], &[Assertion::Each(&[Assertion::NotNegative("")])]),
]) } [
    items:   "items",   1, OMIT;
    strict:  "strict",  2, OMIT;
    labels:  "labels",  3, OMIT;
    class:   "class",   4, OMIT;
    numbers: "numbers", 5, OMIT;
] }

fn item(name: &str) -> Item {
    Item { name: name.into(), port: IntOrString::Int(1), ..Item::default() }
}

#[test]
fn one_member_of_a_union_is_there() {
    let disk = || Some(Box::new(port(1)));
    assert_eq!(errors(&Source { disk: disk(), ..Source::default() }, None), [""; 0]);
    assert_eq!(errors(&Source::default(), None), ["<nil>: Required value: one of two"]);
    let both = Source { disk: disk(), share: disk(), ..Source::default() };
    assert_eq!(errors(&both, None), ["Share: Forbidden: only one"]);
    let free = errors(&Source { free: true, ..both }, None);
    assert!(free.iter().any(|error| error.ends_with("two of two")), "{free:?}");
}

#[test]
fn errors_show_another_text_and_end_a_check() {
    let source = Source { disk: Some(Box::new(port(1))), note: "A_".into(), free: true, ..Source::default() };
    let found = errors(&source, None);
    assert_eq!(found[0], "note: Invalid value: \"resource\": not of a free one");
    assert!(found[1].starts_with("note: Invalid value: \"A_\": a lowercase RFC 1123 label"), "{found:?}");
    let found = errors(&Source { note: "A_long".into(), ..source }, None);
    assert_eq!(found[1..], ["note: Too long: may not be more than 3 bytes"]);
}

#[test]
fn items_are_compared_with_those_before_them() {
    let whole = Whole { items: vec![item("a"), item(""), item("b"), item("a")], ..Whole::default() };
    let found = errors(&whole, None);
    assert!(found[0].starts_with("items[3]: Duplicate value: "), "{found:?}");
    assert_eq!(found[1..], ["items[1].name: Required value", "items[3].name: Duplicate value: \"a\""]);
    let one = Whole { items: vec![item("")], ..Whole::default() };
    assert_eq!(errors(&one, None), [""; 0]);
}

#[derive(Clone, Default)]
struct Lists {
    modes: Vec<String>,
}

describe! { Lists, LISTS "Lists" { .checks(&[
    check_when(&["modes"], &[Condition::Not(&Condition::Single(&["modes"]))], &[Assertion::Missing("just one")]),
    check_when(&["modes"], &[Condition::Is(&["modes"], &["odd"])], &[Assertion::Unsupported(&["even"])]),
    check(
        &["modes"],
        &[Assertion::MaxItems(2, "no more than two"), Assertion::Each(&[Assertion::MaxBytes(9, "far too long")])],
    ),
    check(&["modes"], &[Assertion::Each(&[Assertion::At("../mode", &[Assertion::MaxBytes(4, "")])])]),
]) } [
    modes: "modes", 1, OMIT;
] }

#[test]
fn lists_are_counted_and_looked_into() {
    let lists = |modes: &[&str]| Lists { modes: modes.iter().map(|mode| mode.to_string()).collect() };
    assert_eq!(errors(&lists(&["even"]), None), [""; 0]);
    assert_eq!(errors(&lists(&[]), None), ["modes: Required value: just one"]);
    let expect = [
        "modes: Required value: just one",
        "modes: Unsupported value: [\"wide open\",\"odd\"]: supported values: \"even\"",
        "mode: Too long: may not be more than 4 bytes",
    ];
    assert_eq!(errors(&lists(&["wide open", "odd"]), None), expect);
    let long = [
        "modes: Required value: just one",
        "modes: Invalid value: [\"a\",\"b\",\"0123456789\"]: no more than two",
        "modes[2]: Invalid value: \"0123456789\": far too long",
        "mode: Too long: may not be more than 4 bytes",
    ];
    assert_eq!(errors(&lists(&["a", "b", "0123456789"]), None), long);
}

#[test]
fn runs_requested_parts_of_checks() {
    let heavy = Item { weight: 101, ..item("a") };
    let whole = Whole { items: vec![heavy.clone()], strict: Some(Box::new(heavy)), ..Whole::default() };
    let expect = [
        "items[0].weight: Invalid value: 101: must be between 0 and 100, inclusive",
        "strict.weight: Invalid value: 101: must be between 0 and 100, inclusive",
        "strict.weight: Invalid value: 101: must be less than or equal to 10",
    ];
    assert_eq!(errors(&whole, None), expect);
}

#[test]
fn ports_labels_and_fields_of_items_are_looked_at() {
    let named = Item { port: IntOrString::String("a--b".into()), by: Some(Box::new(port(0))), ..item("a") };
    let numbered = Item { port: IntOrString::Int(0), ..item("b") };
    let heavy = Item { weight: 1, by: Some(Box::new(port(2))), ..item("c") };
    let labels = BTreeMap::from([("a b".to_string(), "c d".to_string())]);
    let whole = Whole { items: vec![named, numbered, heavy], labels, numbers: vec![1, -1], ..Whole::default() };
    let begins = [
        "items[0].port: Invalid value: \"a--b\": must not contain consecutive hyphens",
        "items[1].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        "items[2].by.number: Invalid value: 2: more than the weight",
        "items[0].by.number: Invalid value: 0: must be greater than zero",
        "labels: Invalid value: \"a b\": ",
        "labels: Invalid value: \"c d\": ",
        "labels[a b]: Too long: may not be more than 2 bytes",
        "numbers[1]: Invalid value: -1: must be greater than or equal to 0",
    ];
    let found = errors(&whole, None);
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(found, begin)| assert!(found.starts_with(begin), "{found}"));
}

#[test]
fn conditions_look_at_what_is_stored_and_at_options() {
    let (old, new) = (Whole { class: "a".into(), ..Whole::default() }, Whole { class: "b".into(), ..Whole::default() });
    let expect =
        ["Class: Invalid value: \"b\": field is immutable", "class: Invalid value: \"b\": was set and changes"];
    assert_eq!(errors(&new, Some(&old)), expect);
    assert_eq!(errors(&new, None), [""; 0]);
    assert_eq!(errors(&new, Some(&Whole::default())), ["Class: Invalid value: \"b\": field is immutable"]);
    let odd = Whole { class: "odd".into(), ..Whole::default() };
    assert_eq!(errors(&odd, None), ["class: Invalid value: \"odd\": not here"]);
    let (context, mut errors) = (WriteContext::default(), Vec::new());
    let mut v = Validation::new(&context, &mut errors);
    v.set_option("picky", true);
    v.checks(&Path::NONE, Ref::of(&new), None);
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[derive(Clone, Default)]
struct Kept {
    names: Vec<String>,
    ports: Vec<Port>,
    name: String,
}

describe! { Kept, KEPT "Kept" { .checks(&[
    check(&["names"], &[Assertion::Each(&[Assertion::Ratchet, Assertion::MaxBytes(1, "")])]),
    check(
        &["ports"],
        &[Assertion::Each(&[Assertion::Field(&["name"], &[Assertion::Ratchet, Assertion::MaxBytes(1, "")])])],
    ),
    check(&["name"], &[Assertion::Ratchet, Assertion::MaxBytes(1, "")]),
]) } [
    names: "names", 1, OMIT;
    ports: "ports", 2, OMIT;
    name:  "name",  3, OMIT;
] }

#[test]
fn what_is_stored_stays_valid() {
    let kept = |names: &[&str], name: &str| Kept {
        names: names.iter().map(|name| name.to_string()).collect(),
        ports: names.iter().map(|name| Port { name: name.to_string(), number: 1 }).collect(),
        name: name.into(),
    };
    let found = errors(&kept(&["old", "new"], "old"), Some(&kept(&["a", "old"], "old")));
    let detail = "Too long: may not be more than 1 byte";
    assert_eq!(found, [format!("names[1]: {detail}"), format!("ports[1].name: {detail}")]);
    assert_eq!(errors(&kept(&["old"], "old"), None).len(), 3);
    assert_eq!(errors(&kept(&[], "old"), Some(&kept(&["old"], "new"))), [format!("name: {detail}")]);
}
