//! Repeated changes of custom resource definitions (finding B18).

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, MERGE_PATCH, Target};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Number of printer columns of the definition, and bytes of each column's description.
const COLUMNS: usize = 10;
const DESCRIPTION: usize = 100_000;
/// Number of changes until memory is stable, and number of measured changes.
const BEFORE: usize = 20;
const MEASURED: usize = 80;

fn definition(change: usize) -> Value {
    let column = |number: usize| {
        json!({"name": format!("c{number}"), "type": "string", "jsonPath": format!(".spec.c{number}"),
            "description": format!("{change} {}", "x".repeat(DESCRIPTION))})
    };
    let columns: Vec<Value> = (0..COLUMNS).map(column).collect();
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": columns});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing"}, "versions": [version]}})
}

/// Changes the columns `count` times; waits until each change is served before the next one.
async fn change(target: &Target, from: usize, count: usize) {
    let path = format!("{DEFINITIONS}/things.example.com");
    for number in from..from + count {
        // A JSON merge patch: controllers write conditions meanwhile, so an update could conflict.
        let patch = json!({"spec": {"versions": definition(number)["spec"]["versions"]}}).to_string();
        let patched = target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, patch).await;
        assert_eq!(patched.code, 200, "{}", patched.body["message"]);
        loop {
            let things = "/apis/example.com/v1/namespaces/default/things";
            let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
            let request = target.request(ADMIN, Method::GET, things).header("Accept", table);
            let shown = crate::support::answer(request).await.body;
            let mut columns = shown["columnDefinitions"].as_array().into_iter().flatten();
            let column = columns.find(|column| column["name"] == "c0");
            let description = column.and_then(|column| column["description"].as_str()).unwrap_or_default();
            if description.starts_with(&format!("{number} ")) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

/// Finding B18: the columns of every change, 1 MB each time, leaked several times over.
#[tokio::test]
async fn changed_columns_are_freed() {
    let target = Target::start(&[]);
    target.create(DEFINITIONS, &definition(0)).await;
    let begin = std::time::Instant::now();
    change(&target, 1, BEFORE).await;
    println!("{BEFORE} changes: {:?}", begin.elapsed());
    let before = target.memory().resident;
    change(&target, 1 + BEFORE, MEASURED).await;
    let grown = target.memory().resident.saturating_sub(before);
    let leaked = (MEASURED * COLUMNS * DESCRIPTION) as u64;
    println!("{} changes: {} KB more; columns of all changes take {} KB", MEASURED, grown >> 10, leaked >> 10);
    assert!(grown < leaked, "the server took {} KB more", grown >> 10);
    target.assert_alive().await;
}
