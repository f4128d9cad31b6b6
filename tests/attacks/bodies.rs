//! Bodies that cost far more memory, stack or time to decode than to send.

use std::time::Duration;

use reqwest::Method;

use crate::support::{ADMIN, Answer, Target, YAML};

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
        let (open, close) = ("[".repeat(400), "]".repeat(400));
        body.push_str(&format!("a{level}: &a{level} {open}*a{}{close}\n", level - 1));
    }
    let answer = send_review(&target, YAML, body).await;
    assert_bad_request(&answer, "yaml: exceeded max depth of 500");
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
    assert_bad_request(&answer, "aliases add more than 3145728 bytes");
    let grown = target.memory().peak - before;
    assert!(grown < 256 * MEBIBYTE, "the server took {} MiB more", grown / MEBIBYTE);
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
