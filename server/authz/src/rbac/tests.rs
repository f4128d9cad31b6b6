use std::sync::Arc;

use super::*;
use crate::policy_rule::PolicyRule;

fn bind(policy: &RbacPolicy, namespace: &str, name: &str, role: RoleRef, subject: Subject) {
    policy.set_binding(Binding { namespace: namespace.into(), name: name.into(), role, subjects: vec![subject] });
}

/// `verb group/resource[/subresource] [namespace [name]]`, or `verb /path`.
fn decide(policy: &Arc<RbacPolicy>, user: &User, request: &str) -> Decision {
    let words: Vec<&str> = request.split(' ').collect();
    let word = |i: usize| words.get(i).copied().unwrap_or("");
    if word(1).starts_with('/') {
        return RbacAuthorizer(Arc::clone(policy)).decide(&AuthorizationAttributes::path(user, word(0), word(1)));
    }
    let mut parts = word(1).split('/');
    let mut part = || parts.next().unwrap_or("");
    let (group, resource, subresource) = (part(), part(), part());
    let attributes = AuthorizationAttributes {
        namespace: word(2),
        name: word(3),
        subresource,
        ..AuthorizationAttributes::resource(user, word(0), group, resource)
    };
    RbacAuthorizer(Arc::clone(policy)).decide(&attributes)
}

fn alice() -> User {
    User::new("alice", ["dev", "system:authenticated"])
}

#[track_caller]
fn check(rule: PolicyRule, allowed: &[&str], refused: &[&str]) {
    let policy = Arc::new(RbacPolicy::default());
    policy.set_role("", "r", vec![rule]);
    bind(&policy, "", "b", RoleRef::ClusterRole("r".into()), Subject::User("alice".into()));
    for request in allowed {
        assert!(decide(&policy, &alice(), request).is_allowed(), "{request} should be allowed");
    }
    for request in refused {
        assert_eq!(decide(&policy, &alice(), request), Decision::NoOpinion("".into()), "{request}");
    }
}

#[test]
fn resource_rules_cover_requests() {
    check(
        PolicyRule::resources(&["get"], &["apps"], &["deployments"]),
        &["get apps/deployments ns d"],
        &["list apps/deployments ns", "get apps/deployments/scale ns d", "get batch/jobs ns j"],
    );
    check(PolicyRule::resources(&["*"], &["*"], &["*"]), &["escalate apps/deployments/scale ns d"], &["get /metrics"]);
    check(
        PolicyRule::resources(&["get"], &["apps"], &["*/scale"]),
        &["get apps/deployments/scale ns d"],
        &["get apps/deployments ns d"],
    );
    check(PolicyRule::resources(&["get"], &["apps"], &["deployments/*"]), &[], &["get apps/deployments/scale ns d"]);
    check(
        PolicyRule::resources(&["get"], &["apps"], &["deployments"]).named(&["d"]),
        &["get apps/deployments ns d"],
        &["get apps/deployments ns e", "get apps/deployments ns"],
    );
}

#[test]
fn non_resource_rules_cover_paths() {
    check(
        PolicyRule::paths(&["get"], &["/healthz", "/apis/*"]),
        &["get /healthz", "get /apis/apps", "get /apis/"],
        &["post /healthz", "get /healthz/etcd", "get /apis"],
    );
    check(PolicyRule::paths(&["*"], &["*"]), &["put /x"], &["get apps/deployments ns d"]);
}

#[test]
fn bindings_apply_to_their_subjects() {
    let policy = Arc::new(RbacPolicy::default());
    policy.set_role("ns", "reader", vec![PolicyRule::resources(&["get"], &["apps"], &["deployments"])]);
    bind(&policy, "ns", "by-group", RoleRef::Role("reader".into()), Subject::Group("dev".into()));
    bind(
        &policy,
        "ns",
        "by-account",
        RoleRef::Role("reader".into()),
        Subject::ServiceAccount(String::new(), "robot".into()),
    );
    let request = "get apps/deployments ns d";
    assert_eq!(
        decide(&policy, &alice(), request),
        Decision::Allow(r#"RBAC: allowed by RoleBinding "by-group/ns" of Role "reader" to Group "dev""#.into())
    );
    assert!(!decide(&policy, &alice(), "get apps/deployments other d").is_allowed());
    assert!(!decide(&policy, &alice(), "get apps/deployments").is_allowed());
    let robot = User::new("system:serviceaccount:ns:robot", ["x"]);
    assert_eq!(
        decide(&policy, &robot, request).reason(),
        r#"RBAC: allowed by RoleBinding "by-account/ns" of Role "reader" to ServiceAccount "robot/ns""#
    );
    assert!(!decide(&policy, &User::new("robot", ["x"]), request).is_allowed());
}

#[test]
fn changes_apply_immediately() {
    let policy = Arc::new(RbacPolicy::default());
    let request = "get apps/deployments ns d";
    bind(&policy, "", "b", RoleRef::ClusterRole("r".into()), Subject::User("alice".into()));
    assert_eq!(
        decide(&policy, &alice(), request).reason(),
        r#"RBAC: clusterrole.rbac.authorization.k8s.io "r" not found"#
    );
    policy.set_role("", "r", vec![PolicyRule::resources(&["get"], &["apps"], &["deployments"])]);
    assert!(decide(&policy, &alice(), request).is_allowed());
    bind(&policy, "", "b", RoleRef::ClusterRole("r".into()), Subject::User("bob".into()));
    assert!(!decide(&policy, &alice(), request).is_allowed());
    bind(&policy, "", "b", RoleRef::ClusterRole("r".into()), Subject::User("alice".into()));
    policy.remove_binding("", "b");
    policy.remove_role("", "r");
    assert_eq!(policy.rules_for(&alice(), "ns"), UserRules::default());
}

#[test]
fn visits_binding_once() {
    let policy = Arc::new(RbacPolicy::default());
    policy.set_role("", "r", vec![PolicyRule::paths(&["get"], &["/x"])]);
    let subjects = vec![Subject::Group("dev".into()), Subject::User("alice".into())];
    let role = RoleRef::ClusterRole("r".into());
    policy.set_binding(Binding { namespace: String::new(), name: "b".into(), role, subjects });
    assert_eq!(policy.rules_for(&alice(), "").rules.len(), 1);
    assert!(decide(&policy, &alice(), "get /x").reason().ends_with(r#"to Group "dev""#));
}
