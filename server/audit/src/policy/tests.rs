use super::*;
use crate::level::Stage;
use http::Method;

fn policy(rules: &str) -> Result<Policy, Error> {
    Policy::parse(format!("apiVersion: audit.k8s.io/v1\nkind: Policy\n{rules}").as_bytes())
}

#[test]
fn first_matching_rule_applies() {
    let policy = policy(
        r#"
omitStages: [RequestReceived]
rules:
- {level: None, users: [probe]}
- {level: Request, userGroups: [ops], verbs: [create, patch], omitStages: [Panic], omitManagedFields: true}
- {level: RequestResponse, resources: [{group: "", resources: [pods, pods/log, "*/scale"]}, {group: apps}], namespaces: [shop]}
- {level: Metadata, resources: [{group: "*", resources: ["nodes/*", secrets], resourceNames: [one]}]}
- {level: Request, nonResourceURLs: [/version, "/healthz*"]}
"#,
    )
    .unwrap();
    let check = |user: &str, group: &str, method: &Method, uri: &str, expect: Level| {
        let info = RequestInfo::new(method, &uri.parse().unwrap()).unwrap();
        assert_eq!(
            policy.config(Some(&User::new(user, [group])), &info).level,
            expect,
            "{user} {group} {method} {uri}"
        );
    };
    let get = &Method::GET;
    for (user, group, method, uri, expect) in [
        ("probe", "ops", &Method::POST, "/api/v1/namespaces/shop/pods", Level::None),
        ("jane", "ops", &Method::POST, "/api/v1/namespaces", Level::Request),
        ("jane", "ops", get, "/api/v1/namespaces", Level::None),
        ("jane", "dev", get, "/api/v1/namespaces/shop/pods", Level::RequestResponse),
        ("jane", "dev", get, "/api/v1/namespaces/shop/pods/p/log", Level::RequestResponse),
        ("jane", "dev", get, "/api/v1/namespaces/shop/pods/p/exec", Level::None),
        ("jane", "dev", get, "/apis/apps/v1/namespaces/shop/deployments/d/scale", Level::RequestResponse),
        ("jane", "dev", get, "/apis/x/v1/namespaces/shop/things/t/scale", Level::None),
        ("jane", "dev", get, "/api/v1/namespaces/other/pods", Level::None),
        ("jane", "dev", get, "/api/v1/nodes/one/status", Level::Metadata),
        ("jane", "dev", get, "/api/v1/nodes/one", Level::Metadata),
        ("jane", "dev", get, "/api/v1/nodes/two", Level::None),
        ("jane", "dev", get, "/version", Level::Request),
        ("jane", "dev", get, "/healthz/etcd", Level::Request),
        ("jane", "dev", get, "/metrics", Level::None),
    ] {
        check(user, group, method, uri, expect);
    }
    let info = RequestInfo::new(&Method::POST, &"/api/v1/nodes".parse().unwrap()).unwrap();
    let config = policy.config(Some(&User::new("jane", ["ops"])), &info);
    let omitted = [Stage::RequestReceived, Stage::ResponseStarted, Stage::ResponseComplete, Stage::Panic]
        .map(|stage| config.omitted.contains(stage));
    assert_eq!((omitted, config.omits_managed_fields), ([true, false, false, true], true));
    assert_eq!(policy.config(None, &info), RequestAuditConfig::default(), "an unauthenticated request has no groups");
}

#[test]
fn rejects_invalid_policies() {
    for (rules, expect) in [
        ("rules: []", "loaded illegal policy with 0 rules"),
        ("rules: [{users: [a]}]", "rules[0].level: Required value"),
        (
            "rules: [{level: Loud}]",
            r#"rules[0].level: Unsupported value: "Loud": supported values: "None", "Metadata", "Request", "RequestResponse""#,
        ),
        (
            "omitStages: [Later]\nrules: [{level: None, nonResourceURLs: [a, '/*/b'], namespaces: [x]}]",
            r#"[omitStages[0]: Invalid value: "Later": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic, rules[0].nonResourceURLs[0]: Invalid value: "a": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/*/b": non-resource URL wildcards '*' must be the final character of the rule, rules[0].nonResourceURLs: Invalid value: ["a","/*/b"]: rules cannot apply to both regular resources and non-resource URLs]"#,
        ),
        (
            "rules: [{level: None, resources: [{group: a/v1, resourceNames: [x]}]}]",
            r#"[rules[0].resources.group: Invalid value: "a/v1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource]"#,
        ),
    ] {
        assert_eq!(policy(rules).unwrap_err().to_string(), expect);
    }
    assert!(policy("rules: [{level: None, odd: 1}]").is_ok(), "as upstream, unknown fields are only warned of");
}
