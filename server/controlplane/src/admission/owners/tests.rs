//! Rows of upstream's tests of `plugin/pkg/admission/gc`.

use endpoints::Operation;
use futures_util::FutureExt;
use generated::core::v1::Pod;
use serde_json::json;

use super::*;
use crate::admission::testing::{Deciding, owned, request};

#[test]
fn owners_are_compared_by_what_they_say() {
    let owner = |uid: &str, blocks: bool| OwnerReference {
        uid: uid.into(),
        block_owner_deletion: Some(blocks),
        ..OwnerReference::default()
    };
    let check = |new: &[OwnerReference], old: &[OwnerReference], same: bool, blocking: &[&str]| {
        let found: Vec<&str> = new_blocking(new, old).iter().map(|owner| owner.uid.as_str()).collect();
        assert_eq!((is_same(new, old), found.as_slice()), (same, blocking));
    };
    check(&[], &[], true, &[]);
    check(&[owner("a", true)], &[owner("a", true)], true, &[]);
    check(&[owner("a", true), owner("b", false)], &[owner("a", false)], false, &["a"]);
    check(&[owner("c", true)], &[], false, &["c"]);
}

/// What upstream's users may not delete and not finalize; `super` may do everything.
fn is_denied(user: &str, wish: &Wish<'_>) -> bool {
    let denied = match user {
        "non-deleter" => wish.resource,
        "non-pod-deleter" => "pods",
        "non-rc-deleter" => "replicationcontrollers",
        "non-node-deleter" => "nodes",
        _ => return false,
    };
    let is_finalizers = wish.verb == "update" && wish.subresource == "finalizers";
    (wish.group, wish.resource) == ("*", "*") || wish.resource == denied && (wish.verb == "delete" || is_finalizers)
}

fn served(group: &str, version: &str) -> Option<Value> {
    let resource =
        |name: &str, kind: &str, namespaced: bool| json!({"name": name, "kind": kind, "namespaced": namespaced});
    match (group, version) {
        ("", "v1") => Some(json!({"resources": [
            resource("nodes", "Node", false),
            resource("pods/status", "Pod", true),
            resource("pods", "Pod", true),
            resource("replicationcontrollers", "ReplicationController", true),
        ]})),
        ("apps", "v1") => Some(json!({"resources": [resource("daemonsets", "DaemonSet", true)]})),
        _ => None,
    }
}

/// The words of the refusal that `user` gets for a pod with other owners; empty when the write is allowed.
fn refusal(user: &str, resource: &'static str, old: Option<&[Value]>, new: &[Value]) -> String {
    let pod = |owners: &[Value]| owned::<Pod>(&json!({"metadata": {"ownerReferences": owners}}));
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let attributes = request(operation, "Pod", resource);
    let authorizer = Deciding(|wish: &Wish<'_>| !is_denied(user, wish));
    let check = Check { authorizer: &authorizer, served: &served, attributes: &attributes };
    let old = old.map(pod);
    let checked = check.owners(&pod(new), old.as_ref()).now_or_never().expect("no wait");
    checked.err().map(|status| status.message).unwrap_or_default()
}

#[test]
fn owners_of_a_stored_object_are_set_by_users_who_may_delete_it() {
    let (first, second) = (json!({"name": "first"}), json!({"name": "second"}));
    let refused = "cannot set an ownerRef on a resource you can't delete";
    let check = |user: &str, resource: &'static str, old: Option<&[Value]>, new: &[Value], expect: &str| {
        let refusal = refusal(user, resource, old, new);
        let is_expected = if expect.is_empty() { refusal.is_empty() } else { refusal.contains(expect) };
        assert!(is_expected, "{user} {resource} {old:?} {new:?}: {refusal}");
    };
    for user in ["super", "non-deleter", "non-pod-deleter"] {
        check(user, "pods", None, &[], "");
        check(user, "pods", None, std::slice::from_ref(&first), "");
        check(user, "not-pods", None, std::slice::from_ref(&first), "");
        check(user, "pods", Some(&[]), &[], "");
        check(user, "pods", Some(std::slice::from_ref(&first)), std::slice::from_ref(&first), "");
        check(user, "pods/status", Some(&[]), std::slice::from_ref(&first), "");
        let expect = if user == "super" { "" } else { refused };
        check(user, "pods", Some(&[]), std::slice::from_ref(&first), expect);
        check(user, "pods", Some(std::slice::from_ref(&first)), &[first.clone(), second.clone()], expect);
        check(user, "pods", Some(std::slice::from_ref(&first)), &[], expect);
        let expect = if user == "non-deleter" { refused } else { "" };
        check(user, "not-pods", Some(&[]), std::slice::from_ref(&first), expect);
    }
}

#[test]
fn deletion_of_owners_is_blocked_by_users_who_may_finalize_them() {
    let owner = |api_version: &str, kind: &str, name: &str, blocks: Option<bool>| json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "blockOwnerDeletion": blocks});
    let (yes, no) = (Some(true), Some(false));
    let rc = |name: &str, blocks| owner("v1", "ReplicationController", name, blocks);
    let node = |blocks| owner("v1", "Node", "node1", blocks);
    let daemon_set = |blocks| owner("apps/v1", "DaemonSet", "ds1", blocks);
    let cannot_finalize =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
    let no_mapping = "cannot find RESTMapping for APIVersion v2 Kind ReplicationController";
    let check = |user: &str, old: Option<Vec<Value>>, new: Vec<Value>, expect: &str| {
        let refusal = refusal(user, "pods", old.as_deref(), &new);
        let is_expected = if expect.is_empty() { refusal.is_empty() } else { refusal.contains(expect) };
        assert!(is_expected, "{user} {old:?} {new:?}: {refusal}");
    };
    check("super", None, vec![], "");
    check("super", None, vec![rc("rc1", no), rc("rc2", no)], "");
    check("super", None, vec![rc("rc1", yes), rc("rc2", yes), node(yes)], "");
    check("super", None, vec![owner("v2", "ReplicationController", "rc1", yes)], "");
    check("non-rc-deleter", None, vec![], "");
    check("non-rc-deleter", None, vec![rc("rc1", no), rc("rc2", None)], "");
    check("non-node-deleter", None, vec![node(no)], "");
    check("non-rc-deleter", None, vec![rc("rc1", yes), rc("rc2", no)], cannot_finalize);
    check("non-rc-deleter", None, vec![daemon_set(yes)], "");
    check("non-rc-deleter", None, vec![owner("v2", "ReplicationController", "rc1", yes)], no_mapping);
    check("non-node-deleter", None, vec![node(yes)], cannot_finalize);
    check("super", Some(vec![rc("rc1", None), node(None)]), vec![rc("rc1", no), node(no)], "");
    check("super", Some(vec![rc("rc1", no), node(no)]), vec![rc("rc1", yes), node(yes)], "");
    check("super", Some(vec![]), vec![rc("rc1", yes), node(yes)], "");
    check("non-rc-deleter", Some(vec![rc("rc1", None)]), vec![rc("rc1", no)], "");
    check("non-rc-deleter", Some(vec![rc("rc1", no)]), vec![rc("rc1", yes)], cannot_finalize);
    check("non-rc-deleter", Some(vec![rc("rc1", None)]), vec![rc("rc1", yes)], cannot_finalize);
    check("non-node-deleter", Some(vec![node(None)]), vec![node(yes)], cannot_finalize);
    check("non-rc-deleter", Some(vec![rc("rc1", yes)]), vec![rc("rc1", no)], "");
    check("non-node-deleter", Some(vec![node(yes)]), vec![node(no)], "");
    check("non-rc-deleter", Some(vec![daemon_set(no)]), vec![daemon_set(yes)], "");
    check("non-rc-deleter", Some(vec![]), vec![rc("rc1", no), rc("rc2", None)], "");
    check("non-rc-deleter", Some(vec![]), vec![rc("rc1", yes)], cannot_finalize);
    check("non-rc-deleter", Some(vec![]), vec![daemon_set(yes)], "");
    check("non-node-deleter", Some(vec![]), vec![node(yes)], cannot_finalize);
}
