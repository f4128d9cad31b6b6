//! Bodies that cost far more memory, stack or time to decode than to send.

use std::time::Duration;

use reqwest::Method;

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target, YAML};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MEBIBYTE: u64 = 1 << 20;

/// A server in which `mallory` has no rights: the body of a review of oneself is decoded nevertheless.
async fn send_review(target: &Target, media_type: &str, body: String) -> Answer {
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    target.send("mallory", Method::POST, path, media_type, body).await
}

fn assert_bad_request(answer: &Answer, message: &str) {
    let text = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 400 && text.contains(message), "{}: {text:.500}", answer.code);
}

/// Finding B1: 200 anchors, each nested deeply around an alias of the one before it, overflow the stack of a reader that counts
/// depth only where anchors stand.
#[tokio::test]
async fn rejects_yaml_that_is_deep_through_aliases() {
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

/// Finding B4: 230 KB of aliases of one long string are several gigabytes when each alias becomes a copy.
#[tokio::test]
async fn bounds_what_aliases_of_long_strings_add() {
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

/// Finding B5: bodies of 3 MB with a hundred thousand anchors freeze a server that looks anchors up one by one.
#[tokio::test]
async fn reads_many_anchors_while_others_are_served() {
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

/// Finding B8: each empty container of three bytes takes several hundred once it is decoded, more when it is defaulted and validated.
#[tokio::test]
async fn refuses_bodies_that_take_far_more_memory_than_they_send() {
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

/// Finding B8: delete options and patches are bodies too. An answer of 400 calls them malformed, so that clients do not try again.
#[tokio::test]
async fn refuses_options_and_patches_above_the_budget_as_too_large() {
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

/// Finding B17: a grace period of 292 billion years overflows the deletion time.
#[tokio::test]
async fn keeps_deletion_times_that_clients_can_read() {
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

/// Finding B19: what one format accepts must be readable, and listable, in all others, and printing it must not cost a multiple of it.
#[tokio::test]
async fn reads_the_deepest_objects_in_every_format() {
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
