//! Rows of upstream's tests of `plugin/pkg/admission/gc`.

use endpoints::Operation;
use futures_util::FutureExt;
use generated::core::v1::Pod;
use serde_json::json;

use super::*;
use crate::testing::{FnAuthorizer, owned, request};

#[test]
fn compares_owner_references() {
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

/// Whether upstream's test users lack an access; `super` has all.
fn is_denied(user: &str, access_attributes: &AccessAttributes<'_>) -> bool {
    let denied = match user {
        "non-deleter" => access_attributes.resource,
        "non-pod-deleter" => "pods",
        "non-rc-deleter" => "replicationcontrollers",
        "non-node-deleter" => "nodes",
        _ => return false,
    };
    let is_finalizers = access_attributes.verb == "update" && access_attributes.subresource == "finalizers";
    (access_attributes.group, access_attributes.resource) == ("*", "*")
        || access_attributes.resource == denied && (access_attributes.verb == "delete" || is_finalizers)
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

/// Returns the error that `user` gets for a pod with other owners; empty when the write is allowed.
fn refusal(user: &str, resource: &'static str, old: Option<&[Value]>, new: &[Value]) -> String {
    let pod = |owners: &[Value]| owned::<Pod>(&json!({"metadata": {"ownerReferences": owners}}));
    let operation = if old.is_some() { Operation::Update } else { Operation::Create };
    let attributes = request(operation, "Pod", resource);
    let authorizer = FnAuthorizer(|access_attributes: &AccessAttributes<'_>| !is_denied(user, access_attributes));
    let check = Check { authorizer: &authorizer, served: &served, attributes: &attributes };
    let old = old.map(pod);
    let checked = check.owners(&pod(new), old.as_ref()).now_or_never().expect("no wait");
    checked.err().map(|status| status.message).unwrap_or_default()
}

#[test]
fn changing_owners_requires_delete_permission() {
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
fn blocking_owner_deletion_requires_finalizers_permission() {
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
