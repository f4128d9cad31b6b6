//! The rights of the kubelet of node `one`, with a pod that needs all kinds of things.

use generated::core::v1::{PersistentVolume, Pod};
use machinery::features::FeatureGates;
use machinery::json;
use machinery::reflect::{Mut, Struct};
use serde_json::json;
use serving::authorization::Selectors;

use super::graph::Relations;
use super::*;

fn parsed<T: Struct>(document: &serde_json::Value) -> T {
    let mut object = T::default();
    json::from_value(document, Mut::of(&mut object), &mut json::Issues::ignore()).unwrap();
    object
}

fn authorizer() -> NodeAuthorizer {
    let pod: Pod = parsed(&json!({
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "nodeName": "one",
            "serviceAccountName": "robot",
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
            "imagePullSecrets": [{"name": "pull"}],
            "containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "env"}}, {"configMapRef": {"name": "settings"}}]}],
            "ephemeralContainers": [
                {"name": "e", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "debug", "key": "k"}}}]}
            ],
            "volumes": [
                {"name": "files", "projected": {"sources": [{"secret": {"name": "projected"}}]}},
                {"name": "mounted", "secret": {"secretName": "mounted"}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            ],
        },
        "status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu"}]},
    }));
    let volume: PersistentVolume = parsed(&json!({
        "metadata": {"name": "disk"},
        "spec": {
            "claimRef": {"namespace": "shop", "name": "data"},
            "csi": {
                "driver": "d", "volumeHandle": "h",
                "nodeStageSecretRef": {"namespace": "storage", "name": "stage"},
                "controllerPublishSecretRef": {"namespace": "storage", "name": "controller"},
            },
        },
    }));
    let mut mirror = pod.clone();
    mirror.metadata.name = "mirror".into();
    mirror.metadata.annotations.insert("kubernetes.io/config.mirror".into(), "x".into());
    mirror.spec.image_pull_secrets[0].name = "stolen".into();
    let mut relations = Relations::default();
    let place = |relations: &mut Relations, pod: &Pod| {
        let thing = (Kind::Pod, "shop".to_owned(), pod.metadata.name.clone());
        relations.relate(thing, Some(("one".into(), references::of_pod(pod))));
    };
    place(&mut relations, &pod);
    place(&mut relations, &mirror);
    let claim = (Kind::Claim, "shop".into(), "data".into());
    relations.bind("disk", Some((claim, references::of_volume(&volume))));
    relations.place((Kind::VolumeAttachment, String::new(), "attached".into()), Some("one"));
    relations.place((Kind::VolumeAttachment, String::new(), "other".into()), Some("two"));
    // What a source brought about ends with it.
    let gone = (Kind::Pod, "shop".to_owned(), "gone".to_owned());
    relations.relate(gone.clone(), Some(("one".into(), vec![(Kind::Secret, "shop".into(), "old".into())])));
    relations.relate(gone, None);
    let rules = vec![PolicyRule::resources(&["get"], &[""], &["services"])];
    NodeAuthorizer { graph: Graph::of(relations), rules, by_selectors: true }
}

#[tokio::test]
async fn what_a_kubelet_may_do() {
    let authorizer = authorizer();
    let kubelet = User::new("system:node:one", ["system:nodes"]);
    let none = "no relationship found between node 'one' and this object";
    for (wish, expect) in [
        ("get secrets shop/env", "ok"),
        ("get secrets shop/debug", "ok"),
        ("get secrets shop/pull", "ok"),
        ("watch secrets shop/mounted", "ok"),
        ("get secrets shop/projected", "ok"),
        ("get secrets storage/stage", "ok"),
        ("get secrets storage/controller", none),
        ("get secrets shop/stolen", none),
        ("get secrets shop/old", none),
        ("get secrets other/env", none),
        ("list secrets shop/", "No Object name found"),
        ("delete secrets shop/env", "can only read resources of this type"),
        ("get configmaps shop/settings", "ok"),
        ("get persistentvolumeclaims shop/data", "ok"),
        ("get persistentvolumeclaims shop/web-scratch", "ok"),
        ("patch persistentvolumeclaims/status shop/data", "ok"),
        ("list persistentvolumes /disk", "can only get individual resources of this type"),
        ("get persistentvolumes /disk", "ok"),
        ("get resource.k8s.io:resourceclaims shop/web-gpu", "ok"),
        ("get storage.k8s.io:volumeattachments /attached", "ok"),
        ("get storage.k8s.io:volumeattachments /other", none),
        ("create serviceaccounts/token shop/robot", "ok"),
        ("create serviceaccounts/token shop/other", none),
        ("get serviceaccounts shop/robot", "can only create tokens for individual service accounts"),
        ("update coordination.k8s.io:leases kube-node-lease/one", "ok"),
        (
            "update coordination.k8s.io:leases kube-node-lease/two",
            "can only access node lease with the same name as the requesting node",
        ),
        (
            "get coordination.k8s.io:leases shop/one",
            "can only access leases in the \"kube-node-lease\" system namespace",
        ),
        ("get storage.k8s.io:csinodes /two", "can only access CSINode with the same name as the requesting node"),
        ("get nodes /one", "ok"),
        ("get nodes /two", "node 'one' cannot read 'two', only its own Node object"),
        ("list nodes /", "node 'one' cannot read all nodes, only its own Node object"),
        ("patch nodes/status /one", "ok"),
        ("get pods shop/web", "ok"),
        ("get pods shop/mirror", "ok"),
        ("list pods / spec.nodeName=one", "ok"),
        ("list pods / spec.nodeName!=one", "can only list/watch pods with spec.nodeName field selector"),
        ("create pods/eviction shop/web", "ok"),
        ("get services shop/x", "ok"),
        ("get deployments shop/x", ""),
    ] {
        assert_eq!(judged(&authorizer, &kubelet, wish), expect, "{wish}");
    }
    assert_eq!(judged(&authorizer, &User::new("system:node:one", ["dev"]), "get pods shop/web"), "");
    let nobody = User::new("system:node:", ["system:nodes"]);
    assert_eq!(judged(&authorizer, &nobody, "get pods shop/web"), "unknown node for user \"system:node:\"");
}

fn judged(authorizer: &NodeAuthorizer, user: &User, wish: &str) -> String {
    let words: Vec<&str> = wish.split(' ').collect();
    let (group, resource) = words[1].split_once(':').unwrap_or(("", words[1]));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let (namespace, name) = words[2].split_once('/').unwrap();
    let wish = Attributes {
        namespace,
        name,
        subresource,
        selectors: Selectors::parse(words.get(3).unwrap_or(&""), ""),
        ..Attributes::resource(user, words[0], group, resource)
    };
    authorizer.judge(&wish).map_or_else(|why| why, |()| "ok".into())
}

#[test]
fn the_role_of_nodes_is_part_of_the_policy() {
    let policy = crate::rbac::Policy::load(&FeatureGates::default()).unwrap();
    assert!(policy.cluster_roles.iter().any(|role| role.metadata.name == ROLE && !role.rules.is_empty()));
}
