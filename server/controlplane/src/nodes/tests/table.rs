//! The table of requests and decisions.

use super::*;

/// All kinds of objects that a pod of node `one` references, and the same for node `two` with the
/// prefix `other-`.
fn world() -> World {
    let mut world = World::default();
    for (node, prefix) in [("one", ""), ("two", "other-")] {
        let name = |name: &str| format!("{prefix}{name}");
        world.pod(&name("web"), node, spec(prefix), status(prefix));
        world.volume(
            &name("disk"),
            &name("data"),
            json!({"csi": {
                "driver": "d", "volumeHandle": "h",
                "nodeStageSecretRef": {"namespace": "storage", "name": name("stage")},
                "nodePublishSecretRef": {"namespace": "storage", "name": name("publish")},
                "nodeExpandSecretRef": {"namespace": "storage", "name": name("expand")},
                "controllerPublishSecretRef": {"namespace": "storage", "name": name("attach")},
                "controllerExpandSecretRef": {"namespace": "storage", "name": name("grow")},
            }}),
        );
        world.volume(
            &name("share"),
            &name("data"),
            json!({"azureFile": {"secretName": name("azure"), "shareName": "s"}}),
        );
        for kind in [VertexType::VolumeAttachment, VertexType::ResourceSlice] {
            world.0.place((kind, String::new(), name("it")), Some(node));
        }
        world.0.place((VertexType::PodCertificateRequest, "shop".into(), name("it")), Some(node));
    }
    // A mirror pod grants its kubelet no permissions.
    let mut mirror: Pod =
        parsed(&json!({"metadata": {"name": "mirror", "namespace": "shop"}, "spec": spec("stolen-")}));
    mirror.metadata.annotations.insert("kubernetes.io/config.mirror".into(), "x".into());
    let thing = (VertexType::Pod, "shop".to_owned(), "mirror".to_owned());
    world.0.relate(thing, Some(("one".into(), references::of_pod(&mirror))));
    world
}

fn spec(prefix: &str) -> Value {
    let name = |name: &str| format!("{prefix}{name}");
    let container = |kind: &str| {
        json!({
            "name": "c",
            "envFrom": [{"secretRef": {"name": name(&format!("{kind}-from"))}}, {"configMapRef": {"name": name(&format!("{kind}-from"))}}],
            "env": [
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": name(&format!("{kind}-key")), "key": "k"}}},
                {"name": "B", "valueFrom": {"configMapKeyRef": {"name": name(&format!("{kind}-key")), "key": "k"}}},
            ],
        })
    };
    json!({
        "nodeName": "one",
        "serviceAccountName": name("robot"),
        "serviceAccount": name("alias"),
        "imagePullSecrets": [{"name": name("pull")}],
        "initContainers": [container("init")],
        "containers": [container("main")],
        "ephemeralContainers": [container("debug")],
        "volumes": [
            {"name": "a", "secret": {"secretName": name("mounted")}},
            {"name": "b", "configMap": {"name": name("mounted")}},
            {"name": "c", "projected": {"sources": [{"secret": {"name": name("projected")}}, {"configMap": {"name": name("projected")}}]}},
            {"name": "d", "csi": {"driver": "d", "nodePublishSecretRef": {"name": name("inline")}}},
            {"name": "e", "azureFile": {"secretName": name("files"), "shareName": "s"}},
            {"name": "f", "persistentVolumeClaim": {"claimName": name("data")}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        ],
        "resourceClaims": [
            {"name": "named", "resourceClaimName": name("claim")},
            {"name": "made", "resourceClaimTemplateName": name("template")},
            {"name": "pending", "resourceClaimTemplateName": name("template")},
        ],
    })
}

fn status(prefix: &str) -> Value {
    json!({
        "resourceClaimStatuses": [{"name": "made", "resourceClaimName": format!("{prefix}made")}],
        "extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": format!("{prefix}extended")},
    })
}

const NONE: &str = "no relationship found between node 'one' and this object";
const UNNAMED: &str = "No Object name found";
const GET_ONLY: &str = "can only get individual resources of this type";
const READ_ONLY: &str = "can only read resources of this type";
const TOKENS: &str = "can only create tokens for individual service accounts";
const LEASES: &str = "can only access leases in the \"kube-node-lease\" system namespace";
const OWN_LEASE: &str = "can only access node lease with the same name as the requesting node";
const LEASE_VERBS: &str = "can only get, create, update, patch, or delete a node lease";
const OWN_CSI_NODE: &str = "can only access CSINode with the same name as the requesting node";
const CSI_NODE_VERBS: &str = "can only get, create, update, patch, or delete a CSINode";
const SLICES: &str = "can only list/watch/deletecollection resourceslices with nodeName field selector";
const PODS: &str = "can only list/watch pods with spec.nodeName field selector";
const CERTIFICATES: &str = "can only list/watch podcertificaterequests with nodeName field selector";

/// Requests and decisions with the default gates.
const DEFAULT: &[(&str, &str)] = &[
    // Secrets and config maps.
    ("get configmaps shop/mounted", "ok"),
    ("get configmaps shop/projected", "ok"),
    ("get configmaps shop/init-from", "ok"),
    ("get configmaps shop/main-key", "ok"),
    ("get configmaps shop/debug-from", "ok"),
    ("get configmaps shop/other-mounted", NONE),
    ("get configmaps shop/stolen-mounted", NONE),
    ("list configmaps shop/mounted", "ok"),
    ("watch configmaps shop/mounted", "ok"),
    ("list configmaps shop/", UNNAMED),
    ("update configmaps shop/mounted", READ_ONLY),
    ("get secrets shop/mounted", "ok"),
    ("list secrets shop/mounted", "ok"),
    ("watch secrets shop/mounted", "ok"),
    ("get secrets shop/pull", "ok"),
    ("get secrets shop/projected", "ok"),
    ("get secrets shop/inline", "ok"),
    ("get secrets shop/files", "ok"),
    ("get secrets shop/init-from", "ok"),
    ("get secrets shop/init-key", "ok"),
    ("get secrets shop/main-from", "ok"),
    ("get secrets shop/main-key", "ok"),
    ("get secrets shop/debug-from", "ok"),
    ("get secrets shop/debug-key", "ok"),
    ("get secrets shop/azure", "ok"),
    ("get secrets storage/stage", "ok"),
    ("get secrets storage/publish", "ok"),
    ("get secrets storage/expand", "ok"),
    ("get secrets storage/attach", NONE),
    ("get secrets storage/grow", NONE),
    ("get secrets shop/other-mounted", NONE),
    ("get secrets storage/other-stage", NONE),
    ("get secrets shop/stolen-mounted", NONE),
    ("get secrets shop/stolen-pull", NONE),
    ("get secrets other/mounted", NONE),
    ("get secrets shop/robot", NONE),
    ("list secrets shop/", UNNAMED),
    ("watch secrets shop/", UNNAMED),
    ("list secrets /mounted", "can only read namespaced object of this type"),
    ("get secrets/any shop/mounted", "cannot read subresource"),
    ("create secrets shop/mounted", READ_ONLY),
    ("update secrets shop/mounted", READ_ONLY),
    ("patch secrets shop/mounted", READ_ONLY),
    ("delete secrets shop/mounted", READ_ONLY),
    ("deletecollection secrets shop/", READ_ONLY),
    // Claims and volumes.
    ("get persistentvolumeclaims shop/data", "ok"),
    ("get persistentvolumeclaims shop/web-scratch", "ok"),
    ("get persistentvolumeclaims shop/other-data", NONE),
    ("get persistentvolumeclaims shop/other-web-scratch", NONE),
    ("list persistentvolumeclaims shop/data", GET_ONLY),
    ("update persistentvolumeclaims shop/data", GET_ONLY),
    ("get persistentvolumeclaims/any shop/data", "cannot get subresource"),
    ("patch persistentvolumeclaims/status shop/data", "ok"),
    ("update persistentvolumeclaims/status shop/data", "ok"),
    ("get persistentvolumeclaims/status shop/data", "can only get/update/patch this type"),
    ("patch persistentvolumeclaims/status shop/other-data", NONE),
    ("get persistentvolumes disk", "ok"),
    ("get persistentvolumes other-disk", NONE),
    ("list persistentvolumes disk", GET_ONLY),
    ("watch persistentvolumes disk", GET_ONLY),
    ("get persistentvolumes/status disk", "cannot get subresource"),
    ("get storage.k8s.io:volumeattachments it", "ok"),
    ("get storage.k8s.io:volumeattachments other-it", NONE),
    ("list storage.k8s.io:volumeattachments it", GET_ONLY),
    // Resource claims.
    ("get resource.k8s.io:resourceclaims shop/claim", "ok"),
    ("get resource.k8s.io:resourceclaims shop/made", "ok"),
    ("get resource.k8s.io:resourceclaims shop/extended", "ok"),
    ("get resource.k8s.io:resourceclaims shop/other-claim", NONE),
    ("get resource.k8s.io:resourceclaims shop/template", NONE),
    ("get resource.k8s.io:resourceclaims shop/other-made", NONE),
    ("list resource.k8s.io:resourceclaims shop/claim", GET_ONLY),
    ("update resource.k8s.io:resourceclaims shop/claim", GET_ONLY),
    ("patch resource.k8s.io:resourceclaims/status shop/claim", GET_ONLY),
    // Service accounts.
    ("create serviceaccounts/token shop/robot", "ok"),
    ("create serviceaccounts/token shop/other-robot", NONE),
    ("create serviceaccounts/token shop/alias", NONE),
    ("create serviceaccounts/token shop/stolen-robot", NONE),
    ("create serviceaccounts shop/robot", "can only create token subresource of serviceaccount"),
    ("create serviceaccounts/token shop/", TOKENS),
    ("update serviceaccounts/token shop/robot", TOKENS),
    ("get serviceaccounts/token shop/robot", TOKENS),
    ("get serviceaccounts shop/robot", "ok"),
    ("get serviceaccounts shop/other-robot", NONE),
    ("list serviceaccounts shop/robot", TOKENS),
    ("watch serviceaccounts shop/robot", TOKENS),
    // Certificates of pods; the gate is off.
    ("create certificates.k8s.io:podcertificaterequests shop/it", ""),
    ("get certificates.k8s.io:podcertificaterequests shop/it", ""),
    ("list certificates.k8s.io:podcertificaterequests shop/it", ""),
    ("watch certificates.k8s.io:podcertificaterequests shop/it", ""),
    // Leases.
    ("get coordination.k8s.io:leases shop/one", LEASES),
    ("create coordination.k8s.io:leases shop/one", LEASES),
    ("update coordination.k8s.io:leases shop/one", LEASES),
    ("patch coordination.k8s.io:leases shop/one", LEASES),
    ("delete coordination.k8s.io:leases shop/one", LEASES),
    ("get coordination.k8s.io:leases kube-node-lease/two", OWN_LEASE),
    ("update coordination.k8s.io:leases kube-node-lease/two", OWN_LEASE),
    ("patch coordination.k8s.io:leases kube-node-lease/two", OWN_LEASE),
    ("delete coordination.k8s.io:leases kube-node-lease/two", OWN_LEASE),
    ("list coordination.k8s.io:leases kube-node-lease/", LEASE_VERBS),
    ("watch coordination.k8s.io:leases kube-node-lease/", LEASE_VERBS),
    ("deletecollection coordination.k8s.io:leases kube-node-lease/", LEASE_VERBS),
    ("get coordination.k8s.io:leases kube-node-lease/one", "ok"),
    ("create coordination.k8s.io:leases kube-node-lease/", "ok"),
    ("update coordination.k8s.io:leases kube-node-lease/one", "ok"),
    ("patch coordination.k8s.io:leases kube-node-lease/one", "ok"),
    ("delete coordination.k8s.io:leases kube-node-lease/one", "ok"),
    // CSINodes.
    ("get storage.k8s.io:csinodes/csiDrivers one", "cannot authorize CSINode subresources"),
    ("get storage.k8s.io:csinodes two", OWN_CSI_NODE),
    ("update storage.k8s.io:csinodes two", OWN_CSI_NODE),
    ("patch storage.k8s.io:csinodes two", OWN_CSI_NODE),
    ("delete storage.k8s.io:csinodes two", OWN_CSI_NODE),
    ("list storage.k8s.io:csinodes ", CSI_NODE_VERBS),
    ("watch storage.k8s.io:csinodes ", CSI_NODE_VERBS),
    ("get storage.k8s.io:csinodes one", "ok"),
    ("create storage.k8s.io:csinodes ", "ok"),
    ("update storage.k8s.io:csinodes one", "ok"),
    ("patch storage.k8s.io:csinodes one", "ok"),
    ("delete storage.k8s.io:csinodes one", "ok"),
    // Resource slices.
    ("get resource.k8s.io:resourceslices/status it", "cannot authorize ResourceSlice subresources"),
    ("get resource.k8s.io:resourceslices other-it", NONE),
    ("update resource.k8s.io:resourceslices other-it", NONE),
    ("patch resource.k8s.io:resourceslices other-it", NONE),
    ("delete resource.k8s.io:resourceslices other-it", NONE),
    ("patch resource.k8s.io:resourceslices new", NONE),
    ("list resource.k8s.io:resourceslices  spec.nodeName==one", "ok"),
    ("watch resource.k8s.io:resourceslices  spec.nodeName=one", "ok"),
    ("deletecollection resource.k8s.io:resourceslices  spec.nodeName=one", "ok"),
    ("list resource.k8s.io:resourceslices ", SLICES),
    ("watch resource.k8s.io:resourceslices ", SLICES),
    ("deletecollection resource.k8s.io:resourceslices ", SLICES),
    ("list resource.k8s.io:resourceslices  spec.nodeName=two", SLICES),
    ("list resource.k8s.io:resourceslices  spec.nodeName!=one", SLICES),
    ("list resource.k8s.io:resourceslices  nodeName=one", SLICES),
    ("get resource.k8s.io:resourceslices it", "ok"),
    ("create resource.k8s.io:resourceslices ", "ok"),
    ("update resource.k8s.io:resourceslices it", "ok"),
    ("patch resource.k8s.io:resourceslices it", "ok"),
    ("delete resource.k8s.io:resourceslices it", "ok"),
    // Pods.
    ("get pods shop/web", "ok"),
    ("get pods shop/mirror", "ok"),
    ("get pods shop/other-web", NONE),
    ("list pods / spec.nodeName=one", "ok"),
    ("list pods / spec.nodeName==one", "ok"),
    ("list pods shop/web", "ok"),
    ("list pods /", PODS),
    ("list pods / spec.nodeName=two", PODS),
    ("list pods / spec.nodeName!=one", PODS),
    ("list pods shop/other-web", NONE),
    ("watch pods / spec.nodeName=one", "ok"),
    ("watch pods / spec.nodeName==one", "ok"),
    ("watch pods shop/web", "ok"),
    ("watch pods /", PODS),
    ("create pods shop/", "ok"),
    ("create pods/proxy shop/", ""),
    ("delete pods shop/web", "ok"),
    ("delete pods shop/other-web", "ok"),
    ("delete pods/proxy shop/web", ""),
    ("deletecollection pods shop/ spec.nodeName=one", ""),
    ("update pods shop/web", ""),
    ("patch pods shop/web", ""),
    ("update pods/status shop/web", "ok"),
    ("update pods/status shop/other-web", "ok"),
    ("patch pods/status shop/web", "ok"),
    ("patch pods/status shop/other-web", "ok"),
    ("get pods/status shop/web", ""),
    ("create pods/eviction shop/web", "ok"),
    ("create pods/eviction shop/other-web", "ok"),
    ("create pods/binding shop/web", ""),
    ("patch pods/ephemeralcontainers shop/web", ""),
    ("patch pods/resize shop/web", ""),
    ("get pods/log shop/web", ""),
    ("create pods/exec shop/web", ""),
    ("get pods/exec shop/web", ""),
    ("create pods/attach shop/web", ""),
    ("create pods/portforward shop/web", ""),
    ("create bindings shop/", ""),
    // Nodes.
    ("get nodes one", "ok"),
    ("get nodes two", "node 'one' cannot read 'two', only its own Node object"),
    ("list nodes one", "ok"),
    ("list nodes two", "node 'one' cannot read 'two', only its own Node object"),
    ("list nodes ", "node 'one' cannot read all nodes, only its own Node object"),
    ("watch nodes one", "ok"),
    ("watch nodes two", "node 'one' cannot read 'two', only its own Node object"),
    ("watch nodes ", "node 'one' cannot read all nodes, only its own Node object"),
    ("create nodes ", "ok"),
    ("update nodes one", "ok"),
    ("update nodes two", "ok"),
    ("patch nodes one", "ok"),
    ("patch nodes two", "ok"),
    ("delete nodes one", ""),
    ("deletecollection nodes ", ""),
    ("update nodes/status one", "ok"),
    ("update nodes/status two", "ok"),
    ("patch nodes/status one", "ok"),
    ("patch nodes/status two", "ok"),
    ("get nodes/status one", ""),
    ("get nodes/proxy one", ""),
    ("create nodes/proxy one", ""),
    ("get nodes/stats one", ""),
    // The rules of the node role, which apply to all kubelets.
    ("list services shop/", "ok"),
    ("create events shop/", "ok"),
    ("create certificates.k8s.io:certificatesigningrequests ", "ok"),
    ("update certificates.k8s.io:certificatesigningrequests/approval x", ""),
    ("get node.k8s.io:runtimeclasses x", "ok"),
    ("create authentication.k8s.io:tokenreviews ", "ok"),
    ("create authorization.k8s.io:subjectaccessreviews ", "ok"),
    ("get apps:deployments shop/x", ""),
    ("impersonate users admin", ""),
];

/// Requests and decisions with one gate set.
const GATED: &[(&str, &str, &str)] = &[
    (
        "KubeletServiceAccountTokenForCredentialProviders=false",
        "get serviceaccounts shop/robot",
        "not allowed to get service accounts",
    ),
    ("KubeletServiceAccountTokenForCredentialProviders=false", "list serviceaccounts shop/robot", TOKENS),
    ("KubeletServiceAccountTokenForCredentialProviders=false", "watch serviceaccounts shop/robot", TOKENS),
    ("KubeletServiceAccountTokenForCredentialProviders=false", "create serviceaccounts/token shop/robot", "ok"),
    ("PodCertificateRequest=true", "create serviceaccounts/token shop/robot", "ok"),
    ("PodCertificateRequest=true", "get serviceaccounts shop/robot", "ok"),
    ("PodCertificateRequest=true", "create certificates.k8s.io:podcertificaterequests shop/it", "ok"),
    ("PodCertificateRequest=true", "get certificates.k8s.io:podcertificaterequests shop/it", "ok"),
    ("PodCertificateRequest=true", "get certificates.k8s.io:podcertificaterequests shop/other-it", NONE),
    ("PodCertificateRequest=true", "list certificates.k8s.io:podcertificaterequests shop/it", CERTIFICATES),
    (
        "PodCertificateRequest=true",
        "list certificates.k8s.io:podcertificaterequests shop/ spec.nodeName=two",
        CERTIFICATES,
    ),
    ("PodCertificateRequest=true", "list certificates.k8s.io:podcertificaterequests shop/ spec.nodeName=one", "ok"),
    ("PodCertificateRequest=true", "watch certificates.k8s.io:podcertificaterequests shop/it", CERTIFICATES),
    (
        "PodCertificateRequest=true",
        "watch certificates.k8s.io:podcertificaterequests shop/ spec.nodeName=two",
        CERTIFICATES,
    ),
    ("PodCertificateRequest=true", "watch certificates.k8s.io:podcertificaterequests shop/ spec.nodeName=one", "ok"),
    (
        "PodCertificateRequest=true",
        "delete certificates.k8s.io:podcertificaterequests shop/it",
        "nodes may not delete podcertificaterequests",
    ),
    (
        "PodCertificateRequest=true",
        "update certificates.k8s.io:podcertificaterequests/status shop/it",
        "nodes may not access the status subresource of PodCertificateRequests",
    ),
];

#[test]
fn decisions_with_default_gates() {
    let authorizer = world().authorizer(&[]);
    for (request, expected) in DEFAULT {
        assert_eq!(answer(&authorizer, &kubelet("one"), request), *expected, "{request}");
    }
}

#[test]
fn decisions_with_other_gates() {
    for (gate, request, expected) in GATED {
        let found = answer(&world().authorizer(&[gate]), &kubelet("one"), request);
        assert_eq!(found, *expected, "{gate}: {request}");
    }
}
