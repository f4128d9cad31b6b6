use std::collections::BTreeMap;

use super::*;
use crate::def::{Constraint, FieldInfo, Flags, UnionDef};
use crate::describe;
use crate::format::field::DeclaredFormat;
use crate::reflect::Struct;
use crate::request_document::RequestDocument;
use crate::scalar::Quantity;

const OMIT: Flags = Flags::OMIT_EMPTY;

/// A [`FieldInfo`] with only constraints.
macro_rules! check {
    ($($constraint:expr),*) => { &FieldInfo { constraints: &[$($constraint),*], ..FieldInfo::PLAIN } };
}

use Constraint::{Immutable, Max, MaxBytes, MaxItems, MaxLength, Min, MinItems, MinLength, Pattern, Required, Tag};

fn errors_with<T: Struct>(validator: &Validator<'_>, new: &T, old: Option<&T>) -> Vec<String> {
    let mut errors = Vec::new();
    validator.validate(Ref::of(new), old.map(Ref::of), &Path::NONE, &mut errors);
    errors.iter().map(|e| format!("{}: {}", e.field, e.body())).collect()
}

fn errors<T: Struct>(new: &T, old: Option<&T>) -> Vec<String> {
    errors_with(
        &Validator { scope: ValidationScope::Tagged, half: Half::Both, context: &WriteContext::default(), rules: None },
        new,
        old,
    )
}

#[derive(Clone, Default)]
struct Bounds {
    number: i32,
    opt: Option<i64>,
    text: String,
    bytes: Option<String>,
    pattern: String,
    list: Vec<String>,
    required: Option<i32>,
    name: String,
    ports: Vec<i32>,
}

describe! { Bounds, BOUNDS "Bounds" {} [
    number:   "number",   1, OMIT, check!(Max(10), Min(-1));
    opt:      "opt",      2, OMIT, check!(Min(1));
    text:     "text",     3, OMIT, check!(MinLength(1), MaxLength(3));
    bytes:    "bytes",    4, OMIT, check!(MaxBytes(3));
    pattern:  "pattern",  5, OMIT, check!(Pattern("^a*$"));
    list:     "list",     6, OMIT, check!(MaxItems(2), MinItems(1), MaxLength(1), Constraint::Unique);
    required: "required", 7, OMIT, check!(Required);
    name:     "name",     8, OMIT, check!(Constraint::Format(DeclaredFormat::PathSegmentName), Tag("k8s:format=k8s-short-name"));
    ports:    "ports",    9, OMIT, check!(Min(1));
] }

fn fine() -> Bounds {
    let list = vec!["a".into()];
    Bounds { text: "ééé".into(), list, required: Some(0), name: "n".into(), ..Default::default() }
}

#[test]
fn bounds_and_formats() {
    assert_eq!(errors(&fine(), None), [""; 0]);
    let bad = Bounds {
        number: 11,
        opt: Some(0),
        text: "abcd".into(),
        bytes: Some("éé".into()),
        pattern: "b".into(),
        list: vec![],
        required: None,
        name: "A/b".into(),
        ports: vec![80, 0],
    };
    let label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
                 an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    let expect = [
        "number: Invalid value: 11: must be less than or equal to 10",
        "opt: Invalid value: 0: must be greater than or equal to 1",
        "text: Too long: may not be more than 3 characters",
        "bytes: Too long: may not be more than 3 bytes",
        "pattern: Invalid value: \"b\": must match the regex ^a*$",
        "list: Too few: 0: must have at least 1 item",
        "required: Required value",
        "name: Invalid value: \"A/b\": may not contain '/'",
        &format!("name: Invalid value: \"A/b\": {label}"),
        "ports[1]: Invalid value: 0: must be greater than or equal to 1",
    ];
    assert_eq!(errors(&bad, None), expect);
}

#[test]
fn items_are_checked_one_by_one_unless_there_are_too_many() {
    let list = |items: &[&str]| Bounds { list: items.iter().map(|i| i.to_string()).collect(), ..fine() };
    assert_eq!(errors(&list(&["a", "bc"]), None), ["list[1]: Too long: may not be more than 1 character"]);
    assert_eq!(errors(&list(&["a", "a"]), None), ["list[1]: Duplicate value: \"a\""]);
    assert_eq!(errors(&list(&["abc", "abc", "abc"]), None), ["list: Too many: 3: must have at most 2 items"]);
}

#[test]
fn unchanged_values_are_not_validated() {
    let old = Bounds { number: 11, list: vec![], required: None, ..fine() };
    let new = Bounds { number: 11, opt: Some(0), ..old.clone() };
    assert_eq!(errors(&new, Some(&old)), ["opt: Invalid value: 0: must be greater than or equal to 1"]);
}

#[derive(Clone, Default)]
struct Item {
    name: String,
    size: i32,
    fixed: String,
}

describe! { Item, ITEM "Item" {} [
    name:  "name",  1, OMIT, check!(Tag("k8s:required"));
    size:  "size",  2, OMIT, check!(Min(1));
    fixed: "fixed", 3, OMIT, check!(Immutable);
] }

#[derive(Clone, Default)]
struct Nested {
    keyed: Vec<Item>,
    atomic: Vec<Item>,
    map: BTreeMap<String, Item>,
    opt: Option<Box<Item>>,
    again: Option<Box<Nested>>,
}

describe! { Nested, NESTED "Nested" {} [
    keyed:  "keyed",  1, OMIT, &FieldInfo {
        list: ListType::Map(&["name"]),
        constraints: &[Tag("k8s:listType=map"), Tag("k8s:listMapKey=name")],
        ..FieldInfo::PLAIN
    };
    atomic: "atomic", 2, OMIT;
    map:    "map",    3, OMIT;
    opt:    "opt",    4, OMIT;
    again:  "again",  5, Flags::NONE;
] }

fn item(name: &str, size: i32, fixed: &str) -> Item {
    Item { name: name.into(), size, fixed: fixed.into() }
}

#[test]
fn nested_structs_are_matched_by_key() {
    let old = Nested {
        keyed: vec![item("a", 0, "x"), item("b", 1, "")],
        atomic: vec![item("a", 0, "")],
        map: [("k".into(), item("a", 0, ""))].into(),
        opt: Some(Box::new(item("", 1, ""))),
        ..Default::default()
    };
    let at_least = "must be greater than or equal to 1";
    assert_eq!(
        errors(&Nested { again: Some(Box::new(old.clone())), ..old.clone() }, None),
        ["", "again."]
            .into_iter()
            .flat_map(|at| {
                [
                    format!("{at}keyed[0].size: Invalid value: 0: {at_least}"),
                    format!("{at}atomic[0].size: Invalid value: 0: {at_least}"),
                    format!("{at}map[k].size: Invalid value: 0: {at_least}"),
                    format!("{at}opt.name: Required value"),
                ]
            })
            .collect::<Vec<_>>()
    );

    let mut new = old.clone();
    new.keyed = vec![item("c", 1, ""), item("b", 1, "y"), item("a", 0, "x")];
    new.atomic.push(item("b", 1, ""));
    new.map.insert("l".into(), item("b", 0, ""));
    assert_eq!(
        errors(&new, Some(&old)),
        [
            // Upstream's quirk: a value without an old form is immutable, too.
            "keyed[0].fixed: Invalid value: null: field is immutable".to_owned(),
            "keyed[1].fixed: Invalid value: null: field is immutable".to_owned(),
            format!("atomic[0].size: Invalid value: 0: {at_least}"),
            "atomic[0].fixed: Invalid value: null: field is immutable".to_owned(),
            "atomic[1].fixed: Invalid value: null: field is immutable".to_owned(),
            format!("map[l].size: Invalid value: 0: {at_least}"),
            "map[l].fixed: Invalid value: null: field is immutable".to_owned(),
        ]
    );
}

#[test]
fn keys_are_unique() {
    let keyed = vec![item("a", 1, ""), item("b", 1, ""), item("a", 2, ""), item("a", 1, "")];
    assert_eq!(
        errors(&Nested { keyed, ..Default::default() }, None),
        [r#"keyed[2]: Duplicate value: {"name":"a","size":2}"#, r#"keyed[3]: Duplicate value: {"name":"a","size":1}"#,]
    );
}

#[derive(Clone, Default)]
struct Gated {
    forbidden: Option<i32>,
    allowed: Option<i32>,
    defaulted: Option<String>,
    kind: String,
    once: Option<i32>,
    amount: Quantity,
    keys: BTreeMap<String, String>,
    meta: Item,
    alpha: i32,
}

describe! { Gated, GATED "Gated" {} [
    forbidden: "forbidden", 1, OMIT, check!(
        Tag("k8s:ifDisabled(\"Off\")=+k8s:forbidden"), Tag("k8s:ifEnabled(\"Off\")=+k8s:required"));
    allowed:   "allowed",   2, OMIT, check!(
        Tag("k8s:ifDisabled(APIServerIdentity)=+k8s:forbidden"), Tag("k8s:ifEnabled(APIServerIdentity)=+k8s:optional"),
        Tag("k8s:ifEnabled(APIServerIdentity)=+k8s:minimum=1"),
        Tag("k8s:ifEnabled(APIServingWithRoutine)=+k8s:minimum=7"));
    defaulted: "defaulted", 3, OMIT, &FieldInfo {
        constraints: &[Tag("k8s:optional")], default: Some(crate::def::Literal::String("d")), ..FieldInfo::PLAIN
    };
    kind:      "kind",      4, OMIT, &FieldInfo {
        constraints: &[Tag("k8s:optional"), Tag("k8s:enum")], enum_values: &["B", "A"], ..FieldInfo::PLAIN
    };
    once:      "once",      5, OMIT, check!(Tag("k8s:update=NoModify,NoUnset"));
    amount:    "amount",    6, OMIT, check!(Tag("k8s:required"));
    keys:      "keys",      7, OMIT, check!(Tag("k8s:eachKey=+k8s:maxLength=2"), Tag("k8s:eachVal=+k8s:maxLength=1"));
    meta:      "meta",      8, OMIT, check!(Tag("k8s:subfield(fixed)=+k8s:maxLength=1"));
    alpha:     "alpha",     9, OMIT, check!(Tag("k8s:alpha(since: \"1.36\")=+k8s:minimum=1"));
] }

fn gated() -> Gated {
    let meta = item("m", 1, "");
    Gated { defaulted: Some("d".into()), amount: "1".parse().unwrap(), meta, ..Default::default() }
}

#[test]
fn tags() {
    assert_eq!(errors(&gated(), None), [""; 0]);
    let bad = Gated {
        forbidden: Some(1),
        allowed: Some(0),
        kind: "C".into(),
        keys: [("abc".into(), "x".into()), ("de".into(), "fg".into())].into(),
        meta: item("m", 1, "long"),
        ..Default::default()
    };
    assert_eq!(
        errors(&bad, None),
        [
            "forbidden: Forbidden",
            "allowed: Invalid value: 0: must be greater than or equal to 1",
            "defaulted: Required value",
            "kind: Unsupported value: \"C\": supported values: \"A\", \"B\"",
            "amount: Required value",
            "keys: Too long: may not be more than 2 characters",
            "keys[de]: Too long: may not be more than 1 character",
            "meta.fixed: Too long: may not be more than 1 character",
        ]
    );
    assert_eq!(unknown_tags(&GATED).count(), 0);
}

#[test]
fn restricts_updates_by_tag() {
    let [unset, one, two] = [None, Some(1), Some(2)].map(|once| Gated { once, ..gated() });
    assert_eq!(errors(&one, Some(&unset)), [""; 0]);
    assert_eq!(errors(&two, Some(&one)), ["once: Invalid value: null: field cannot be modified once set"]);
    assert_eq!(errors(&unset, Some(&one)), ["once: Invalid value: null: field cannot be cleared once set"]);
}

#[derive(Clone, Default)]
struct Choice {
    kind: String,
    a: Option<i32>,
    b: Vec<String>,
    c: Option<Box<Item>>,
    d: String,
}

const MEMBER: &FieldInfo = check!(Tag("k8s:unionMember"));
const DISCRIMINATED: UnionDef =
    UnionDef { discriminator: "kind", members: &[("A", "a"), ("B", "b")], zero_allowed: false };
const AT_MOST_ONE: UnionDef = UnionDef { discriminator: "", members: &[("", "c"), ("", "d")], zero_allowed: true };

describe! { Choice, CHOICE "Choice" { .unions(&[DISCRIMINATED, AT_MOST_ONE]) } [
    kind: "kind", 1, OMIT;
    a:    "a",    2, OMIT, MEMBER;
    b:    "b",    3, OMIT;
    c:    "c",    4, OMIT, MEMBER;
    d:    "d",    5, OMIT;
] }

#[derive(Clone, Default)]
struct OneOf {
    a: Option<i32>,
    b: Option<i32>,
}

describe! { OneOf, ONE_OF "OneOf" {} [
    a: "a", 1, OMIT, MEMBER;
    b: "b", 2, OMIT, MEMBER;
] }

#[test]
fn unions() {
    let choice = Choice {
        kind: "A".into(),
        b: vec![String::new()],
        c: Some(Box::new(item("i", 1, ""))),
        d: "d".into(),
        a: None,
    };
    assert_eq!(
        errors(&choice, None),
        [
            "a: Invalid value: \"\": must be specified when `kind` is \"A\"",
            "b: Invalid value: \"\": may only be specified when `kind` is \"B\"",
            "<nil>: Invalid value: \"{c, d}\": must specify at most one of: `c`, `d`",
        ]
    );
    let renamed = Choice { d: "e".into(), ..choice.clone() };
    assert_eq!(errors(&renamed, Some(&choice)), [""; 0], "the same members are set");

    assert_eq!(errors(&OneOf::default(), None), ["<nil>: Invalid value: \"\": must specify one of: `a`, `b`"]);
    let both = OneOf { a: Some(0), b: Some(0) };
    assert_eq!(errors(&both, None), ["<nil>: Invalid value: \"{a, b}\": must specify exactly one of: `a`, `b`"]);
    assert_eq!(errors(&OneOf { b: None, ..both }, None), [""; 0]);
}

#[derive(Clone, Default)]
struct Own {
    name: String,
    limit: i32,
    colour: String,
    plain: String,
}

const RULE: RuleDef = RuleDef {
    expression: "self.limit < 5",
    field: "limit",
    message: "",
    message_expression: "",
    reason: "Forbidden",
    optional_old_self: false,
};

describe! { Own, OWN "Own" { .rules(&[RULE]) } [
    name:   "name",   1, Flags::REQUIRED;
    limit:  "limit",  2, Flags::REQUIRED;
    colour: "colour", 3, OMIT, &FieldInfo { enum_values: &["red"], ..FieldInfo::PLAIN };
    plain:  "plain",  4, OMIT, check!(MinLength(2));
] }

struct Limit;

impl RuleEvaluator for Limit {
    fn evaluate(&self, new: Ref<'_>, _: Option<Ref<'_>>, report: &mut dyn FnMut(&'static RuleDef, RuleFailure)) {
        let failure = match new.by_name("limit") {
            Some(Value::I32(7)) => RuleFailure::Failed("no sevens".into()),
            Some(Value::I32(limit)) if limit >= 5 => RuleFailure::Broken("too high".into()),
            _ => return,
        };
        report(&new.def().rules[0], failure);
    }
}

#[test]
fn declared_scope_enforces_whole_declarations() {
    let context = WriteContext::default();
    let validator =
        Validator { scope: ValidationScope::Declared, half: Half::Both, context: &context, rules: Some(&Limit) };
    let own = Own { colour: "blue".into(), limit: 6, ..Default::default() };
    assert_eq!(
        errors_with(&validator, &own, None),
        [
            "name: Required value",
            "colour: Unsupported value: \"blue\": supported values: \"red\"",
            "limit: Forbidden: too high",
        ]
    );
    let own = Own { name: "n".into(), plain: "p".into(), limit: 7, ..Default::default() };
    assert_eq!(
        errors_with(&validator, &own, None),
        ["plain: Too short: must be at least 2 characters", "<nil>: Invalid value: no sevens"]
    );
    assert_eq!(
        errors(&own, None),
        ["plain: Too short: must be at least 2 characters"],
        "no more than tags and constraints"
    );
}

#[derive(Clone, Default)]
struct Part {
    number: i32,
    names: Vec<String>,
    keyed: Vec<Item>,
    ratio: f64,
    few: Vec<String>,
}

describe! { Part, PART "Part" {} [
    number: "number", 1, Flags::REQUIRED;
    names:  "names",  2, OMIT, &FieldInfo { list: ListType::Set, ..FieldInfo::PLAIN };
    keyed:  "keyed",  3, OMIT, &FieldInfo { list: ListType::Map(&["name"]), ..FieldInfo::PLAIN };
    ratio:  "ratio",  4, OMIT, check!(Min(0), Max(2));
    few:    "few",    5, OMIT, check!(MaxItems(1), MaxLength(1));
] }

#[derive(Clone, Default)]
struct Whole {
    part: Part,
    label: String,
    other: Option<Box<Item>>,
}

describe! { Whole, WHOLE "Whole" {} [
    part:  "part",  1, Flags::REQUIRED;
    label: "label", 2, OMIT;
    other: "other", 3, OMIT;
] }

/// The errors of an object with [`ValidationScope::Declared`] and this request document.
fn declared<T: Struct>(new: &T, old: Option<&T>, document: &'static str) -> Vec<String> {
    let context = WriteContext::default();
    context.sent.set(move || serde_json::from_str(document).ok());
    errors_with(
        &Validator { scope: ValidationScope::Declared, context: &context, half: Half::Both, rules: None },
        new,
        old,
    )
}

#[test]
fn required_zero_values_must_be_in_the_document() {
    let nothing = Whole::default();
    assert_eq!(declared(&nothing, None, "{}"), ["part: Required value"]);
    assert_eq!(declared(&nothing, None, r#"{"part": null}"#), ["part: Required value"]);
    assert_eq!(declared(&nothing, None, r#"{"part": {}}"#), ["part.number: Required value"]);
    assert_eq!(declared(&nothing, None, r#"{"part": {"number": 0}}"#), [""; 0]);
    assert_eq!(declared(&nothing, None, "no document"), [""; 0]);
}

#[test]
fn missing_required_field_fails_unrelated_updates() {
    let old = Whole::default();
    let new = Whole { label: "l".into(), ..Whole::default() };
    assert_eq!(declared(&new, Some(&old), r#"{"label": "l"}"#), ["part: Required value"]);
}

#[test]
fn declared_scope_rejects_duplicates_in_sets_and_maps() {
    let keyed = vec![item("a", 1, ""), item("b", 1, ""), item("a", 2, ""), item("a", 1, "")];
    let part = Part { keyed, names: ["x", "x", "x"].map(str::to_owned).to_vec(), ..Part::default() };
    assert_eq!(
        declared(&part, None, r#"{"number": 0}"#),
        ["names[1]: Duplicate value: \"x\"", r#"keyed[2]: Duplicate value: {"name":"a","size":2}"#]
    );
}

#[test]
fn stored_duplicates_may_stay() {
    let part = |names: &[&str]| Part { names: names.iter().map(|name| name.to_string()).collect(), ..Part::default() };
    let (fine, twice) = (part(&["a"]), part(&["b", "b"]));
    let document = r#"{"number": 0}"#;
    assert_eq!(declared(&twice, Some(&fine), document), ["names[1]: Duplicate value: \"b\""]);
    assert_eq!(declared(&part(&["c", "c"]), Some(&twice), document), [""; 0]);
}

#[test]
fn floats_have_bounds_and_all_errors_are_reported() {
    let part = Part { ratio: 2.5, few: ["a", "bc"].map(str::to_owned).to_vec(), ..Part::default() };
    assert_eq!(
        declared(&part, None, r#"{"number": 0}"#),
        [
            "ratio: Invalid value: 2.5: must be less than or equal to 2",
            "few: Too many: 2: must have at most 1 item",
            "few[1]: Too long: may not be more than 1 character",
        ]
    );
}

#[test]
fn parts_of_new_items_are_not_immutable() {
    let document = r#"{"part": {"number": 0}}"#;
    let old = Whole::default();
    let new = Whole { other: Some(Box::new(item("i", 1, "x"))), ..Whole::default() };
    assert_eq!(declared(&new, Some(&old), document), [""; 0]);
    let changed = Whole { other: Some(Box::new(item("i", 1, "y"))), ..Whole::default() };
    let fixed = |value: &str| [format!("other.fixed: Invalid value: {value:?}: field is immutable")];
    assert_eq!(declared(&changed, Some(&new), document), fixed("y"));
    let gone = Whole { other: Some(Box::new(item("i", 1, ""))), ..Whole::default() };
    assert_eq!(declared(&gone, Some(&new), document), fixed(""), "it is not taken away either");
}

#[derive(Clone, Default)]
struct FixedList {
    texts: Vec<String>,
}

describe! { FixedList, FIXED_LIST "FixedList" {} [
    texts: "texts", 1, OMIT, check!(Immutable);
] }

#[test]
fn empty_list_that_replaces_immutable_one_is_shown_as_null() {
    let (new, old) = (FixedList::default(), FixedList { texts: vec!["a".into()] });
    let context = WriteContext::default();
    let validator = Validator { scope: ValidationScope::Tagged, half: Half::Both, context: &context, rules: None };
    let mut errors = Vec::new();
    validator.validate(Ref::of(&new), Some(Ref::of(&old)), &Path::NONE, &mut errors);
    let sent = RequestDocument::default();
    sent.set(|| serde_json::from_str(r#"{"texts":[]}"#).ok());
    sent.complete(&mut errors, FixedList::def());
    assert_eq!(errors.iter().map(|e| e.body()).collect::<Vec<_>>(), ["Invalid value: null: field is immutable"]);
}
