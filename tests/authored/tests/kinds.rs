//! Effects of the keywords about kinds, versions, subresources, columns, selectable fields and
//! strategies.
//!
//! The kinds of `api-defs/garden.example.com` use them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::Ci;
use http::{Method, StatusCode};
use serde_json::{Value, json};

const TREES: &str = "/apis/garden.example.com/v1/namespaces/default/trees";
const BUSHES: &str = "/apis/garden.example.com/v1/bushes";
const MOSSES: &str = "/apis/garden.example.com/v1/mosses";
const SEEDS: &str = "/apis/garden.example.com/v1/seeds";

fn tree(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "garden.example.com/v1", "kind": "Tree", "metadata": {"name": name}, "spec": spec})
}

fn object(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "garden.example.com/v1", "kind": kind, "metadata": {"name": name}})
}

/// Creates a tree.
async fn create_tree(ci: &Ci, name: &str, spec: Value) -> Value {
    ci.done(Method::POST, TREES, &tree(name, &spec)).await
}

async fn get(ci: &Ci, path: &str) -> Value {
    ci.done(Method::GET, path, &Value::Null).await
}

/// Returns code and message of an error response.
async fn refused(ci: &Ci, method: Method, path: &str, body: &Value) -> (u16, String) {
    let (status, answer) = ci.send(method, path, body).await;
    assert!(!status.is_success(), "{answer}");
    (status.as_u16(), answer["message"].as_str().unwrap_or_default().to_string())
}

/// Returns the names of the objects in a list.
async fn names(ci: &Ci, path: &str) -> Vec<String> {
    let list = get(ci, path).await;
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_string()).collect()
}

/// Returns an entry of a discovery document.
fn resource<'d>(document: &'d Value, name: &str) -> &'d Value {
    document["resources"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn discovery_names_resources_as_declared() {
    let ci = Ci::start(&["--runtime-config=garden.example.com/v1alpha1=true"]);
    let v1 = get(&ci, "/apis/garden.example.com/v1").await;
    let trees = resource(&v1, "trees");
    assert_eq!(
        (&trees["singularName"], &trees["shortNames"], &trees["categories"], &trees["namespaced"]),
        (&json!("woodling"), &json!(["tr", "wd"]), &json!(["green"]), &json!(true))
    );
    assert_eq!(resource(&v1, "bushes")["verbs"], json!(["create", "delete", "get", "list", "watch"]));
    assert_eq!(resource(&v1, "bushes")["namespaced"], json!(false));
    assert_eq!(resource(&v1, "seeds")["verbs"], json!(["create", "delete", "get"]));
    assert_eq!(resource(&v1, "trees/roots")["verbs"], json!(["get", "update"]));
    let scale = resource(&v1, "trees/scale");
    assert_eq!(
        (&scale["group"], &scale["version"], &scale["kind"]),
        (&json!("autoscaling"), &json!("v1"), &json!("Scale"))
    );
    let beta = get(&ci, "/apis/garden.example.com/v1beta1").await;
    assert_eq!(resource(&beta, "trees")["verbs"], json!(["get", "list", "update"]));
    assert!(resource(&beta, "trees/scale").is_null() && !resource(&beta, "trees/status").is_null(), "{beta}");
    let versions = get(&ci, "/apis/garden.example.com").await;
    let versions: Vec<_> = versions["versions"].as_array().unwrap().iter().map(|one| &one["version"]).collect();
    // In the order of the group's version priorities; v1alpha2 is not served.
    assert_eq!(versions, ["v1", "v1alpha1", "v1beta1"]);
    assert!(resource(&beta, "bushes").is_null() && resource(&beta, "mosses").is_null(), "{beta}");
}

#[tokio::test]
async fn disabled_versions_are_not_served_and_deprecated_versions_warn() {
    let ci = Ci::start(&[]);
    let (status, _) = ci.send(Method::GET, "/apis/garden.example.com/v1alpha1", &Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let beta = TREES.replace("/v1/", "/v1beta1/");
    assert_eq!(
        ci.warnings(Method::GET, &beta, &Value::Null).await,
        [concat!(
            "299 - \"garden.example.com/v1beta1 Tree is deprecated in v1.5+, ",
            "unavailable in v1.90+; use garden.example.com/v1 Tree\""
        )]
    );
    assert_eq!(refused(&ci, Method::POST, &beta, &tree("a", &json!({}))).await.0, 405);
    assert_eq!(refused(&ci, Method::GET, &format!("{beta}/a/scale"), &Value::Null).await.0, 404);
}

#[tokio::test]
async fn names_follow_the_format_of_the_kind() {
    let ci = Ci::start(&[]);
    let wrong = ci.refused(Method::POST, TREES, &tree("1st", &json!({}))).await;
    assert!(
        wrong.len() == 1 && wrong[0].starts_with("metadata.name: Invalid value: \"1st\": a DNS-1035 label"),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn undeclared_verbs_are_rejected() {
    let ci = Ci::start(&[]);
    ci.done(Method::POST, BUSHES, &object("Bush", "a")).await;
    let bush = format!("{BUSHES}/a");
    assert_eq!(refused(&ci, Method::PUT, &bush, &object("Bush", "a")).await.0, 405);
    assert_eq!(refused(&ci, Method::PATCH, &format!("{bush}?fieldManager=a"), &object("Bush", "a")).await.0, 405);
    ci.done(Method::POST, SEEDS, &object("Seed", "a")).await;
    assert_eq!(refused(&ci, Method::GET, SEEDS, &Value::Null).await.0, 405);
}

#[tokio::test]
async fn delete_orphans_warns_and_returns_the_object() {
    let ci = Ci::start(&[]);
    for name in ["a", "b"] {
        ci.done(Method::POST, BUSHES, &object("Bush", name)).await;
    }
    let deleted = ci.done(Method::DELETE, &format!("{BUSHES}/a"), &json!({"propagationPolicy": "Background"})).await;
    assert_eq!((&deleted["kind"], &deleted["metadata"]["name"]), (&json!("Bush"), &json!("a")));
    let warnings = ci.warnings(Method::DELETE, &format!("{BUSHES}/b"), &Value::Null).await;
    assert_eq!(warnings, ["299 - \"the leaves of the bush stay\""]);
    assert_eq!(get(&ci, &format!("{BUSHES}/b")).await["metadata"]["finalizers"], json!(["orphan"]));
    ci.done(Method::POST, SEEDS, &object("Seed", "c")).await;
    let deleted = ci.done(Method::DELETE, &format!("{SEEDS}/c"), &Value::Null).await;
    assert_eq!((&deleted["kind"], &deleted["details"]["name"]), (&json!("Status"), &json!("c")));
}

#[tokio::test]
async fn update_creates_and_requires_resource_version() {
    let ci = Ci::start(&[]);
    let path = format!("{MOSSES}/a");
    let (status, made) = ci.send(Method::PUT, &path, &object("Moss", "a")).await;
    assert_eq!((status, &made["metadata"]["generation"]), (StatusCode::CREATED, &json!(1)), "{made}");
    let mut wider = made.clone();
    wider["area"] = json!(7);
    wider["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    let wrong = ci.refused(Method::PUT, &path, &wider).await;
    assert_eq!(wrong, ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"]);
    wider["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    let changed = ci.done(Method::PUT, &path, &wider).await;
    assert_eq!(changed["metadata"]["generation"], json!(2));
    // An update of a tree needs no resource version and does not create a tree.
    create_tree(&ci, "a", json!({})).await;
    ci.done(Method::PUT, &format!("{TREES}/a"), &tree("a", &json!({"owner": "me"}))).await;
    assert_eq!(refused(&ci, Method::PUT, &format!("{TREES}/b"), &tree("b", &json!({}))).await.0, 404);
}

#[tokio::test]
async fn graceful_deletion_uses_period_of_function() {
    let ci = Ci::start(&[]);
    ci.done(Method::PUT, &format!("{MOSSES}/a"), &object("Moss", "a")).await;
    let path = format!("{MOSSES}/a");
    let marked = ci.done(Method::DELETE, &path, &json!({"gracePeriodSeconds": 30})).await;
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], json!(60), "{marked}");
    ci.done(Method::DELETE, &path, &json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(refused(&ci, Method::GET, &path, &Value::Null).await.0, 404);
}

#[tokio::test]
async fn update_and_subresource_keep_reset_fields() {
    let ci = Ci::start(&[]);
    let planted = "2024-01-02T03:04:05Z";
    create_tree(&ci, "a", json!({"planted": planted, "owner": "me"})).await;
    let path = format!("{TREES}/a");
    let mut changed = tree("a", &json!({"owner": "you"}));
    changed["status"] = json!({"branches": 3});
    let changed = ci.done(Method::PUT, &path, &changed).await;
    assert_eq!(
        (&changed["spec"]["planted"], &changed["spec"]["owner"], &changed["status"]["branches"]),
        (&json!(planted), &json!("you"), &Value::Null)
    );
    let mut roots = tree("a", &json!({"owner": "they", "fruit": "apple", "planted": planted}));
    roots["status"] = json!({"branches": 5});
    let roots = ci.done(Method::PUT, &format!("{path}/roots"), &roots).await;
    assert_eq!(
        (&roots["spec"]["owner"], &roots["spec"]["fruit"], &roots["status"]["branches"]),
        (&json!("you"), &json!("apple"), &json!(5))
    );
}

#[tokio::test]
async fn scale_reads_and_writes_declared_paths() {
    let ci = Ci::start(&[]);
    create_tree(&ci, "a", json!({"branches": 3})).await;
    let path = format!("{TREES}/a");
    let mut status = tree("a", &json!({}));
    status["status"] = json!({"branches": 2, "selector": "leaf=green"});
    ci.done(Method::PUT, &format!("{path}/status"), &status).await;
    let mut scale = get(&ci, &format!("{path}/scale")).await;
    assert_eq!(
        (&scale["spec"], &scale["status"]),
        (&json!({"replicas": 3}), &json!({"replicas": 2, "selector": "leaf=green"}))
    );
    scale["spec"]["replicas"] = json!(9);
    ci.done(Method::PUT, &format!("{path}/scale"), &scale).await;
    assert_eq!(get(&ci, &path).await["spec"]["branches"], json!(9));
}

#[tokio::test]
async fn field_selectors_use_declared_names() {
    let ci = Ci::start(&[]);
    create_tree(&ci, "a", json!({"owner": "me", "fruit": "apple"})).await;
    create_tree(&ci, "b", json!({"owner": "you", "branches": 200})).await;
    for (selector, found) in [
        ("spec.owner=me", "a"),
        ("spec.gardener=you", "b"),
        ("size=large", "b"),
        ("size=small", "a"),
        ("spec.fruit=apple", "a"),
    ] {
        assert_eq!(names(&ci, &format!("{TREES}?fieldSelector={selector}")).await, [found], "{selector}");
    }
    let (status, why) = refused(&ci, Method::GET, &format!("{TREES}?fieldSelector=spec.tags=a"), &Value::Null).await;
    assert_eq!(status, 400);
    assert!(why.ends_with("Tree cannot be selected by spec.tags"), "{why}");
    let beta = format!("{}?fieldSelector=spec.fruit=apple", TREES.replace("/v1/", "/v1beta1/"));
    assert_eq!(refused(&ci, Method::GET, &beta, &Value::Null).await.0, 400);
}

#[tokio::test]
async fn strategy_functions_prepare_warn_and_delay_deletion() {
    let ci = Ci::start(&[]);
    let made = create_tree(&ci, "a", json!({"fruit": " apple "})).await;
    assert_eq!(made["spec"], json!({"owner": "garden", "branches": 1, "fruit": "apple"}));
    let path = format!("{TREES}/a");
    let warnings = ci.warnings(Method::PUT, &path, &tree("a", &json!({"branches": 101, "fruit": "apple"}))).await;
    assert_eq!(warnings, ["299 - \"spec.branches: the tree needs room\""]);
    let fewer = ci.done(Method::PUT, &path, &tree("a", &json!({"branches": 5, "fruit": "apple"}))).await;
    assert_eq!(fewer["spec"]["branches"], json!(101));
    let mut status = tree("a", &json!({}));
    status["status"] = json!({"protected": true});
    ci.done(Method::PUT, &format!("{path}/status"), &status).await;
    ci.done(Method::DELETE, &path, &Value::Null).await;
    let held = get(&ci, &path).await;
    assert!(held["metadata"]["deletionTimestamp"].is_string() && held["spec"].get("fruit").is_none(), "{held}");
    status["status"] = json!({"protected": false});
    ci.done(Method::PUT, &format!("{path}/status"), &status).await;
    assert_eq!(refused(&ci, Method::GET, &path, &Value::Null).await.0, 404);
}

#[tokio::test]
async fn open_enum_accepts_other_values() {
    let ci = Ci::start(&[]);
    for (name, shade) in [("a", "Light"), ("b", "DarkGreen"), ("c", "none")] {
        assert_eq!(create_tree(&ci, name, json!({"shade": shade})).await["spec"]["shade"], json!(shade));
    }
}

#[tokio::test]
async fn rejects_unknown_unqualified_finalizers() {
    let ci = Ci::start(&[]);
    let mut moss = object("Moss", "a");
    moss["metadata"]["finalizers"] = json!(["mine"]);
    let wrong = ci.refused(Method::PUT, &format!("{MOSSES}/a"), &moss).await;
    assert!(wrong.iter().any(|line| line.starts_with("metadata.finalizers[0]: Invalid value: \"mine\"")), "{wrong:?}");
}

/// Reads a path as a table.
async fn table(ci: &Ci, path: &str) -> (u16, Value) {
    let (status, table) = ci.get_as(path, "application/json;as=Table;v=v1;g=meta.k8s.io").await;
    (status.as_u16(), table)
}

#[tokio::test]
async fn tables_have_declared_columns_and_order() {
    let ci = Ci::start(&[]);
    let spec = json!({
        "owner": "me", "branches": 200, "planted": "2024-01-02T03:04:05Z", "tags": {"kind": "oak"},
        "birds": [{"name": "wren"}, {"name": "tit"}], "neighbours": {"matchLabels": {"row": "one"}},
    });
    create_tree(&ci, "a", spec).await;
    create_tree(&ci, "b", json!({})).await;
    let (_, table) = table(&ci, TREES).await;
    let columns = table["columnDefinitions"].as_array().unwrap();
    let column = |name: &str| columns.iter().find(|column| column["name"] == name).unwrap();
    assert_eq!((&column("Branches")["type"], &column("Branches")["format"]), (&json!("integer"), &json!("int32")));
    assert_eq!(column("Names of Birds")["priority"], json!(1));
    assert_eq!(column("Owner")["description"], json!("Owner of the tree."));
    assert_eq!(column("Branches")["description"], json!("Desired number of branches."));
    let rows = table["rows"].as_array().unwrap();
    let cells = |row: usize| rows[row]["cells"].as_array().unwrap();
    // The function orders by size: the smallest tree comes first.
    assert_eq!(
        cells(0)[..8],
        [
            json!("b"),
            json!("garden"),
            json!(1),
            json!(0),
            json!("none"),
            json!("<none>"),
            json!("<none>"),
            json!("small")
        ]
    );
    assert_eq!(
        cells(1)[..8],
        [
            json!("a"),
            json!("me"),
            json!(200),
            json!(2),
            json!("wren,tit"),
            json!("kind=oak"),
            json!("row=one"),
            json!("large")
        ]
    );
    assert_eq!(cells(0)[8], json!("unknown"));
    assert!(
        cells(1)[8].as_str().unwrap().ends_with('d') || cells(1)[8].as_str().unwrap().contains('y'),
        "{}",
        cells(1)[8]
    );
    assert_eq!(rows[1]["conditions"][0]["type"], json!("Tall"));
    assert!(rows[0].get("conditions").is_none_or(Value::is_null));
}

#[tokio::test]
async fn subresource_without_tables_rejects_table_format() {
    let ci = Ci::start(&[]);
    create_tree(&ci, "a", json!({})).await;
    assert_eq!(table(&ci, &format!("{TREES}/a/roots")).await.0, 406);
    assert_eq!(table(&ci, &format!("{TREES}/a/status")).await.0, 200);
}
