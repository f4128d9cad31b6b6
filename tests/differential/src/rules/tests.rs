use super::*;
use serde_json::json;

#[test]
fn every_rule_is_documented_and_every_documented_rule_exists() {
    let document = include_str!("../../../../docs/differences.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rows: Vec<&str> = rows.filter(|id| RULES.iter().any(|rule| rule.id == *id)).collect();
    let missing: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| !rows.contains(id)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn intended_differences_are_removed_and_counted() {
    let mut matches = Matches::default();
    assert_eq!(matches.unused().len(), RULES.len());
    let table = Some(json!("kind: Table\ncolumnDefinitions:\n"));
    let found = |place: &str| Difference { place: place.into(), upstream: table.clone(), here: table.clone() };
    let all = vec![found("body.$text"), found("status")];
    assert_eq!(matches.unexplained(&Step::default(), all), [found("status")]);
    assert!(!matches.unused().contains(&"column-descriptions"));
    assert!(!matches.take_diverged());
}

#[test]
fn format_warnings_may_have_any_order() {
    let step = Step { path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".into(), ..Step::default() };
    let warning = |text: &str| Some(json!(format!("299 - \"unrecognized format \\\"{text}\\\"\"")));
    let found = |place: &str, upstream: &str, here: &str| Difference {
        place: place.into(),
        upstream: warning(upstream),
        here: warning(here),
    };
    let swapped = vec![found("warning[0]", "a", "b"), found("warning[1]", "b", "a")];
    let other = vec![found("warning[0]", "a", "c"), found("warning[1]", "b", "a")];
    assert_eq!(Matches::default().unexplained(&step, swapped), []);
    assert_eq!(Matches::default().unexplained(&step, other.clone()), other);
}

#[test]
fn pods_are_created_with_an_empty_overhead_by_apply_too() {
    for (method, path, body, expect) in [
        ("POST", "/api/v1/namespaces/a/pods", json!({"spec": {"overhead": {}}}), true),
        ("PATCH", "/api/v1/namespaces/a/pods/b?fieldManager=m", json!({"spec": {"overhead": {}}}), true),
        ("PATCH", "/api/v1/namespaces/a/pods/b?fieldManager=m", json!({"spec": {"overhead": {"cpu": "1"}}}), false),
        ("PATCH", "/api/v1/namespaces/a/services/b?fieldManager=m", json!({"spec": {"overhead": {}}}), false),
    ] {
        let step = Step { method: method.into(), path: path.into(), body: Some(body), ..Step::default() };
        let found = Difference { place: "status".into(), upstream: Some(json!(403)), here: Some(json!(201)) };
        assert_eq!(empty_overhead(&step, &found), expect, "{method} {path}");
    }
}

#[test]
fn only_posts_to_the_paths_of_custom_objects_may_create_at_a_path() {
    for (method, path, expect) in [
        ("POST", "/apis/r1.example.com/v1/namespaces/a/things/b?dryRun=All", true),
        ("POST", "/apis/r1.example.com/v1/things/b", true),
        ("POST", "/apis/r1.example.com/v1/namespaces/a/things", false),
        ("POST", "/apis/r1.example.com/v1/namespaces/a/things/b/status", false),
        ("PUT", "/apis/r1.example.com/v1/things/b", false),
        ("POST", "/apis/apps/v1/namespaces/a/deployments/b", false),
    ] {
        let found = Difference { place: "status".into(), upstream: Some(json!(201)), here: Some(json!(400)) };
        assert_eq!(create_at_path(&Step::new("", method, path), &found), expect, "{method} {path}");
    }
}

/// Returns the locations of the unexplained differences of a write.
fn left(method: &str, path: &str, body: Value, found: &[(&str, Value, Value)]) -> Vec<String> {
    let mut step = Step::new("s1", method, path);
    step.body = Some(body);
    let difference = |(place, upstream, here): &(&str, Value, Value)| Difference {
        place: (*place).into(),
        upstream: Some(upstream.clone()),
        here: Some(here.clone()),
    };
    let left = Matches::default().unexplained(&step, found.iter().map(difference).collect());
    left.into_iter().map(|difference| difference.place).collect()
}

#[test]
fn managers_of_custom_object_may_be_lost_with_another_version() {
    for (version, path, expect) in [
        ("v1", "/apis/r1.example.com/v1/namespaces/a/things", true),
        ("r1.example.com/v2", "/apis/r1.example.com/v1/namespaces/a/things/b", true),
        ("${rand}.example.com/v1", "/apis/r1.example.com/v1/namespaces/a/things", false),
        ("apps/v1", "/api/v1/namespaces/a/configmaps", false),
    ] {
        let step =
            Step::new("s1", "POST", path).body(json!({"metadata": {"managedFields": [{"apiVersion": version}]}}));
        let found = Difference { place: "body.metadata.managedFields".into(), upstream: None, here: Some(json!([])) };
        assert_eq!(owners_of_other_versions(&step, &found), expect, "{version} {path}");
    }
}

#[test]
fn version_of_custom_object_is_intended_only_after_apply() {
    let path = "/apis/r1.example.com/v1/namespaces/n/things/a";
    let mut apply = Step::new("s1", "PATCH", path);
    apply.headers.insert("Content-Type".into(), json!("application/apply-patch+yaml"));
    let patch = Step::new("s2", "PATCH", path);
    let version = Difference {
        place: "body.metadata.resourceVersion".into(),
        upstream: Some(json!("<rv#3>")),
        here: Some(json!("<rv#2>")),
    };
    let mut matches = Matches::default();
    assert_eq!(matches.unexplained(&patch, vec![version.clone()]), std::slice::from_ref(&version));
    assert_eq!(matches.unexplained(&apply, Vec::new()), []);
    assert_eq!(matches.unexplained(&patch, vec![version.clone()]), []);
    assert!(matches.take_diverged());
    let generation = Difference { place: "body.metadata.generation".into(), ..version.clone() };
    assert_eq!(matches.unexplained(&patch, vec![version.clone(), generation.clone()]), [version.clone(), generation]);
    matches.begin_conversation();
    assert_eq!(matches.unexplained(&patch, vec![version.clone()]), [version]);
}

#[test]
fn responses_after_divergence_are_not_compared() {
    let mut matches = Matches::default();
    let found = Difference { place: "status".into(), upstream: Some(json!(201)), here: Some(json!(404)) };
    let step = Step::new("s1", "PUT", "/api/v1/namespaces/n/services/a/status");
    assert_eq!(matches.unexplained(&step, vec![found]), []);
    assert!(matches.take_diverged());
    assert!(!matches.take_diverged());
}

#[test]
fn status_of_existing_object_is_compared() {
    let path = "/api/v1/namespaces/n/services/a/status";
    let kind = ("body.kind", json!("Service"), json!("Status"));
    let missing = [("status", json!(201), json!(404)), kind.clone()];
    assert_eq!(left("PUT", path, json!({}), &missing), [""; 0]);
    assert_eq!(left("PUT", path, json!({}), std::slice::from_ref(&kind)), ["body.kind"]);
}

#[test]
fn finalizers_are_compared_but_for_their_order() {
    let swapped = [
        ("body.metadata.finalizers[0]", json!("a/b"), json!("c/d")),
        ("body.metadata.finalizers[1]", json!("c/d"), json!("a/b")),
    ];
    assert_eq!(left("DELETE", "/x", json!({}), &swapped), [""; 0]);
    assert_eq!(left("DELETE", "/x", json!({}), &swapped[..1]), ["body.metadata.finalizers[0]"]);
}

#[test]
fn whole_numbers_written_as_fractions_may_change_versions_and_owners() {
    let version = [("body.metadata.generation", json!(3), json!(2))];
    let other = [("body.metadata.generation", json!(3), json!(2)), ("body.spec.a", json!(1), json!(2))];
    let (custom, plain) = ("/apis/r1.example.com/v1/things/b", "/api/v1/configmaps/b");
    let float = json!({"spec": {"a": [1.0]}});
    assert_eq!(left("PUT", custom, float.clone(), &version), [""; 0]);
    assert_eq!(left("PUT", custom, float.clone(), &other).len(), 2);
    assert_eq!(left("PUT", plain, float, &version).len(), 1);
    assert_eq!(left("PUT", custom, json!({"spec": {"a": [1, 1.5]}}), &version).len(), 1);
    let bundle = json!({"webhooks": [{"clientConfig": {"caBundle": ""}}]});
    assert_eq!(left("PUT", "/x/validatingwebhookconfigurations/b", bundle, &version), [""; 0]);
}

#[test]
fn versions_are_compared_unless_the_write_explains_them() {
    let version = [("body.metadata.resourceVersion", json!("<rv#2>"), json!("<rv#1>"))];
    let check = |path: &str, body: Value, is_meant: bool| {
        assert_eq!(left("PATCH", path, body, &version).is_empty(), is_meant, "{path}");
    };
    let (policies, scalers) = ("/x/networkpolicies/a", "/x/horizontalpodautoscalers/a");
    check(policies, json!({"spec": {"podSelector": {"matchExpressions": []}}}), false);
    check(scalers, json!({"spec": {"metrics": [{}]}}), true);
    check(scalers, json!([{"op": "add", "path": "/spec/metrics/0/x", "value": 1}]), true);
    check(scalers, json!([{"op": "add", "path": "/spec/maxReplicas", "value": 1}]), false);
}
