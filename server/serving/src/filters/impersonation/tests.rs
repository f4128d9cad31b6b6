use authz::rbac::{Binding, RbacAuthorizer, RbacPolicy, RoleRef, Subject};
use authz::{PolicyRule, UnionAuthorizer};
use request::testing::{echo_user, failure, request_by, seen};

use super::*;

const AUTHN: &str = "authentication.k8s.io";

fn filter(rules: Vec<PolicyRule>, constrained: bool) -> WithImpersonation<impl Handler> {
    let policy = RbacPolicy::default();
    policy.set_role("", "r", rules);
    let subjects = vec![Subject::User("robot".into()), Subject::Group("robots".into())];
    policy.set_binding(Binding {
        namespace: String::new(),
        name: "b".into(),
        role: RoleRef::ClusterRole("r".into()),
        subjects,
    });
    let rbac: Arc<dyn Authorizer> = Arc::new(RbacAuthorizer(policy));
    WithImpersonation::new(echo_user(), Arc::new(UnionAuthorizer::new([rbac])), constrained)
}

/// A request with the headers `user`, `group`, `uid`, `extra-key`.
fn impersonating(by: User, headers: &[(&str, &str)]) -> Request {
    let mut request = request_by(by, "GET", "/api/v1/namespaces/ns/pods");
    for (name, value) in headers {
        let name: http::HeaderName = format!("impersonate-{name}").parse().unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    request
}

fn admin() -> User {
    User::new("admin", ["system:masters"])
}

fn robot() -> User {
    User::new("robot", ["dev"])
}

async fn by_admin(headers: &[(&str, &str)]) -> String {
    seen(filter(vec![], true).handle(impersonating(admin(), headers)).await).await.1
}

#[tokio::test]
async fn administrator_impersonates_any_user() {
    for (headers, expect) in [
        (&[("user", "carol")][..], r#"carol ["system:authenticated"] "#),
        (
            &[("user", "carol"), ("group", "dev"), ("group", "ops"), ("uid", "u")],
            r#"carol ["dev", "ops", "system:authenticated"] u"#,
        ),
        (&[("user", "system:anonymous")], r#"system:anonymous ["system:unauthenticated"] "#),
        (&[("user", "carol"), ("group", "system:unauthenticated")], r#"carol ["system:unauthenticated"] "#),
        (&[("user", "x"), ("group", "")], r#"x ["", "system:authenticated"] "#),
        (&[("user", "system:node:n1")], r#"system:node:n1 ["system:nodes", "system:authenticated"] "#),
        (
            &[("user", "system:serviceaccount:ns:a")],
            r#"system:serviceaccount:ns:a ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"] "#,
        ),
        (&[("user", "")], r#"admin ["system:masters"] "#),
    ] {
        assert_eq!(by_admin(headers).await, expect);
    }
}

#[test]
fn extras_have_keys() {
    let wanted = |name: &str| {
        headers::wanted(impersonating(admin(), &[("user", "x"), (name, "v")]).headers()).unwrap().unwrap().extra
    };
    for (name, key) in
        [("extra-acme.io%2Fproject", "acme.io/project"), ("extra-a%zz", "a%zz"), ("extra-FooBar", "foobar")]
    {
        assert_eq!(wanted(name)[key], ["v"], "{name}");
    }
}

#[tokio::test]
async fn removes_impersonation_headers() {
    let inner = request::handler::FromFn(|request: Request| {
        assert!(!request.headers().keys().any(|name| name.as_str().starts_with("impersonate")));
        Response::default()
    });
    let filter = WithImpersonation::new(inner, Arc::new(authz::AlwaysAllow), true);
    filter.handle(impersonating(admin(), &[("user", "x"), ("group", "g"), ("extra-k", "v"), ("uid", "u")])).await;
}

#[tokio::test]
async fn rejects_impersonation_without_user_name() {
    let of = async |headers: &[(&str, &str)], constrained| {
        failure(filter(vec![], constrained).handle(impersonating(admin(), headers)).await).await
    };
    for (header, value, what) in [
        ("group", "dev", r#"UID:"", Groups:[]string{"dev"}, Extra:map[string][]string(nil)"#),
        ("extra-a", "b", r#"UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}}"#),
        ("uid", "b", r#"UID:"b", Groups:[]string(nil), Extra:map[string][]string(nil)"#),
    ] {
        let message = format!(r#"requested &user.DefaultInfo{{Name:"", {what}}} without impersonating a user name"#);
        assert_eq!(of(&[(header, value)], true).await, (400, message));
    }
    assert_eq!(
        of(&[("group", "ops")], false).await,
        (400, "requested [{Group  ops    }] without impersonating a user".into())
    );
}

#[tokio::test]
async fn legacy_permission_allows_all_actions() {
    let rules = vec![
        PolicyRule::resources(&["impersonate"], &[""], &["users"]).named(&["carol"]),
        PolicyRule::resources(&["impersonate"], &[AUTHN], &["userextras/scopes"]).named(&["view"]),
    ];
    for constrained in [false, true] {
        let filter = filter(rules.clone(), constrained);
        let of = async |headers: &[(&str, &str)]| failure(filter.handle(impersonating(robot(), headers)).await).await;
        assert_eq!(of(&[("user", "carol"), ("extra-scopes", "view")]).await.0, 200);
        let dave = r#"users "dave" is forbidden: User "robot" cannot impersonate resource "users" in API group "" at the cluster scope"#;
        assert_eq!(of(&[("user", "dave")]).await, (403, dave.into()));
        let edit = r#"userextras.authentication.k8s.io "edit" is forbidden: User "robot" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope"#;
        assert_eq!(of(&[("user", "carol"), ("extra-scopes", "edit")]).await, (403, edit.into()));
    }
}

#[tokio::test]
async fn constrained_permissions_limit_user_and_action() {
    let filter = filter(
        vec![
            PolicyRule::resources(&["impersonate:user-info"], &[AUTHN], &["users"]).named(&["carol"]),
            PolicyRule::resources(&["impersonate-on:user-info:list"], &[""], &["pods"]),
        ],
        true,
    );
    let of = async |headers: &[(&str, &str)]| failure(filter.handle(impersonating(robot(), headers)).await).await;
    assert_eq!(of(&[("user", "carol")]).await.0, 200);
    for (headers, what) in [
        (
            &[("user", "dave")][..],
            r#"users.authentication.k8s.io "dave" is forbidden: User "robot" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope"#,
        ),
        (
            &[("user", "carol"), ("group", "ops")],
            r#"groups.authentication.k8s.io "ops" is forbidden: User "robot" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope"#,
        ),
        (
            &[("user", "system:serviceaccount:d:r")],
            r#"pods is forbidden: User "robot" cannot impersonate-on:serviceaccount:list resource "pods" in API group "" in the namespace "ns""#,
        ),
        (
            &[("user", "system:node:n1")],
            r#"pods is forbidden: User "robot" cannot impersonate-on:arbitrary-node:list resource "pods" in API group "" in the namespace "ns""#,
        ),
    ] {
        assert_eq!(of(headers).await, (403, what.into()));
    }
}

#[tokio::test]
async fn pod_impersonates_its_own_node() {
    let filter = filter(
        vec![
            PolicyRule::resources(&["impersonate:associated-node"], &[AUTHN], &["nodes"]).named(&["*"]),
            PolicyRule::resources(&["impersonate-on:associated-node:list"], &[""], &["pods"]),
        ],
        true,
    );
    let of = async |node: &str| {
        let mut account = User::new("system:serviceaccount:ns:agent", ["robots"]);
        account.extra.insert("authentication.kubernetes.io/node-name".into(), vec!["n1".into()]);
        failure(filter.handle(impersonating(account, &[("user", node)])).await).await.0
    };
    assert_eq!((of("system:node:n1").await, of("system:node:n2").await), (200, 403));
}

#[tokio::test]
async fn constrained_impersonation_rejects_masters_group() {
    let rules = vec![
        PolicyRule::resources(&["impersonate:user-info"], &[AUTHN], &["users", "groups", "userextras/a.io/b"]),
        PolicyRule::resources(&["impersonate-on:user-info:list"], &[""], &["pods"]),
    ];
    let filter = filter(rules, true);
    let of = async |headers: &[(&str, &str)]| failure(filter.handle(impersonating(robot(), headers)).await).await;
    assert_eq!(of(&[("user", "carol"), ("group", "ops"), ("extra-a.io%2fb", "c")]).await.0, 200);
    let forbidden = |thing: &str, resource: &str, why: &str| {
        format!(
            "{thing} is forbidden: User \"robot\" cannot impersonate:user-info resource \"{resource}\" in API group \
             \"authentication.k8s.io\" at the cluster scope: {why}"
        )
    };
    let masters = forbidden(
        "groups.authentication.k8s.io \"system:masters\"",
        "groups",
        "impersonating the system:masters group is not allowed",
    );
    assert_eq!(of(&[("user", "carol"), ("group", "system:masters")]).await, (403, masters));
    let key = forbidden(
        "userextras.authentication.k8s.io",
        "userextras",
        "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: \"plain\": must be a \
         domain-prefixed path (such as \"acme.io/foo\")",
    );
    assert_eq!(of(&[("user", "carol"), ("extra-plain", "c")]).await, (403, key));
}

#[tokio::test]
async fn wildcard_permission_suffices_for_many_groups() {
    let rules = vec![
        PolicyRule::resources(&["impersonate:user-info"], &[AUTHN], &["users"]),
        PolicyRule::resources(&["impersonate:user-info"], &[AUTHN], &["groups"]).named(&["*"]),
        PolicyRule::resources(&["impersonate-on:user-info:list"], &[""], &["pods"]),
    ];
    let filter = filter(rules, true);
    let of = async |headers: &[(&str, &str)]| failure(filter.handle(impersonating(robot(), headers)).await).await.0;
    let groups = [("user", "carol"), ("group", "a"), ("group", "b"), ("group", "c"), ("group", "d")];
    assert_eq!((of(&groups).await, of(&groups[..4]).await), (200, 403));
}
