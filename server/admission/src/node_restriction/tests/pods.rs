//! Pods, their status, and their eviction.

use generated::policy::v1::Eviction;

use super::*;

const NODES_OF_PODS: [(&str, &str); 3] = [("my", "mynode"), ("other", "othernode"), ("unbound", "")];
const UNEXPECTED: &str = "unexpected operation";
const ITSELF: &str = "spec.nodeName set to itself";

fn eviction(name: &str) -> Value {
    json!({"metadata": {"namespace": "ns", "name": name}})
}

/// For a pod and a mirror pod of each node: create, update, and delete; the same of the status;
/// eviction.
#[test]
fn pods_of_every_kind_and_node() {
    let world = World::with_pods();
    let mut rows = 0;
    for (prefix, node) in NODES_OF_PODS {
        for mirror in [false, true] {
            let document = pod(prefix, node, mirror);
            let name = document["metadata"]["name"].as_str().unwrap().to_owned();
            let own = node == "mynode";
            let otherwise = |text| if own { "ok" } else { text };
            let create = if mirror { otherwise(ITSELF) } else { "can only create mirror pods" };
            let mut check = |operation, resource, new: Option<&Value>, old: Option<&Value>, expected| {
                let mut case = Case::new(&world, operation, resource, "ns", &name);
                case.object = new.map(|new| Owned::of(parsed::<Pod>(new)));
                case.old = old.map(|old| Owned::of(parsed::<Pod>(old)));
                case.check(expected);
                rows += 1;
            };
            let it = Some(&document);
            check(Create, "pods", it, None, create);
            check(Update, "pods", it, it, UNEXPECTED);
            check(Delete, "pods", None, it, otherwise(ITSELF));
            check(Create, "pods/status", it, None, UNEXPECTED);
            check(Update, "pods/status", it, it, otherwise(ITSELF));
            check(Delete, "pods/status", None, it, UNEXPECTED);
            for subresource in ["pods/ephemeralcontainers", "pods/resize", "pods/binding", "pods/log", "pods/new"] {
                for operation in [Create, Update, Delete] {
                    check(operation, subresource, it, it, "only 'status' and 'eviction' are allowed");
                }
            }
            let mut evict = |operation, path: &str, body: &str, expected: &str| {
                Case::new(&world, operation, "pods/eviction", "ns", path)
                    .object::<Eviction>(&eviction(body))
                    .check(expected);
                rows += 1;
            };
            for operation in [Update, Delete] {
                evict(operation, &name, &name, UNEXPECTED);
            }
            evict(Create, &name, &name, otherwise(ITSELF));
            evict(Create, &name, "", otherwise(ITSELF));
            evict(Create, "", &name, otherwise(ITSELF));
            // The name in the path counts, not the name in the body.
            evict(Create, &name, "mypod", otherwise(ITSELF));
        }
    }
    assert_eq!(rows, 6 * (6 + 15 + 6));
}

#[test]
fn evictions_of_missing_and_unnamed_pods() {
    let world = World::default();
    let answer = |operation, path: &str, body: &str| {
        Case::new(&world, operation, "pods/eviction", "ns", path).object::<Eviction>(&eviction(body)).answer()
    };
    assert_eq!(answer(Create, "nopod", "nopod"), "404 pod \"nopod\" not found");
    assert_eq!(answer(Create, "nopod", ""), "404 pod \"nopod\" not found");
    assert_eq!(answer(Create, "", "nopod"), "404 pod \"nopod\" not found");
    assert!(answer(Update, "nopod", "nopod").contains("unexpected operation UPDATE"));
    assert!(answer(Delete, "nopod", "nopod").contains("unexpected operation DELETE"));
    assert!(answer(Create, "", "").contains("could not determine pod from request data"));
    let wrong = Case::new(&world, Create, "pods/eviction", "ns", "nopod").object::<Pod>(&json!({})).answer();
    assert!(wrong.starts_with("403"), "{wrong}");
    Case::new(&world, Delete, "pods", "ns", "nopod").check("no object of type Pod");
}

#[test]
fn owners_of_mirror_pods() {
    let valid = json!({"apiVersion": "v1", "kind": "Node", "name": "mynode", "uid": "mynode-uid", "controller": true});
    let with = |field: &str, value: Value| {
        let mut owner = valid.clone();
        owner[field] = value;
        json!([owner])
    };
    let me = "node \"mynode\" can only create pods with";
    for (owners, expected) in [
        (json!([]), format!("{me} an owner reference set to itself")),
        (json!([valid]), "ok".into()),
        (json!([valid, valid]), format!("{me} a single owner reference set to itself")),
        (with("name", json!("other")), format!("{me} an owner reference set to itself")),
        (with("apiVersion", json!("v2")), format!("{me} an owner reference set to itself")),
        (with("kind", json!("Pod")), format!("{me} an owner reference set to itself")),
        (with("controller", Value::Null), format!("{me} a controller owner reference set to itself")),
        (with("controller", json!(false)), format!("{me} a controller owner reference set to itself")),
        (with("blockOwnerDeletion", json!(false)), "ok".into()),
        (with("blockOwnerDeletion", json!(true)), "must not set blockOwnerDeletion on an owner reference".into()),
        (with("uid", json!("other")), "node mynode UID mismatch: expected other got mynode-uid".into()),
    ] {
        let mut document = pod("my", "mynode", true);
        document["metadata"]["ownerReferences"] = owners;
        let world = World::with_pods();
        Case::new(&world, Create, "pods", "ns", "mymirrorpod").object::<Pod>(&document).check(&expected);
    }
    let (world, document) = (World::default(), pod("my", "mynode", true));
    let answer = Case::new(&world, Create, "pods", "ns", "mymirrorpod").object::<Pod>(&document).answer();
    assert_eq!(answer, "404 node \"mynode\" not found");
}

#[test]
fn references_of_mirror_pods() {
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        json!({"volumes": [{"name": "e", "emptyDir": {}}, volume]})
    };
    let projected = |source: Value| volume(json!({"projected": {"sources": [{"downwardAPI": {}}, source]}}));
    let container = |list: &str, field: &str, value: Value| json!({list: [{"name": "c", field: [value]}]});
    let secret_env = json!({"secretRef": {"name": "x"}});
    let config_env = json!({"configMapRef": {"name": "x"}});
    let secret_key = json!({"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}});
    let config_key = json!({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x", "key": "k"}}});
    let named = json!({"name": "x"});
    let mut rows = vec![
        (json!({"serviceAccountName": "x"}), "serviceaccounts"),
        (json!({"serviceAccount": "x"}), "serviceaccounts"),
        (json!({"imagePullSecrets": [named]}), "secrets"),
        (json!({"resourceClaims": [{"name": "c", "resourceClaimName": "x"}]}), "resourceclaims"),
        (json!({"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "x"}]}), "resourceclaims"),
        (volume(json!({"secret": {"secretName": "x"}})), "secrets"),
        (volume(json!({"secret": {}})), "secrets (via secret volumes)"),
        (volume(json!({"configMap": named})), "configmaps"),
        (volume(json!({"configMap": {}})), "configmaps (via configmap volumes)"),
        (volume(json!({"csi": {"driver": "d"}})), "csidrivers (via CSI volumes)"),
        (volume(json!({"csi": {"driver": "d", "nodePublishSecretRef": named}})), "secrets"),
        (volume(json!({"glusterfs": {"endpoints": "x", "path": "p"}})), "endpoints (via glusterFS volumes)"),
        (volume(json!({"persistentVolumeClaim": {"claimName": "x"}})), "persistentvolumeclaims"),
        (volume(json!({"ephemeral": {}})), "persistentvolumeclaims (via ephemeral volumes)"),
        (volume(json!({"azureFile": {"secretName": "x", "shareName": "s"}})), "secrets"),
        (volume(json!({"azureFile": {"shareName": "s"}})), "secrets (via azureFile volumes)"),
        (volume(json!({"cephfs": {"monitors": [], "secretRef": named}})), "secrets"),
        (volume(json!({"cinder": {"volumeID": "v", "secretRef": named}})), "secrets"),
        (volume(json!({"flexVolume": {"driver": "d", "secretRef": named}})), "secrets"),
        (volume(json!({"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "secretRef": named}})), "secrets"),
        (volume(json!({"rbd": {"monitors": [], "image": "i", "secretRef": named}})), "secrets"),
        (volume(json!({"scaleIO": {"gateway": "g", "system": "s", "secretRef": named}})), "secrets"),
        (volume(json!({"storageos": {"secretRef": named}})), "secrets"),
        (projected(json!({"secret": named})), "secrets"),
        (projected(json!({"secret": {}})), "secrets (via projected volumes)"),
        (projected(json!({"configMap": named})), "configmaps"),
        (projected(json!({"configMap": {}})), "configmaps (via projected volumes)"),
        (projected(json!({"serviceAccountToken": {"path": "t"}})), "serviceaccounts (via projected volumes)"),
        (projected(json!({"clusterTrustBundle": {"name": "x", "path": "p"}})), "clustertrustbundles"),
        (projected(json!({"podCertificate": {"signerName": "s", "keyType": "ED25519"}})), "podcertificates"),
    ];
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        rows.push((container(list, "envFrom", secret_env.clone()), "secrets"));
        rows.push((container(list, "envFrom", config_env.clone()), "configmaps"));
        rows.push((container(list, "env", secret_key.clone()), "secrets"));
        rows.push((container(list, "env", config_key.clone()), "configmaps"));
    }
    let world = World::with_pods();
    let answer = |spec: &Value| {
        let mut document = pod("my", "mynode", true);
        document["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        Case::new(&world, Create, "pods", "ns", "mymirrorpod").object::<Pod>(&document).answer()
    };
    for (spec, resource) in &rows {
        let expected = format!("node \"mynode\" can not create pods that reference {resource}");
        assert!(answer(spec).ends_with(&expected), "{spec}: {}", answer(spec));
    }
    let plain = json!([
        {"name": "a", "hostPath": {"path": "/"}}, {"name": "b", "emptyDir": {}}, {"name": "c", "downwardAPI": {}},
        {"name": "d", "nfs": {"server": "s", "path": "p"}}, {"name": "e", "image": {"reference": "r"}},
        {"name": "f", "projected": {"sources": [{"downwardAPI": {}}]}},
    ]);
    assert_eq!(answer(&json!({"volumes": plain})), "ok");
    let unknown = answer(&volume(json!({})));
    assert!(unknown.ends_with("error checking mirror pod for API references: unknown volume type for volume  \"v\""));
    let unknown = answer(&projected(json!({})));
    assert!(
        unknown.ends_with("error checking mirror pod for API references: unknown source for projected volume \"v\"")
    );
}

/// New volume types must be added to one of the lists.
#[test]
fn every_kind_of_volume_is_known() {
    for (field, volume) in
        generated::core::v1::VolumeSource::def().fields.iter().map(|field| (field.json, json!({field.json: {}})))
    {
        let mut document = volume.clone();
        document["name"] = json!("v");
        let volume: generated::core::v1::Volume = parsed(&document);
        let found = super::super::pods::referenced_by_volume(&volume);
        assert!(found.is_ok(), "{field}: {found:?}");
    }
}

#[test]
fn rejects_status_changes_that_grant_permissions() {
    let labelled = |labels: Value| {
        let mut pod = pod("my", "mynode", false);
        pod["metadata"]["labels"] = labels;
        pod
    };
    let with = |status: Value| {
        let mut pod = pod("my", "mynode", false);
        pod["status"] = status;
        pod
    };
    let claims = |claims: Value| with(json!({"resourceClaimStatuses": claims}));
    let extended = |name: &str, container: &str| {
        let mapping = json!({"containerName": container, "resourceName": "r", "requestName": "q"});
        with(json!({"extendedResourceClaimStatus": {"resourceClaimName": name, "requestMappings": [mapping]}}))
    };
    let (a, ab, none) = (labelled(json!({"a": "1"})), labelled(json!({"a": "1", "b": "2"})), labelled(json!({})));
    let labels = "node \"mynode\" cannot update labels through pod status";
    let statuses = "node \"mynode\" cannot update resource claim statues";
    let extensions = "node \"mynode\" cannot update extended resource claim status";
    let one = claims(json!([{"name": "a", "resourceClaimName": "x"}]));
    let rows = [
        (&ab, &a, labels),
        (&a, &ab, labels),
        (&a, &none, labels),
        (&none, &a, labels),
        (&labelled(json!({"a": "2"})), &a, labels),
        (&a, &a, "ok"),
        (&one, &none, statuses),
        (&none, &one, statuses),
        (&one, &one, "ok"),
        (&claims(json!([{"name": "a", "resourceClaimName": "y"}])), &one, statuses),
        (&claims(json!([{"name": "b", "resourceClaimName": "x"}])), &one, statuses),
        (&claims(json!([{"name": "a"}])), &one, statuses),
        (&claims(json!([{"name": "a", "resourceClaimName": "x"}, {"name": "b"}])), &one, statuses),
        (&extended("x", "c"), &none, extensions),
        (&none, &extended("x", "c"), extensions),
        (&extended("x", "c"), &extended("x", "c"), "ok"),
        (&extended("y", "c"), &extended("x", "c"), extensions),
        (&extended("x", "d"), &extended("x", "c"), extensions),
        (&with(json!({"phase": "Running", "podIP": "10.0.0.1"})), &none, "ok"),
        (&with(json!({"conditions": [{"type": "Ready", "status": "True"}]})), &none, "ok"),
    ];
    let world = World::with_pods();
    for (new, old, expected) in rows {
        Case::new(&world, Update, "pods/status", "ns", "mypod").object::<Pod>(new).old::<Pod>(old).check(expected);
    }
}
