//! Out-of-range numbers (ToB 2019, parsing): in queries, paths, headers, and in bodies of every
//! format.

use reqwest::Method;
use serde_json::json;

use crate::support::{ADMIN, JSON, MERGE_PATCH, Target, YAML, answer};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// Numbers at and beyond the limits of their types, and strings that are not numbers.
const NUMBERS: [&str; 16] = [
    "-1",
    "-0",
    "+1",
    "1e3",
    "0x10",
    "1.5",
    "NaN",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999",
];

/// Fails unless the server answers without an internal error.
async fn assert_answered(target: &Target, method: Method, path: &str, media_type: &str, body: &str) {
    let answered = target.send(ADMIN, method.clone(), path, media_type, body).await;
    // 504 is upstream's code for a resource version that does not exist yet.
    let is_sound = answered.code < 500 || answered.code == 504;
    assert!(is_sound, "{method} {path} {body}: {} {}", answered.code, answered.body);
}

/// ToB 2019, for queries, paths and headers.
#[tokio::test]
async fn numbers_of_requests_are_parsed_with_checks() {
    let target = Target::start(&[]);
    target.create(MAPS, &json!({"metadata": {"name": "map"}})).await;
    for number in NUMBERS {
        for path in [
            format!("{MAPS}?limit={number}"),
            format!("{MAPS}?watch=1&resourceVersion=0&timeoutSeconds={number}"),
            format!("{MAPS}?resourceVersion={number}&timeoutSeconds=1"),
            format!("{MAPS}/map?resourceVersion={number}&timeoutSeconds=1"),
            format!("{MAPS}?timeout={number}s"),
            format!("/api/v1/nodes/http:one:{number}/proxy/"),
            format!("/api/v1/namespaces/default/pods/a/log?tailLines={number}&sinceSeconds={number}"),
            format!("/api/v1/namespaces/default/pods/a/portforward?ports={number}"),
        ] {
            // A watch may last; the response head is sufficient.
            let request = target.request(ADMIN, Method::GET, &path).timeout(std::time::Duration::from_secs(300));
            let response = request.send().await.unwrap();
            let code = response.status().as_u16();
            if code >= 500 && code != 504 {
                // As upstream, this code reports a resource version that is not a number.
                let text = response.text().await.unwrap();
                assert!(text.contains("strconv.ParseUint"), "{path}: {code} {text}");
            }
        }
        let delete = format!("{MAPS}/none?gracePeriodSeconds={number}");
        assert_answered(&target, Method::DELETE, &delete, JSON, "").await;
        let request = target.request(ADMIN, Method::GET, MAPS).header("Range", format!("bytes={number}-{number}"));
        assert!(answer(request.header("Impersonate-Uid", number)).await.code < 500);
    }
    target.assert_alive().await;
}

/// ToB 2019, for bodies: integers, quantities, durations and percentages.
#[tokio::test]
async fn numbers_of_bodies_are_parsed_with_checks() {
    let target = Target::start(&[]);
    let deployment = json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    target.create(DEPLOYMENTS, &deployment).await;
    let path = format!("{DEPLOYMENTS}/d");
    for number in NUMBERS {
        let patch = format!("{{\"spec\":{{\"replicas\":{number}}}}}");
        let patched = target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, patch).await;
        let replicas = &patched.body["spec"]["replicas"];
        let is_kept = patched.code == 200 && replicas.as_f64() == number.parse::<f64>().ok();
        assert!(is_kept || (400..500).contains(&patched.code), "{number}: {} {}", patched.code, patched.body);
        for format in [YAML, JSON] {
            let map = format!(
                "{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"n\",\"generation\":{number}}}}}"
            );
            assert_answered(&target, Method::POST, &format!("{MAPS}?dryRun=All"), format, &map).await;
        }
    }
    let limits = "/api/v1/namespaces/default/limitranges?dryRun=All";
    for quantity in NUMBERS.into_iter().chain([
        "1e999999999",
        "1E-999999999",
        "9223372036854775807Ei",
        "-1e18446744073709551616",
        "1n",
        "0.0000000000000000001n",
    ]) {
        let range =
            json!({"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", "max": {"cpu": quantity}}]}});
        assert_answered(&target, Method::POST, limits, JSON, &range.to_string()).await;
        let patch = json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": format!("{quantity}%")}}}}).to_string();
        assert_answered(&target, Method::PATCH, &path, MERGE_PATCH, &patch).await;
    }
    target.assert_alive().await;
}

/// ToB 2019, for protobuf: lengths and numbers of any size, of all wire types.
#[tokio::test]
async fn numbers_of_protobuf_are_parsed_with_checks() {
    let target = Target::start(&[]);
    let varints: [&[u8]; 4] = [
        &[0xff; 11],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff; 9],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ];
    for tag in 0..=255u8 {
        for varint in varints {
            let mut body = b"k8s\0".to_vec();
            body.push(tag);
            body.extend_from_slice(varint);
            let request = target.request(ADMIN, Method::POST, MAPS);
            let request = request.header("Content-Type", "application/vnd.kubernetes.protobuf").body(body);
            let answered = answer(request).await;
            assert!((400..500).contains(&answered.code), "tag {tag}: {} {}", answered.code, answered.body);
        }
    }
    target.assert_alive().await;
}
