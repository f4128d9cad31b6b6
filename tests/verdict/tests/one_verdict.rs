//! A declared kind and the definition that is exported from it behave identically.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::Path;

use serde_json::{Value, json};
use verdict::case::{Case, Op, Step};
use verdict::kinds::Kinds;
use verdict::run::{Local, Plan, Report, remotes, run};
use verdict::side::{Served, Side};

const PLAN: Plan = Plan { seed: 1, objects: 1500, differences: 3 };

fn assert_no_differences(report: &Report) {
    println!("{}", report.figures());
    assert!(report.counts.is_empty(), "{}{}", report.differences(), report.figures());
    assert!(report.accepted * 4 > report.refused && report.refused * 4 > report.accepted, "{}", report.figures());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn declared_kinds_and_exported_definitions_agree() {
    let kinds = Kinds::read().unwrap();
    let (native, custom) = start_both(&kinds).await;
    assert_no_differences(&run(&kinds, [&native.side, &custom.side], PLAN).await.unwrap());
    let whole = || {
        json!({"spec": {"count": 7, "title": "abc", "grade": "High", "shade": "Dark", "active": true, "limit": "0",
            "note": "abc", "part": {"name": "abc"}, "extra": {}, "loose": {}}})
    };
    let mut lacking = whole();
    lacking["spec"].as_object_mut().unwrap().remove("loose");
    let applied = json!({"spec": {"limit": "0", "extra": {"remark": "a"}, "loose": {}}});
    let mut raw = whole();
    raw["spec"]["raw"] = json!({"any": 1});
    let mut emptied = raw.clone();
    emptied["spec"]["raw"] = json!({});
    // The creator of an object owns its zero values, so they remain when an apply releases them. A
    // required zero value that an update omits is missing. A raw value is replaced as a whole.
    for (name, steps, expect) in [
        ("apply", vec![(Op::Create, whole()), (Op::Apply, applied), (Op::Apply, json!({}))], vec![201, 200, 200]),
        ("replace", vec![(Op::Create, whole()), (Op::Replace, lacking.clone())], vec![201, 422]),
        ("raw", vec![(Op::Create, raw), (Op::Apply, emptied)], vec![201, 200]),
        ("status", vec![(Op::Create, whole()), (Op::Status, lacking)], vec![201, 200]),
    ] {
        let case = case(&kinds, "Bound", steps);
        let one = native.side.play(0, &kinds, &case, name).await.unwrap();
        let other = custom.side.play(0, &kinds, &case, name).await.unwrap();
        assert_eq!(one.iter().map(|outcome| outcome.code).collect::<Vec<_>>(), expect, "{name}");
        assert!(one.iter().zip(&other).all(|(one, other)| one.agrees(other)), "{name}");
    }
}

/// The rows of "Intended differences" in `docs/api-defs.md` that the generator of cases excludes
/// by their values.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn intended_differences_are_as_documented() {
    let kinds = Kinds::read().unwrap();
    let (native, custom) = start_both(&kinds).await;
    let shelf = |spec: Value| {
        let mut shelf = json!({"spec": {"owners": ["a"], "rooms": {"a": 1}, "feet": [{"name": "a"}]}});
        shelf["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        shelf
    };
    let corners = |height: i32| shelf(json!({"corners": {"a": {"height": height}, "b": {"height": height}}}));
    let steps = vec![(Op::Apply, corners(1)), (Op::Replace, corners(2)), (Op::Apply, shelf(json!({})))];
    let case = case(&kinds, "Shelf", steps);
    let one = native.side.play(0, &kinds, &case, "emptied").await.unwrap();
    let other = custom.side.play(0, &kinds, &case, "emptied").await.unwrap();
    assert_eq!((one[2].code, other[2].code), (200, 422));
    assert_eq!(other[2].paths.iter().collect::<Vec<_>>(), ["spec.corners"], "{}", other[2].message);

    let feet = shelf(json!({"feet": [{"height": 1}, {"name": ""}, {"name": "a"}]}));
    let duplicates = async |side: &Side, path: &str| {
        let mut object = feet.clone();
        object["apiVersion"] = "verdict.example.com/v1".into();
        object["kind"] = "Shelf".into();
        object["metadata"] = json!({"name": "keyless"});
        let (_, answer) = side.send(0, "POST", path, &object).await.unwrap();
        let causes = answer["details"]["causes"].as_array().unwrap().clone();
        let duplicates = causes.iter().filter(|cause| cause["reason"] == "FieldValueDuplicate");
        (answer["code"].clone(), duplicates.map(|cause| cause["field"].clone()).collect::<Vec<_>>())
    };
    let path = "/apis/verdict.example.com/v1/namespaces/default/shelves";
    assert_eq!(duplicates(&native.side, path).await, (json!(422), vec![json!("spec.feet[1]")]));
    assert_eq!(duplicates(&custom.side, path).await, (json!(422), vec![]));
}

/// Starts a server of the declared kinds, and one of their definitions.
async fn start_both(kinds: &Kinds) -> (Local, Local) {
    let native = Local::start(Served::Natively, kinds);
    let custom = Local::start(Served::ByDefinition, kinds);
    tokio::try_join!(native, custom).unwrap()
}

/// Returns a case of a kind in its first version.
fn case(kinds: &Kinds, kind: &str, steps: Vec<(Op, Value)>) -> Case {
    let kind = kinds.kinds.iter().position(|of| of.name == kind).unwrap();
    let steps = steps.into_iter().map(|(op, body)| Step { op, version: 0, body, strict: false });
    Case { kind, steps: steps.collect() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "requires an upstream server: VERDICT_UPSTREAM is the path of its kubeconfig"]
async fn exported_definitions_agree_with_upstream() {
    let kinds = Kinds::read().unwrap();
    let custom = Local::start(Served::ByDefinition, &kinds).await.unwrap();
    let kubeconfig = std::env::var_os("VERDICT_UPSTREAM").expect("VERDICT_UPSTREAM");
    let remotes = remotes(Path::new(&kubeconfig)).unwrap();
    let upstream = Side { name: "upstream", served: Served::ByDefinition, remotes, store: None };
    upstream.install(&kinds).await.unwrap();
    upstream.wait_for(&kinds).await.unwrap();
    assert_no_differences(&run(&kinds, [&custom.side, &upstream], PLAN).await.unwrap());
}
