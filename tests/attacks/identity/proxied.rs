//! Proxied requests: to aggregated servers, nodes, pods and services (finding A7).

use std::time::Instant;

use needs::needs;
use serde_json::{Value, json};

use super::{FORGED, FrontProxy, LONG, TIMEOUT, create_all, encoded, write};
use crate::backend::Backend;
use crate::common::own_address;
use crate::support::{ADMIN, Target, token};
use crate::tls::{Authority, Connection, Dialer, next_frame};

const THINGS: &str = "/apis/shop.example.com/v1/things";

/// Returns the headers that the backend received, as `name: value`.
async fn received(connection: &mut Connection, path: &str, headers: &[(&str, &str)]) -> Vec<String> {
    let begin = Instant::now();
    loop {
        let response = connection.send(path, headers).await.unwrap();
        let (code, mut body, mut text) = (response.status().as_u16(), response.into_body(), Vec::new());
        while let Some(frame) = next_frame(&mut body).await {
            text.extend_from_slice(&frame.unwrap());
        }
        let echo: Value = serde_json::from_slice(&text).unwrap_or_default();
        if let Some(headers) = echo["headers"].as_array() {
            let text = |pair: &Value| format!("{}: {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
            return headers.iter().map(text).collect();
        }
        // An aggregated server is used after its first successful probe.
        assert!(begin.elapsed() < TIMEOUT, "{path}: {code} {}", String::from_utf8_lossy(&text));
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// Fails when a received header carries a client credential or an identity other than `user`.
fn assert_clean(client: &str, received: &[String], user: Option<&str>) {
    let of = |name: &str| received.iter().filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>();
    for name in ["authorization: ", "x-user: ", "x-uid: ", "x-group: ", "x-extra-", "sec-websocket-protocol: "] {
        assert!(of(name).is_empty(), "{client}: {name} in {received:#?}");
    }
    assert_eq!(of("x-remote-user: "), user.into_iter().collect::<Vec<_>>(), "{client}: {received:#?}");
    assert!(!of("x-remote-group: ").contains(&"system:masters"), "{client}: {received:#?}");
    assert!(of("x-remote-uid: ").iter().all(|uid| *uid != "0"), "{client}: {received:#?}");
    assert!(
        !received.iter().any(|line| line.contains("forged") || line.contains("c2VjcmV0")),
        "{client}: {received:#?}"
    );
}

/// Finding A7, and the suspicion about requests of front proxies: identity headers and credentials
/// of a client do not reach an aggregated server, for every authentication method.
#[tokio::test]
async fn client_identity_is_not_forwarded_to_aggregated_servers() {
    let (proxies, recorder, clients) = (FrontProxy::new(), Backend::recorder().await, Authority::new("clients"));
    let file = write(proxies.folder.path(), "clients.crt", &clients.pem);
    let client_ca = format!("--client-ca-file={file}");
    let flags: Vec<&str> = proxies.flags().into_iter().chain([client_ca.as_str()]).collect();
    let target = Target::start(&flags);
    let service = json!({"name": "back", "namespace": "default", "port": recorder.port});
    let api = json!({"metadata": {"name": "v1.shop.example.com"}, "spec": {"group": "shop.example.com", "version": "v1",
        "groupPriorityMinimum": 1000, "versionPriority": 15, "service": service,
        "caBundle": encoded(&recorder.certificate)}});
    let back = json!({"metadata": {"name": "back"}, "spec": {"type": "ExternalName", "externalName": "localhost"}});
    create_all(
        &target,
        &[("/api/v1/namespaces/default/services", back), ("/apis/apiregistration.k8s.io/v1/apiservices", api)],
    )
    .await;
    let rules = json!([{"apiGroups": ["shop.example.com"], "resources": ["*"], "verbs": ["*"]}]);
    for user in ["alice", "jane", "system:anonymous", "mallory"] {
        target.grant(user, "", rules.clone()).await;
    }
    let impersonates = json!([{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}]);
    target
        .create(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            &json!({"metadata": {"name": "impersonator"}, "rules": impersonates}),
        )
        .await;
    target
        .create(
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            &json!({
        "metadata": {"name": "impersonator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "impersonator"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}]}),
        )
        .await;

    let [alice, mallory] = ["alice", "mallory"].map(|user| format!("Bearer {}", token(user)));
    let jane = clients.issue("jane", &[], LONG);
    let from_proxy: Vec<(&str, &str)> = FORGED
        .iter()
        .filter(|(name, _)| !name.to_lowercase().ends_with("user") && !name.to_lowercase().ends_with("group"))
        .copied()
        .chain([("X-User", "alice"), ("Authorization", alice.as_str())])
        .collect();
    let forged = |more: &[(&'static str, &str)]| -> Vec<(String, String)> {
        FORGED.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    for (client, certificate, headers, user) in [
        ("a token", None, forged(&[("Authorization", &alice)]), "alice"),
        ("a certificate", Some(&jane), forged(&[("Authorization", "Bearer secret")]), "jane"),
        ("nothing", None, forged(&[("Authorization", "Basic secret")]), "system:anonymous"),
        ("impersonation", None, forged(&[("Authorization", &mallory), ("Impersonate-User", "alice")]), "alice"),
    ] {
        let mut connection = Dialer::new(&target.server, certificate, false).http().await.unwrap();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let received = received(&mut connection, THINGS, &headers).await;
        assert_clean(client, &received, Some(user));
        assert!(!received.iter().any(|line| line.starts_with("impersonate-")), "{received:#?}");
    }
    // A front proxy names the user in one of the headers and forwards the client's other headers.
    let mut connection = Dialer::new(&target.server, Some(&proxies.pair), false).http().await.unwrap();
    let received = received(&mut connection, THINGS, &from_proxy).await;
    let named: Vec<&String> = received.iter().filter(|line| line.starts_with("x-remote-user: ")).collect();
    assert_eq!(named, ["x-remote-user: alice"]);
    assert!(!received.iter().any(|line| line.starts_with("authorization: ") || line.starts_with("x-user: ")));
    assert!(!received.iter().any(|line| line.starts_with("x-extra-") || line.starts_with("x-uid: ")), "{received:#?}");
    target.assert_alive().await;
}

/// Finding A7, for nodes, pods and services.
#[needs(network)]
#[tokio::test]
async fn client_identity_is_not_forwarded_to_nodes_pods_and_services() {
    let ip = own_address();
    let (proxies, recorder) = (FrontProxy::new(), Backend::recorder().await);
    let target = Target::start(&proxies.flags());
    let port = recorder.port;
    let pod = json!({"metadata": {"name": "web"}, "spec": {"nodeName": "one", "automountServiceAccountToken": false,
        "containers": [{"name": "main", "image": "nginx"}]}});
    let subset = json!({"addresses": [{"ip": ip, "targetRef": {"kind": "Pod", "name": "web", "namespace": "default"}}],
        "ports": [{"name": "main", "port": port}]});
    create_all(
        &target,
        &[
            ("/api/v1/nodes", json!({"metadata": {"name": "one"}})),
            ("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "default"}})),
            ("/api/v1/namespaces/default/pods", pod),
            (
                "/api/v1/namespaces/default/services",
                json!({"metadata": {"name": "web"}, "spec": {"ports": [{"name": "main", "port": 443}]}}),
            ),
            ("/api/v1/namespaces/default/endpoints", json!({"metadata": {"name": "web"}, "subsets": [subset]})),
        ],
    )
    .await;
    let endpoint = json!({"addresses": [{"type": "InternalIP", "address": ip}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}});
    target.set_status("/api/v1/nodes/one", endpoint).await;
    let running = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]});
    target.set_status("/api/v1/namespaces/default/pods/web", running).await;

    let admin = format!("Bearer {}", token(ADMIN));
    let paths = [
        "/api/v1/nodes/one/proxy/x".to_owned(),
        format!("/api/v1/namespaces/default/pods/https:web:{port}/proxy/x"),
        "/api/v1/namespaces/default/services/https:web:main/proxy/x".to_owned(),
    ];
    for path in &paths {
        let by_token: Vec<_> = FORGED.into_iter().chain([("Authorization", admin.as_str())]).collect();
        let mut connection = Dialer::new(&target.server, None, false).http().await.unwrap();
        assert_clean(path, &received(&mut connection, path, &by_token).await, None);
        // A front proxy: neither its identity headers nor the client's credentials are forwarded.
        let mut connection = Dialer::new(&target.server, Some(&proxies.pair), false).http().await.unwrap();
        assert_clean(path, &received(&mut connection, path, &by_token).await, None);
    }
    target.assert_alive().await;
}
