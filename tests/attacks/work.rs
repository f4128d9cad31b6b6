//! Requests whose work, depth or memory is out of proportion to their size.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, JSON, JSON_PATCH, STRATEGIC_PATCH, Target, answer};

const TEAM: &str = "team";

/// Upper bound for a response whose work is in proportion to the request, on a busy machine too.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Upper bound of the server's memory in these tests, in bytes.
const MEMORY_LIMIT: u64 = 800 << 20;

/// Starts a server with a namespace in which `mallory` has the rights of `rules`.
async fn target(rules: Value) -> Target {
    let target = Target::start(&[]);
    target.create_namespace(TEAM).await;
    target.grant("mallory", TEAM, rules).await;
    target
}

/// Sends a body as `mallory`; fails when the response takes longer than `TIMEOUT`.
async fn attack(target: &Target, method: Method, path: &str, media_type: &str, body: &Value) -> Answer {
    let request = target.request("mallory", method, path).header("Content-Type", media_type);
    tokio::time::timeout(TIMEOUT, answer(request.body(body.to_string()))).await.expect("the server answers soon")
}

fn config_maps() -> Value {
    json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "update", "patch"]}])
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/team/configmaps";

/// Finding B2: each copy doubles the depth of the document, and 15 of them overflowed the stack.
#[tokio::test]
async fn rejects_json_patch_that_copies_a_document_into_itself() {
    let target = target(config_maps()).await;
    target.create(CONFIG_MAPS, &json!({"metadata": {"name": "c"}})).await;
    let copy = |exponent: u32| json!({"op": "copy", "from": "/a", "path": "/a".repeat((1 << exponent) + 1)});
    let mut operations = vec![json!({"op": "add", "path": "/a", "value": {}})];
    operations.extend((0..15).map(copy));
    let answer = attack(&target, Method::PATCH, &format!("{CONFIG_MAPS}/c"), JSON_PATCH, &json!(operations)).await;
    assert_eq!(answer.code, 422, "{}", answer.body);
    target.assert_alive().await;
}

/// Finding B2 (suspected): ten thousand insertions at the beginning of a long array.
#[tokio::test]
async fn rejects_json_patch_that_moves_a_long_array_too_often() {
    let target = target(config_maps()).await;
    target.create(CONFIG_MAPS, &json!({"metadata": {"name": "c"}})).await;
    let mut operations = vec![json!({"op": "add", "path": "/a", "value": vec![0; 1_000_000]})];
    operations.extend(vec![json!({"op": "add", "path": "/a/0", "value": 0}); 9_990]);
    let answer = attack(&target, Method::PATCH, &format!("{CONFIG_MAPS}/c"), JSON_PATCH, &json!(operations)).await;
    assert_eq!(answer.code, 413, "{}", answer.body);
    target.assert_alive().await;
}

/// Finding B2 (class): a path of half a million steps that no operation uses.
#[tokio::test]
async fn accepts_json_patch_with_long_unused_path() {
    let target = target(config_maps()).await;
    target.create(CONFIG_MAPS, &json!({"metadata": {"name": "c"}})).await;
    let operations =
        json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}, "from": "/a".repeat(500_000)}]);
    let answer = attack(&target, Method::PATCH, &format!("{CONFIG_MAPS}/c"), JSON_PATCH, &operations).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    target.assert_alive().await;
}

/// The tracked provenance of patched values costs little: 5,000 containers, moved and shifted 4,900
/// times.
#[tokio::test]
async fn json_patch_moves_of_many_tracked_values_are_bounded() {
    let target = target(config_maps()).await;
    target.create(CONFIG_MAPS, &json!({"metadata": {"name": "c"}})).await;
    let list = vec![json!({"a": 1}); 5000];
    let read = (0..5000).map(|n| json!({"op": "test", "path": format!("/l/{n}/a"), "value": 1}));
    let mut moved: Vec<Value> = [json!({"op": "add", "path": "/l", "value": list})].into_iter().chain(read).collect();
    let mut shifted = moved.clone();
    let between = |n: usize| if n.is_multiple_of(2) { ("/l", "/m") } else { ("/m", "/l") };
    moved.extend((0..4900).map(between).map(|(from, path)| json!({"op": "move", "from": from, "path": path})));
    shifted.extend((0..4900).map(|_| json!({"op": "remove", "path": "/l/0"})));
    for (operations, code) in [(moved, 200), (shifted, 413)] {
        let operations = Value::from(operations);
        let answer = attack(&target, Method::PATCH, &format!("{CONFIG_MAPS}/c"), JSON_PATCH, &operations).await;
        assert_eq!(answer.code, code, "{}", answer.body["message"]);
        target.assert_alive().await;
    }
}

/// Finding B3: a chain of 2,000 operators in a selector overflowed the stack.
#[tokio::test]
async fn rejects_deep_cel_expressions() {
    let group = "resource.k8s.io";
    let target = target(json!([{"apiGroups": [group], "resources": ["resourceclaims"], "verbs": ["create"]}])).await;
    let claims = format!("/apis/{group}/v1/namespaces/{TEAM}/resourceclaims");
    for expression in [
        format!("1{} == 1", "+1".repeat(2_000)),
        format!("device{}", ".a".repeat(2_000)),
        format!("device{}", "[0]".repeat(2_000)),
        format!("{}1{} == 1", "(".repeat(2_000), ")".repeat(2_000)),
        format!("{}true", "true ? true : ".repeat(500)),
        format!("{}[]{} == []", "[].map(x, ".repeat(500), ")".repeat(500)),
    ] {
        let selector = json!({"cel": {"expression": expression}});
        let exactly = json!({"deviceClassName": "class", "selectors": [selector]});
        let claim =
            json!({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}});
        let answer = attack(&target, Method::POST, &claims, JSON, &claim).await;
        assert_eq!(answer.code, 422, "{}", &expression[..40]);
        target.assert_alive().await;
    }
}

/// Finding B6: a role of 9 KB expanded to more than a thousand million rules.
#[tokio::test]
async fn compares_roles_without_expanding_rules() {
    let group = "rbac.authorization.k8s.io";
    let rules = json!([{"apiGroups": [group], "resources": ["roles"], "verbs": ["create"]}]);
    let target = target(rules).await;
    let many = |prefix: &str| (0..250).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
    let rule = json!({"verbs": many("v"), "apiGroups": many("g"), "resources": many("r"), "resourceNames": many("n")});
    let role = json!({"metadata": {"name": "r"}, "rules": [rule]});
    let path = format!("/apis/{group}/v1/namespaces/{TEAM}/roles");
    let answer = attack(&target, Method::POST, &path, JSON, &role).await;
    assert_eq!(answer.code, 403, "{}", answer.body);
    assert!(answer.body["message"].as_str().unwrap().contains("permissions not currently held"), "{}", answer.body);
    assert!(target.memory().peak < MEMORY_LIMIT, "{:?}", target.memory());
    target.assert_alive().await;
}

/// The error message repeats long names of a role only up to the size limit of other error
/// messages.
#[tokio::test]
async fn error_message_limits_repeated_role_names() {
    let group = "rbac.authorization.k8s.io";
    let rules = json!([{"apiGroups": [group], "resources": ["roles"], "verbs": ["create"]}]);
    let target = target(rules).await;
    let name = "n".repeat(1 << 20);
    let rule =
        json!({"verbs": vec!["get"; 5000], "apiGroups": [""], "resources": ["pods"], "resourceNames": [name, name]});
    let role = json!({"metadata": {"name": "r"}, "rules": [rule]});
    let path = format!("/apis/{group}/v1/namespaces/{TEAM}/roles");
    let answer = attack(&target, Method::POST, &path, JSON, &role).await;
    assert_eq!(answer.code, 403, "{}", answer.body["code"]);
    assert!(target.memory().peak < MEMORY_LIMIT, "{:?}", target.memory());
    target.assert_alive().await;
}

/// Finding B7: each owner reference was compared with every other one.
#[tokio::test]
async fn finds_repeated_owner_references_in_linear_time() {
    let target = target(config_maps()).await;
    let owner = |n: usize| json!({"apiVersion": "v1", "kind": "Pod", "name": "n", "uid": n.to_string()});
    let owners: Vec<Value> = (0..30_000).map(|n| owner(n % 29_999)).collect();
    let object = json!({"metadata": {"name": "c", "ownerReferences": owners}});
    let answer = attack(&target, Method::POST, CONFIG_MAPS, JSON, &object).await;
    assert_eq!(answer.code, 201, "{}", answer.body["message"]);
    assert_eq!(answer.body["metadata"]["ownerReferences"].as_array().unwrap().len(), 29_999);
    target.assert_alive().await;
}

/// Finding B13: each item of an ordered list was searched for in the others.
#[tokio::test]
async fn orders_long_lists_in_linear_time() {
    let target = target(config_maps()).await;
    target.create(CONFIG_MAPS, &json!({"metadata": {"name": "c"}})).await;
    let finalizers: Vec<String> = (0..60_000).map(|n| format!("a.b/{n}")).collect();
    let patch = json!({"metadata": {"$setElementOrder/finalizers": finalizers, "finalizers": finalizers}});
    let answer = attack(&target, Method::PATCH, &format!("{CONFIG_MAPS}/c"), STRATEGIC_PATCH, &patch).await;
    assert_eq!(answer.code, 200, "{}", answer.body["message"]);
    target.assert_alive().await;
}

/// Creates a kind `Thing` with a rule on `text`, and waits until it is served. Returns the path of
/// the objects.
async fn thing_with_rule(target: &Target, rule: &str) -> String {
    let text = json!({"type": "string", "maxLength": 50_000});
    let rules = json!([{"rule": rule}]);
    let schema = json!({"type": "object", "properties": {"text": text}, "x-kubernetes-validations": rules});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names = json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"});
    let spec = json!({"group": "work.example", "scope": "Cluster", "names": names, "versions": [version]});
    let definition = json!({"metadata": {"name": "things.work.example"}, "spec": spec});
    target.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    let things = "/apis/work.example/v1/things";
    while target.get(ADMIN, things).await.code != 200 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    things.to_owned()
}

fn thing(text: String) -> String {
    json!({"apiVersion": "work.example/v1", "kind": "Thing", "metadata": {"name": "t"}, "text": text}).to_string()
}

/// Finding B14: the formatter of the standard library panics at more than 65,535 digits.
#[tokio::test]
async fn formats_numbers_with_any_number_of_digits() {
    let target = Target::start(&[]);
    let things = thing_with_rule(&target, "'%.70000f'.format([1.0]).size() == 70002").await;
    let answer = target.send(ADMIN, Method::POST, &things, JSON, thing("x".into())).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    target.assert_alive().await;
}

/// Finding B15: `replace` was charged by its input, and 20 KB became 1.1 GB.
#[tokio::test]
async fn charges_cel_function_results_before_evaluation() {
    let target = Target::start(&[]);
    let things = thing_with_rule(&target, "self.text.replace('x', self.text).size() >= 0").await;
    let answer = target.send(ADMIN, Method::POST, &things, JSON, thing("x".repeat(40_000))).await;
    assert_eq!(answer.code, 422, "{}", answer.body["message"]);
    assert!(target.memory().peak < MEMORY_LIMIT, "{:?}", target.memory());
    target.assert_alive().await;
}
