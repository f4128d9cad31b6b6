//! Termination of a namespace (CVE-2024-7598).

use reqwest::Method;
use serde_json::json;

use crate::support::{ADMIN, JSON, Target};

/// CVE-2024-7598: pods kept running after the network policies of their namespace were deleted.
///
/// kube-controller-manager deletes the contents of a namespace, in its order. This server deletes
/// none of them and rejects creates in the terminating namespace.
#[tokio::test]
async fn terminating_namespace_keeps_network_policies() {
    let target = Target::start(&[]);
    target.create_namespace("team").await;
    let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "main", "image": "nginx"}]});
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": spec});
    let policy =
        |name: &str| json!({"metadata": {"name": name}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
    let (pods, policies) =
        ("/api/v1/namespaces/team/pods", "/apis/networking.k8s.io/v1/namespaces/team/networkpolicies");
    target.create(pods, &pod("web")).await;
    target.create(policies, &policy("closed")).await;
    let deleted = target.send(ADMIN, Method::DELETE, "/api/v1/namespaces/team", JSON, "").await;
    assert_eq!((deleted.code, &deleted.body["status"]["phase"]), (200, &json!("Terminating")), "{}", deleted.body);

    // A second delete does not complete the termination either.
    let again = target.send(ADMIN, Method::DELETE, "/api/v1/namespaces/team", JSON, "").await;
    assert!([200, 202, 409].contains(&again.code), "{} {}", again.code, again.body);
    for path in [format!("{pods}/web"), format!("{policies}/closed"), "/api/v1/namespaces/team".to_owned()] {
        let found = target.get(ADMIN, &path).await;
        assert_eq!(found.code, 200, "{path}: {}", found.body);
    }
    for (path, object) in [(pods, pod("late")), (policies, policy("late"))] {
        let refused = target.send(ADMIN, Method::POST, path, JSON, object.to_string()).await;
        assert_eq!(refused.code, 403, "{path}: {}", refused.body);
        assert!(refused.body["message"].as_str().unwrap().contains("is being terminated"), "{}", refused.body);
    }
    target.assert_alive().await;
}
