//! Tests paths through maps and lists, and comparisons of conditions.

use super::*;

#[derive(Clone, Default)]
struct Vault {
    name: String,
    notes: BTreeMap<String, String>,
    tags: Vec<String>,
    ports: Vec<Port>,
    amounts: BTreeMap<String, Quantity>,
}

describe! { Vault, VAULT "Vault" { .checks(&[
    check_when(
        &[],
        &[],
        &[Assertion::Choose("picky", &[Condition::Not(&Condition::Holds(&["name"], &[Assertion::MaxBytes(3, "")]))])],
    ),
    check(&["name"], &[Assertion::ChooseText("name")]),
    check_when(&["name"], &[Condition::Option("picky")], &[Assertion::Invalid("too long for most")]),
    check_when(
        &["notes", "a.b"],
        &[Condition::Is(&["name"], &["noted"])],
        &[Assertion::Required("when noted"), Assertion::MaxBytes(2, "")],
    ),
    check_when(
        &["tags", "0"],
        &[Condition::Set(&["tags", "0"]), Condition::Not(&Condition::Same(&["name"], &["tags", "0"]))],
        &[Assertion::Invalid("must be the name")],
    ),
    check_when(&["tags"], &[Condition::Resized(&["tags"])], &[Assertion::Refused("of another length")]),
    check_when(&["tags"], &[Condition::SentEmpty(&["tags"])], &[Assertion::Refused("sent empty")]),
    check_when(&["name"], &[Condition::Version(&["shop/v1", "v2"])], &[Assertion::Refused("in this version")]),
    check_when(&["ports"], &[Condition::Is(&["ports", "name"], &["odd"])], &[Assertion::Missing("no odd one")]),
    check(&["ports"], &[Assertion::Each(&[Assertion::Distinct(&[&["number"]], "each number once")])]),
    check(
        &["amounts"],
        &[Assertion::Each(&[
            Assertion::Key(&[Assertion::MaxBytes(3, "")]),
            Assertion::Valid,
            Assertion::Min(0, "no amount"),
        ])],
    ),
    check_when(&["amounts"], &[Condition::Is(&["name"], &["counted"])], &[Assertion::Each(&[Assertion::Amount])]),
    check_when(&["amounts"], &[Condition::Single(&["amounts"])], &[Assertion::Unsupported(&["gold"])]),
]) } [
    name:    "name",    1, OMIT;
    notes:   "notes",   2, OMIT;
    tags:    "tags",    3, OMIT;
    ports:   "ports",   4, OMIT;
    amounts: "amounts", 5, OMIT;
] }

fn tagged(name: &str, tags: &[&str]) -> Vault {
    Vault { name: name.into(), tags: tags.iter().map(|tag| tag.to_string()).collect(), ..Vault::default() }
}

#[test]
fn entries_and_items_are_named() {
    assert_eq!(errors(&tagged("a", &["a", "b"]), None), [""; 0]);
    assert_eq!(errors(&tagged("a", &["b"]), None), ["tags[0]: Invalid value: \"b\": must be the name"]);
    assert_eq!(errors(&tagged("a", &[""]), None), ["tags[0]: Invalid value: \"\": must be the name"]);
    let found = errors(&tagged("a", &["a"]), Some(&tagged("a", &["a", "b"])));
    assert_eq!(found, ["tags: Forbidden: of another length"]);
    let mut vault = tagged("noted", &[]);
    assert_eq!(errors(&vault, None)[1..], ["notes[a.b]: Required value: when noted"]);
    vault.notes.insert("a.b".into(), String::new());
    assert_eq!(errors(&vault, None).len(), 1);
    vault.notes.insert("a.b".into(), "abc".into());
    assert_eq!(errors(&vault, None)[1..], ["notes[a.b]: Too long: may not be more than 2 bytes"]);
}

#[test]
fn fields_of_items_are_looked_for_and_compared() {
    let port = |name: &str| Port { name: name.into(), number: 1 };
    let vault = Vault { ports: vec![port("even"), port("odd")], ..Vault::default() };
    let found = errors(&vault, None);
    assert_eq!(found[0], "ports: Required value: no odd one");
    assert!(
        found[1].starts_with("ports[1]: Duplicate value: ") && found[1].ends_with(": each number once"),
        "{found:?}"
    );
}

#[test]
fn entries_have_keys_and_amounts_are_rounded() {
    let amounts = |texts: &[(&str, &str)]| Vault {
        amounts: texts.iter().map(|(name, amount)| (name.to_string(), amount.parse().unwrap())).collect(),
        ..Vault::default()
    };
    let expect = [
        "amounts[iron]: Too long: may not be more than 3 bytes",
        "amounts[tin]: Invalid value: -2: no amount",
        "amounts[zn]: Invalid value: -1: no amount",
    ];
    assert_eq!(errors(&amounts(&[("iron", "-1"), ("tin", "-2"), ("zn", "-0.5")]), None), expect);
    let expect = ["amounts: Unsupported value: {\"tin\":\"1\"}: supported values: \"gold\""];
    assert_eq!(errors(&amounts(&[("tin", "1")]), None), expect);
}

#[test]
fn amounts_of_counted_resources_are_whole() {
    let amounts = [("cpu", "0.5"), ("tin", "-1m"), ("pods", "1.5"), ("x/y", "1")];
    let vault = Vault {
        name: "counted".into(),
        amounts: amounts.iter().map(|(name, amount)| (name.to_string(), amount.parse().unwrap())).collect(),
        ..Vault::default()
    };
    let found = errors(&vault, None);
    let expect = [
        "amounts[pods]: Invalid value: \"1500m\": must be an integer",
        "amounts[tin]: Invalid value: \"-1m\": must be greater than or equal to 0",
    ];
    assert_eq!(found[found.len() - 2..], expect, "{found:?}");
}

#[test]
fn options_are_chosen_by_conditions() {
    assert_eq!(errors(&tagged("abc", &[]), None), [""; 0]);
    assert_eq!(errors(&tagged("abcd", &[]), None), ["name: Invalid value: \"abcd\": too long for most"]);
    let (context, mut errors) = (WriteContext::default(), Vec::new());
    let mut v = Validation::new(&context, &mut errors);
    v.checks(&Path::NONE, Ref::of(&tagged("abc", &[])), None);
    assert_eq!(v.option("name"), Some("abc"));
}

#[test]
fn conditions_look_at_the_request() {
    let found = |group: &str, version: &str, sent: &'static str| {
        let context = WriteContext { group: group.into(), version: version.into(), ..WriteContext::default() };
        context.sent.set(|| serde_json::from_str(sent).ok());
        let mut errors = Vec::new();
        Validation::new(&context, &mut errors).checks(&Path::NONE, Ref::of(&tagged("a", &[])), None);
        errors.iter().map(|error| error.detail.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found("shop", "v2", "{}"), [""; 0]);
    assert_eq!(found("shop", "v1", r#"{"tags":["a"]}"#), ["in this version"]);
    assert_eq!(found("", "v2", r#"{"tags":[]}"#), ["sent empty", "in this version"]);
}
