//! Bodies that cost far more memory, stack or time to decode than to send.

use std::time::Duration;

use reqwest::Method;

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target, YAML};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MEBIBYTE: u64 = 1 << 20;

/// Sends a review body to a server on which `mallory` has no rights: self reviews are decoded for
/// every user.
async fn send_review(target: &Target, media_type: &str, body: String) -> Answer {
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    target.send("mallory", Method::POST, path, media_type, body).await
}

fn assert_bad_request(answer: &Answer, message: &str) {
    let text = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 400 && text.contains(message), "{}: {text:.500}", answer.code);
}

/// Finding B1: 200 anchors, each nested deeply around an alias of the previous one.
///
/// They overflow the stack of a reader that counts depth only where anchors are defined.
#[tokio::test]
async fn rejects_yaml_nested_through_aliases() {
    let target = Target::start(&[]);
    let mut body = String::from("a0: &a0 []\n");
    for level in 1..200 {
        let (open, close) = ("[".repeat(200), "]".repeat(200));
        body.push_str(&format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1));
    }
    let answer = send_review(&target, YAML, body).await;
    assert_bad_request(&answer, "yaml: exceeded max depth of 256");
    target.assert_alive().await;
}

/// Finding B4: 230 KB of aliases of one long string; copying the string for each alias takes
/// gigabytes.
#[tokio::test]
async fn bounds_expansion_of_string_aliases() {
    let target = Target::start(&[]);
    let before = target.memory().peak;
    let aliases = vec!["*a"; 30_000].join(",");
    let body = format!("a: &a {}\nb: [{aliases}]\n", "x".repeat(140_000));
    let answer = send_review(&target, YAML, body).await;
    let grown = target.memory().peak - before;
    assert!(grown < 256 * MEBIBYTE, "the server took {} MiB more", grown / MEBIBYTE);
    assert_bad_request(&answer, "aliases add more than 3145728 bytes");
    target.assert_alive().await;
}

/// Finding B5: 3 MB bodies with a hundred thousand anchors block a server that looks up anchors
/// linearly.
#[tokio::test]
async fn many_anchors_do_not_delay_other_clients() {
    let target = Target::start(&[]);
    let probe = target.probe(ADMIN, CONFIG_MAPS);
    let line = |index| format!("- &anchor{index:07} x\n- *anchor{:07}\n", index / 2);
    let body: String = (0..70_000).map(line).collect();
    let sent = (0..3).map(|_| send_review(&target, YAML, body.clone()));
    for answer in futures_util::future::join_all(sent).await {
        assert_bad_request(&answer, "cannot unmarshal array");
    }
    let slowest = probe.finish().percentile(100);
    assert!(slowest < Duration::from_secs(15), "another user waited {slowest:?}");
}

/// Finding B8: an empty container of three bytes takes several hundred bytes once decoded.
///
/// Defaulting and validation add more.
#[tokio::test]
async fn rejects_bodies_above_the_memory_budget() {
    let target = Target::start(&[]);
    let rules = serde_json::json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}]);
    target.grant("mallory", "default", rules).await;
    target.create_default_account().await;
    let before = target.memory().peak;
    let containers = vec!["{}"; 300_000].join(",");
    let body = format!("{{\"metadata\":{{\"name\":\"p\"}},\"spec\":{{\"containers\":[{containers}]}}}}");
    let answer = target.send("mallory", Method::POST, "/api/v1/namespaces/default/pods", JSON, body).await;
    let grown = target.memory().peak - before;
    assert!(grown < 256 * MEBIBYTE, "the server took {} MiB more", grown / MEBIBYTE);
    let text = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 413 && text.contains("bytes of memory"), "{}: {text:.500}", answer.code);
    target.assert_alive().await;
}

/// Finding B8: the memory budget also applies to delete options and patches.
///
/// The answer is 413, not 400: 400 marks a body as malformed, so clients do not retry.
#[tokio::test]
async fn rejects_options_and_patches_above_the_memory_budget() {
    let target = Target::start(&["--max-request-memory=16777216"]);
    let map = serde_json::json!({"metadata": {"name": "settings"}, "data": {"a": "b"}});
    target.create(CONFIG_MAPS, &map).await;
    let path = &format!("{CONFIG_MAPS}/settings");
    let empty = vec!["{}"; 300_000].join(",");
    let apply = format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"settings\"}},\"data\":[{empty}]}}"
    );
    let options = format!("{{\"dryRun\":[{}]}}", vec!["\"\""; 400_000].join(","));
    let bodies = [
        (Method::DELETE, path.clone(), JSON, options),
        (Method::PATCH, path.clone(), JSON_PATCH, format!("[{empty}]")),
        (Method::PATCH, path.clone(), MERGE_PATCH, format!("{{\"data\":[{empty}]}}")),
        (Method::PATCH, path.clone(), STRATEGIC_PATCH, format!("{{\"data\":[{empty}]}}")),
        (Method::PATCH, format!("{path}?fieldManager=m"), APPLY_PATCH, apply),
    ];
    for (method, path, media_type, body) in bodies {
        let answer = target.send(ADMIN, method.clone(), &path, media_type, body).await;
        let text = answer.body["message"].as_str().unwrap_or_default();
        assert!(
            answer.code == 413 && text.contains("bytes of memory"),
            "{method} {media_type}: {} {text:.300}",
            answer.code
        );
    }
    target.assert_alive().await;
}

/// Finding B17: a grace period of 292 billion years overflows the deletion timestamp.
#[tokio::test]
async fn limits_deletion_timestamp_to_year_9999() {
    let target = Target::start(&[]);
    let account = serde_json::json!({"metadata": {"name": "default"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    target.send(ADMIN, Method::POST, accounts, JSON, account.to_string()).await;
    let pod = serde_json::json!({
        "metadata": {"name": "held"},
        "spec": {"nodeName": "node-a", "containers": [{"name": "c", "image": "i"}]},
    });
    target.create("/api/v1/namespaces/default/pods", &pod).await;
    let path = "/api/v1/namespaces/default/pods/held";
    let delete = format!("{path}?gracePeriodSeconds={}", i64::MAX);
    assert_eq!(target.send(ADMIN, Method::DELETE, &delete, JSON, "").await.code, 200);
    let read = target.get(ADMIN, path).await;
    assert_eq!(read.body["metadata"]["deletionTimestamp"], "9999-12-31T23:59:59Z", "{}", read.body["metadata"]);
    let labels = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let patched = target.send(ADMIN, Method::PATCH, path, MERGE_PATCH, labels).await;
    assert_eq!(patched.code, 200, "the object stays writable: {}", patched.body);
}

/// Finding B19: an object accepted in one format is readable and listable in all formats.
///
/// The size of the encoded object stays in proportion.
#[tokio::test]
async fn serves_deepest_objects_in_every_format() {
    let target = Target::start(&[]);
    let revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let revision = |name: &str, depth: usize| {
        let data = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        format!("{{\"metadata\":{{\"name\":\"{name}\"}},\"data\":{data},\"revision\":1}}")
    };
    let deep = target.send(ADMIN, Method::POST, revisions, JSON, revision("too-deep", 9000)).await;
    assert_bad_request(&deep, "exceeded max depth");
    let deepest = target.send(ADMIN, Method::POST, revisions, JSON, revision("deepest", 255)).await;
    assert_eq!(deepest.code, 201, "{:.500}", deepest.body.to_string());
    for media_type in [JSON, YAML, "application/json;as=Table;v=v1;g=meta.k8s.io"] {
        for path in [revisions.to_owned(), format!("{revisions}/deepest"), format!("{revisions}/deepest?pretty=true")] {
            let answer = target.request(ADMIN, Method::GET, &path).header("Accept", media_type).send().await.unwrap();
            let code = answer.status().as_u16();
            let size = answer.bytes().await.unwrap().len();
            assert!(code == 200 && size < 1 << 20, "{media_type} of {path}: {code}, {size} bytes");
        }
    }
    target.assert_alive().await;
}
