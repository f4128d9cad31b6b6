//! Tests options that checks set, and conditions and assertions about lists, items and inlined
//! structs.

use super::*;

#[derive(Clone, Default)]
struct Rule {
    verbs: Vec<String>,
}

describe! { Rule, RULE "Rule" { .checks(&[
    check(&["verbs"], &[Assertion::OneOf(&["get", "list"])]),
    check(&["verbs"], &[Assertion::Each(&[Assertion::Unrepeated("duplicate value")])]),
]) } [
    verbs: "verbs", 1, OMIT;
] }

#[derive(Clone, Default)]
struct NamedRule {
    name: String,
    rule: Rule,
}

describe! { NamedRule, NAMED_RULE "NamedRule" { .checks(&[
    check_when(&["name"], &[Condition::Blank(&["name"])], &[Assertion::Missing("a name")]),
    check(&[], &[Assertion::Inlined]),
]) } [
    name: "name", 1, OMIT;
    rule: "",     2, Flags::INLINE;
] }

#[derive(Clone, Default)]
struct Rules {
    name: String,
    rules: Vec<NamedRule>,
    least: i32,
    most: i32,
    notes: BTreeMap<String, String>,
    port: IntOrString,
}

describe! { Rules, RULES "Rules" { .checks(&[
    check(&["name"], &[Assertion::ChooseText("chosen")]),
    check_when(&["name"], &[Condition::Option("chosen")], &[Assertion::MaxBytes(3, "")]),
    check_when(&["rules"], &[Condition::Changed(&["rules", "verbs"])], &[Assertion::Below("")]),
    check(&["most"], &[Assertion::AtLeast(&["least"], "less than the least")]),
    check(&["notes"], &[Assertion::MaxTotal(3)]),
    check_when(&["port"], &[Condition::Text(&["port"])], &[Assertion::Invalid("not a number")]),
]) } [
    name:  "name",  6, OMIT;
    rules: "rules", 1, OMIT;
    least: "least", 2, OMIT;
    most:  "most",  3, OMIT;
    notes: "notes", 4, OMIT;
    port:  "port",  5, OMIT;
] }

fn rule(name: &str, verbs: &[&str]) -> NamedRule {
    NamedRule { name: name.into(), rule: Rule { verbs: verbs.iter().map(|verb| verb.to_string()).collect() } }
}

fn rules(rules: &[NamedRule]) -> Rules {
    Rules { rules: rules.to_vec(), ..Rules::default() }
}

#[test]
fn inlined_structs_are_checked_at_the_path_of_their_holder() {
    let found = errors(&rules(&[rule(" \t", &["get", "put"]), rule("b", &["get", "get"])]), None);
    let expect = [
        "rules[0].name: Required value: a name",
        "rules[0].verbs: Unsupported value: [\"get\",\"put\"]: supported values: \"get\", \"list\"",
        "rules[1].verbs[1]: Invalid value: \"get\": duplicate value",
    ];
    assert_eq!(found, expect);
}

#[test]
fn an_option_has_the_text_of_a_field() {
    let (context, mut errors) = (WriteContext::default(), Vec::new());
    let mut v = Validation::new(&context, &mut errors);
    v.checks(&Path::NONE, Ref::of(&Rules { name: "four".into(), ..Rules::default() }), None);
    assert_eq!(v.option("chosen"), Some("four"));
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn lists_are_compared_item_by_item() {
    let bad = rules(&[rule("b", &["put"])]);
    assert_eq!(errors(&bad, Some(&rules(&[rule("a", &["put"])]))), [""; 0]);
    assert_eq!(errors(&bad, Some(&rules(&[rule("b", &["get"])]))).len(), 1);
    assert_eq!(errors(&bad, Some(&rules(&[rule("b", &["put"]), rule("c", &[])]))).len(), 1);
    assert_eq!(errors(&bad, None).len(), 1);
}

#[test]
fn fields_and_sizes_are_compared() {
    let notes = |value: &str| BTreeMap::from([("a".to_string(), value.to_string())]);
    let found = errors(&Rules { least: 2, most: 1, notes: notes("bcd"), ..Rules::default() }, None);
    let expect = ["most: Invalid value: 1: less than the least", "notes: Too long: may not be more than 3 bytes"];
    assert_eq!(found, expect);
    assert_eq!(errors(&Rules { least: 2, most: 2, notes: notes("bc"), ..Rules::default() }, None), [""; 0]);
}

#[test]
fn distinguishes_texts_from_numbers() {
    let named = Rules { port: IntOrString::String("http".into()), ..Rules::default() };
    assert_eq!(errors(&named, None), ["port: Invalid value: \"http\": not a number"]);
}

#[test]
fn functions_keep_values_for_others() {
    let (context, mut errors) = (WriteContext::default(), Vec::new());
    let mut v = Validation::new(&context, &mut errors);
    assert_eq!(v.kept::<u8>(), None);
    v.keep(1_u8);
    v.keep("text");
    v.keep(2_u8);
    assert_eq!((v.kept().copied(), v.kept().copied()), (Some(2_u8), Some("text")));
}
