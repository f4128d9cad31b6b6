//! Tests sets of texts, options with texts, and the values that errors show.

use super::*;

#[derive(Clone, Default)]
struct Door {
    name: String,
    key: String,
}

describe! { Door, DOOR "Door" { .checks(&[
    check(&["name"], &[Assertion::Noted("rooms", ""), Assertion::Unnoted("locked", "has a lock")]),
    check(&["key"], &[Assertion::Optional, Assertion::Unnoted("keys", ""), Assertion::Note("keys", &[])]),
    check_when(
        &["key"],
        &[Condition::Noted(&["name"], "rooms"), Condition::Begins(&["key"], &["x", "y"])],
        &[Assertion::Invalid("no key {key} for {name} {nothing}")],
    ),
    check_when(&["key"], &[Condition::Part(&["last"])], &[Assertion::Note("last", &["name"])]),
]) } [
    name: "name", 1, OMIT;
    key:  "key",  2, OMIT;
] }

#[derive(Clone, Default)]
struct House {
    rooms: Vec<String>,
    doors: Vec<Door>,
    lift: Option<String>,
    notes: BTreeMap<String, String>,
}

describe! { House, HOUSE "House" { .checks(&[
    check(&[], &[Assertion::Open(&["rooms", "locked", "keys", "last"])]),
    check(&["rooms"], &[Assertion::Each(&[Assertion::Note("rooms", &[])])]),
    check(&["doors"], &[Assertion::Below("last")]),
    check(&["doors"], &[Assertion::Below("")]),
    check(&["doors", "name"], &[Assertion::MaxBytes(4, "")]),
    check(&["lift"], &[Assertion::ChooseText("lift"), Assertion::Unnoted("last", "is the key of a door")]),
    check(&["lift"], &[Assertion::Json(&[Assertion::Unnoted("rooms", "")])]),
    check(&["lift"], &[Assertion::Show(&["rooms"], &[Assertion::MaxBytes(4, "too long")])]),
    check_when(&["lift"], &[Condition::Uses("Lifts")], &[Assertion::Refused("no lift here")]),
    check(&["notes"], &[Assertion::Annotations]),
]) } [
    rooms: "rooms", 1, OMIT;
    doors: "doors", 2, OMIT;
    lift:  "lift",  3, OMIT;
    notes: "notes", 4, OMIT, &FieldInfo { gate: "Lifts", ..FieldInfo::PLAIN };
] }

fn house(doors: &[(&str, &str)]) -> House {
    let doors = doors.iter().map(|(name, key)| Door { name: name.to_string(), key: key.to_string() }).collect();
    House { rooms: vec!["hall".into(), "bath".into()], doors, ..House::default() }
}

#[test]
fn texts_are_noted_until_the_checks_are_done() {
    assert_eq!(errors(&house(&[("hall", "a"), ("bath", "b")]), None), [""; 0]);
    let found = errors(&house(&[("attic", "a"), ("bath", "a"), ("hall", "")]), None);
    let expect = [
        "doors[0].name: Not found: \"attic\"",
        "doors[1].key: Duplicate value: \"a\"",
        "doors[0].name: Too long: may not be more than 4 bytes",
    ];
    assert_eq!(found, expect);
    let alone = Door { name: "hall".into(), key: "a".into() };
    assert_eq!(errors(&alone, None), ["name: Not found: \"hall\""]);
    // Of several doors with the same name, the key of the last one counts.
    let lift = |lift: &str| House { lift: Some(lift.into()), ..house(&[("hall", "a"), ("hall", "b")]) };
    assert_eq!(errors(&lift("a"), None), [""; 0]);
    assert_eq!(errors(&lift("b"), None), ["lift: Invalid value: \"b\": is the key of a door"]);
}

#[test]
fn details_name_fields_and_annotations_are_counted() {
    let found = errors(&house(&[("hall", "xa")]), None);
    assert_eq!(found, ["doors[0].key: Invalid value: \"xa\": no key xa for hall {nothing}"]);
    let mut house = house(&[]);
    house.notes.insert("Has A Blank".into(), String::new());
    let found = errors(&house, None);
    assert_eq!(found[0], "lift: Forbidden: no lift here");
    assert!(found[1].starts_with("notes: Invalid value: \"Has A Blank\": "), "{found:?}");
    house.notes = BTreeMap::from([("a".into(), "x".repeat(format::ANNOTATIONS_MAX_SIZE))]);
    assert!(errors(&house, None)[1].starts_with("notes: Too long: may not be more than 262144 bytes"));
}

#[test]
fn options_get_texts_and_errors_show_others() {
    let mut house = house(&[]);
    house.lift = Some("bath".into());
    assert_eq!(errors(&house, None), ["lift: Duplicate value: \"bath\""]);
    house.lift = Some("cellar".into());
    assert_eq!(errors(&house, None), ["lift: Invalid value: [\"hall\",\"bath\"]: too long"]);
    let (context, mut errors) = (WriteContext::default(), Vec::new());
    let mut v = Validation::new(&context, &mut errors);
    v.checks(&Path::NONE, Ref::of(&house), None);
    assert_eq!(v.option("lift"), Some("cellar"));
    assert!(!v.has_noted("rooms", "hall") && v.noted("rooms").is_empty());
}
