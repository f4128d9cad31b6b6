//! Claims, leases, CSINodes, resource slices, other resources, and other users.

use generated::coordination::v1::Lease;
use generated::core::v1::ConfigMap;
use generated::storage::v1::CSINode;

use super::*;

#[test]
fn status_of_claims() {
    let claim = |change: &dyn Fn(&mut Value)| {
        let mut claim = json!({
            "metadata": {"namespace": "ns", "name": "foo", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}},
            "spec": {"volumeName": "volume1", "resources": {"requests": {"storage": "10G"}}},
            "status": {"phase": "Bound", "capacity": {"storage": "10G"}, "allocatedResources": {"storage": "10G"}},
        });
        change(&mut claim);
        claim
    };
    let set = |path: &'static str, value: Value| claim(&move |claim| *claim.pointer_mut(path).unwrap() = value.clone());
    let add = |path: &'static str, key: &'static str, value: Value| {
        claim(&move |claim| {
            claim.pointer_mut(path).unwrap().as_object_mut().unwrap().insert(key.into(), value.clone());
        })
    };
    let fields = "node \"mynode\" is not allowed to update fields other than status.quantity and status.conditions";
    let world = World::default();
    let old = claim(&|_| {});
    let kind = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim"});
    let mut sent = old.clone();
    sent.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
    let rows = [
        (old.clone(), "ok"),
        (sent, "ok"),
        (add("/status", "conditions", json!([{"type": "Resizing", "status": "True"}])), "ok"),
        (set("/status/capacity", json!({"storage": "15G"})), "ok"),
        (set("/status/allocatedResources", json!({"storage": "15G"})), "ok"),
        (add("/status", "allocatedResourceStatuses", json!({"storage": "NodeResizeInfeasible"})), "ok"),
        (set("/metadata/resourceVersion", json!("")), "ok"),
        (add("/metadata", "managedFields", json!([{"manager": "kubelet", "operation": "Update"}])), "ok"),
        (set("/status/phase", json!("Lost")), fields),
        (add("/status", "accessModes", json!(["ReadWriteMany"])), fields),
        (add("/status", "currentVolumeAttributesClassName", json!("x")), fields),
        (add("/status", "modifyVolumeStatus", json!({"status": "Pending"})), fields),
        (set("/metadata/labels", json!({})), fields),
        (add("/metadata", "annotations", json!({"a": "b"})), fields),
        (add("/metadata", "finalizers", json!(["a/b"])), fields),
        (add("/metadata", "ownerReferences", json!([{"name": "x"}])), fields),
        (set("/spec/volumeName", json!("volume2")), fields),
        (set("/spec/resources", json!({"requests": {"storage": "20G"}})), fields),
    ];
    for (new, expected) in &rows {
        let case = Case::new(&world, Update, "persistentvolumeclaims/status", "ns", "foo");
        case.object::<PersistentVolumeClaim>(new).old::<PersistentVolumeClaim>(&old).check(expected);
    }
    for operation in [Create, Update, Delete] {
        for resource in ["persistentvolumeclaims", "persistentvolumeclaims/any"] {
            let case = Case::new(&world, operation, resource, "ns", "foo");
            case.object::<PersistentVolumeClaim>(&old)
                .old::<PersistentVolumeClaim>(&old)
                .check("may only update PVC status");
        }
    }
    for operation in [Create, Delete] {
        let case = Case::new(&world, operation, "persistentvolumeclaims/status", "ns", "foo");
        case.object::<PersistentVolumeClaim>(&old).old::<PersistentVolumeClaim>(&old).check("unexpected operation");
    }
}

#[test]
fn leases() {
    let world = World::default();
    let namespace = "can only access leases in the \"kube-node-lease\" system namespace";
    let name = "can only access node lease with the same name as the requesting node";
    for (within, named, expected) in
        [("foo", "mynode", namespace), ("kube-node-lease", "foo", name), ("kube-node-lease", "mynode", "ok")]
    {
        let lease = json!({"metadata": {"namespace": within, "name": named}});
        for operation in [Create, Update, Delete] {
            let case = Case::new(&world, operation, "coordination.k8s.io:leases", within, named);
            case.object::<Lease>(&lease).check(expected);
        }
    }
    let generated = json!({"metadata": {"generateName": "mynode"}});
    Case::new(&world, Create, "coordination.k8s.io:leases", "kube-node-lease", "")
        .object::<Lease>(&generated)
        .check(name);
    // The object determines the decision for a create.
    let lease = json!({"metadata": {"name": "foo"}});
    Case::new(&world, Create, "coordination.k8s.io:leases", "kube-node-lease", "mynode")
        .object::<Lease>(&lease)
        .check(name);
}

#[test]
fn csi_nodes() {
    let world = World::default();
    for (named, expected) in
        [("foo", "can only access CSINode with the same name as the requesting node"), ("mynode", "ok")]
    {
        let object = json!({"metadata": {"name": named}});
        for operation in [Create, Update, Delete] {
            Case::new(&world, operation, "storage.k8s.io:csinodes", "", named)
                .object::<CSINode>(&object)
                .check(expected);
        }
    }
}

#[test]
fn resource_slices() {
    let world = World::default();
    let slice = |node: Value| json!({"metadata": {"name": "something"}, "spec": {"nodeName": node, "driver": "d"}});
    for (node, own) in [(json!("mynode"), true), (json!("othernode"), false), (Value::Null, false)] {
        for (operation, verb) in [(Create, "create"), (Update, ""), (Delete, "delete")] {
            let refused = format!("can only {verb} ResourceSlice with the same NodeName as the requesting node");
            let expected = if own || verb.is_empty() { "ok" } else { refused.as_str() };
            let mut case = Case::new(&world, operation, "resource.k8s.io:resourceslices", "", "something");
            case = case.old::<ResourceSlice>(&slice(node.clone()));
            if operation != Delete {
                case = case.object::<ResourceSlice>(&slice(node.clone()));
            }
            case.check(expected);
        }
    }
    let all_nodes = json!({"metadata": {"name": "something"}, "spec": {"allNodes": true, "driver": "d"}});
    let case = Case::new(&world, Create, "resource.k8s.io:resourceslices", "", "something");
    case.object::<ResourceSlice>(&all_nodes).check("can only create ResourceSlice");
}

#[test]
fn other_resources_and_users() {
    let world = World::with_pods();
    for operation in [Create, Update, Delete] {
        let object = json!({"metadata": {"name": "mycm"}});
        Case::new(&world, operation, "configmaps", "ns", "mycm").object::<ConfigMap>(&object).check("ok");
        for resource in ["pods", "pods/status"] {
            for user in
                [User::new("bob", [""]), User::new("system:node:mynode", ["dev"]), User::new("x", ["system:nodes"])]
            {
                let unbound = pod("unbound", "", false);
                let mut case = Case::new(&world, operation, resource, "ns", "unboundpod").object::<Pod>(&unbound);
                case.user = user;
                assert_eq!(case.answer(), "not a kubelet");
            }
        }
    }
    let mut case = Case::new(&world, Create, "configmaps", "ns", "mycm");
    case.user = User::new("system:node:", ["system:nodes"]);
    case.check("could not determine node from user \"system:node:\"");
}
