//! Tests conditions about items of lists and changes, comparisons and labels.

use super::*;
use crate::scalar::Time;

#[derive(Clone, Default)]
struct Requirement {
    key: String,
    operator: String,
    values: Vec<String>,
}

describe! { Requirement, REQUIREMENT "Requirement" {} [
    key:      "key",      1, OMIT;
    operator: "operator", 2, OMIT;
    values:   "values",   3, OMIT;
] }

#[derive(Clone, Default)]
struct Selector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Requirement>,
}

describe! { Selector, SELECTOR "Selector" {} [
    match_labels:      "matchLabels",      1, OMIT;
    match_expressions: "matchExpressions", 2, OMIT;
] }

#[derive(Clone, Default)]
struct Task {
    steps: Vec<Step>,
    done: i32,
    wanted: Option<i32>,
    begun: Option<Time>,
    ended: Option<Time>,
    spare: Option<IntOrString>,
    labels: BTreeMap<String, String>,
    selector: Option<Box<Selector>>,
    note: String,
}

#[derive(Clone, Default)]
struct Step {
    kind: String,
    state: String,
    by: String,
}

describe! { Step, STEP "Step" { .checks(&[
    check_when(
        &["kind"],
        &[Condition::Is(&["kind"], &["End"]), Condition::Preceded(&[Condition::Is(&["kind"], &["Break"])])],
        &[Assertion::At("..", &[Assertion::Invalid("no end after a break")])],
    ),
    check(&["by"], &[Assertion::Optional, Assertion::Name(NameRule::Dns1123Label)]),
]) } [
    kind:  "kind",  1, OMIT;
    state: "state", 2, OMIT;
    by:    "by",    3, OMIT, &FieldInfo { go_type: "Person", ..FieldInfo::PLAIN };
] }

const ENDED: Condition =
    Condition::Some(&["steps"], &[Condition::Is(&["kind"], &["End"]), Condition::Is(&["state"], &["True"])]);

describe! { Task, TASK "Task" { .checks(&[
    check(&["steps"], &[Assertion::Below("")]),
    check_when(&["steps"], &[ENDED, Condition::Flips(&[ENDED])], &[Assertion::InvalidOmitted("ends")]),
    check_when(&["steps"], &[Condition::Fewer(&["steps"], &[Condition::Set(&["kind"])])], &[Assertion::Refused("fewer")]),
    check_when(&["steps"], &[Condition::More(&["steps"], &[Condition::Set(&["kind"])])], &[Assertion::Refused("more")]),
    check(&["done"], &[Assertion::Grows("done shrinks")]),
    check(&["wanted"], &[
        Assertion::Grows("wanted shrinks"),
        Assertion::MoreThan(&["done"], "no more than done"),
    ]),
    check(&["ended"], &[Assertion::AtLeast(&["begun"], "before it began")]),
    check_when(
        &[],
        &[Condition::Was(&Condition::Is(&["note"], &["fixed"])), Condition::Differs(&["selector"], &[&["matchLabels"]])],
        &[Assertion::Missing("the same selector")],
    ),
    check_when(&["done"], &[Condition::Above(&["done"], 9)], &[Assertion::Invalid("too much")]),
    check_when(&["spare"], &[Condition::Zero(&["spare"]), Condition::Set(&["spare"])], &[Assertion::Invalid("none")]),
    check_when(&["note"], &[Condition::Matches(&["note"], "^(?i)todo")], &[Assertion::Invalid("to do")]),
    check(&["labels"], &[Assertion::MaxTotal(4)]),
    check_when(&["labels"], &[Condition::Set(&["labels"])], &[Assertion::Selected(&["selector"], "not selected")]),
    check_when(&["note"], &[Condition::NoError, Condition::Set(&["note"])], &[Assertion::Invalid("nothing else")]),
]) } [
    steps:    "steps",    1, OMIT;
    done:     "done",     2, OMIT;
    wanted:   "wanted",   3, OMIT;
    begun:    "begun",    4, OMIT;
    ended:    "ended",    5, OMIT;
    spare:    "spare",    6, OMIT;
    labels:   "labels",   7, OMIT;
    selector: "selector", 8, OMIT;
    note:     "note",     9, OMIT;
] }

fn steps(steps: &[(&str, &str)]) -> Task {
    let step =
        |(kind, state): &(&str, &str)| Step { kind: kind.to_string(), state: state.to_string(), by: String::new() };
    Task { steps: steps.iter().map(step).collect(), ..Task::default() }
}

#[test]
fn items_are_looked_for_and_counted() {
    let (open, ended) = (steps(&[("End", "False")]), steps(&[("End", "True")]));
    assert_eq!(errors(&open, Some(&open)), [""; 0]);
    assert_eq!(errors(&ended, Some(&open)), ["steps: Invalid value: ends"]);
    assert_eq!(errors(&ended, Some(&ended)), [""; 0]);
    assert_eq!(errors(&steps(&[]), Some(&open)), ["steps: Forbidden: fewer"]);
    assert_eq!(errors(&open, Some(&steps(&[("", "")]))), ["steps: Forbidden: more"]);
    let late = steps(&[("Break", ""), ("End", "")]);
    assert_eq!(errors(&late, Some(&late)), ["steps: Invalid value: \"End\": no end after a break"]);
    let early = steps(&[("End", ""), ("Break", "")]);
    assert_eq!(errors(&early, Some(&early)), [""; 0]);
}

#[test]
fn names_of_types_of_their_own_are_shown_as_json() {
    let step = Step { by: "a<b".into(), ..Step::default() };
    let found = errors(&Task { steps: vec![step], ..Task::default() }, None);
    assert!(found[0].starts_with("steps[0].by: Invalid value: \"a\\u003cb\": a lowercase RFC 1123 label"), "{found:?}");
}

#[test]
fn numbers_and_times_are_compared() {
    let task = |done, wanted| Task { done, wanted, ..Task::default() };
    assert_eq!(errors(&task(1, Some(2)), None), [""; 0]);
    assert_eq!(errors(&task(2, Some(2)), None), ["wanted: Invalid value: 2: no more than done"]);
    let shrunk = ["done: Invalid value: 1: done shrinks", "wanted: Invalid value: 0: wanted shrinks"];
    assert_eq!(errors(&task(1, None), Some(&task(2, Some(3)))), shrunk);
    assert_eq!(errors(&task(10, None), None), ["done: Invalid value: 10: too much"]);
    let (begun, ended) = (Some(Time::from_unix(9)), Some(Time::from_unix(8)));
    let found = errors(&Task { begun, ended, ..Task::default() }, None);
    assert_eq!(found, ["ended: Invalid value: \"1970-01-01T00:00:08Z\": before it began"]);
    assert_eq!(errors(&Task { begun: ended, ended: begun, ..Task::default() }, None), [""; 0]);
    for (spare, is_none) in [("0%", true), ("1%", false), ("x", true), ("00%", true)] {
        let spare = Some(IntOrString::String(spare.into()));
        assert_eq!(errors(&Task { spare, ..Task::default() }, None).len(), usize::from(is_none));
    }
}

#[test]
fn structs_are_compared_but_for_some_fields() {
    let task =
        |selector: Option<Selector>| Task { selector: selector.map(Box::new), note: "fixed".into(), ..Task::default() };
    let is_alike = |new: Option<Selector>, old: Option<Selector>| {
        let found = errors(&task(new), Some(&task(old)));
        !found.contains(&"<nil>: Required value: the same selector".to_string())
    };
    let labelled = Selector { match_labels: BTreeMap::from([("a".into(), "b".into())]), ..Selector::default() };
    let asking = Selector { match_expressions: vec![Requirement::default()], ..labelled.clone() };
    assert!(is_alike(Some(labelled.clone()), Some(Selector::default())));
    assert!(is_alike(Some(labelled.clone()), None) && is_alike(None, Some(labelled.clone())));
    assert!(!is_alike(Some(asking.clone()), Some(labelled.clone())) && !is_alike(None, Some(asking.clone())));
    assert!(is_alike(Some(asking.clone()), Some(asking)));
}

#[test]
fn labels_are_selected_and_texts_matched() {
    let labels = BTreeMap::from([("a".to_string(), "b".to_string())]);
    let task = |selector: Option<Selector>| Task {
        labels: labels.clone(),
        selector: selector.map(Box::new),
        ..Task::default()
    };
    assert_eq!(errors(&task(None), None), ["labels: Invalid value: {\"a\":\"b\"}: not selected"]);
    assert_eq!(errors(&task(Some(Selector { match_labels: labels.clone(), ..Selector::default() })), None), [""; 0]);
    let count = |operator: &str, values: &[&str]| {
        let values = values.iter().map(|value| value.to_string()).collect();
        let one = Requirement { key: "a".into(), operator: operator.into(), values };
        errors(&task(Some(Selector { match_expressions: vec![one], ..Selector::default() })), None).len()
    };
    assert_eq!([count("In", &["b"]), count("NotIn", &["b"]), count("Odd", &[])], [0, 1, 0]);
    let long = BTreeMap::from([("a".to_string(), "long".to_string())]);
    let found = errors(&Task { labels: long, ..task(Some(Selector::default())) }, None);
    assert_eq!(found, ["labels: Too long: may not be more than 4 bytes"]);
    let noted = |note: &str| errors(&Task { note: note.into(), ..Task::default() }, None);
    assert_eq!(noted("Todo: x"), ["note: Invalid value: \"Todo: x\": to do"]);
    assert_eq!(noted("x"), ["note: Invalid value: \"x\": nothing else"]);
}
