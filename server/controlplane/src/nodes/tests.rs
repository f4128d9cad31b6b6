//! Decisions for the kubelet of node `one`, with a pod that references every kind of object. The
//! rows are the cases of upstream's `node_authorizer_test.go` and more.

use authz::Selectors;
use generated::core::v1::{PersistentVolume, Pod};
use machinery::json;
use machinery::reflect::{Mut, Struct};
use serde_json::{Value, json};

use super::graph::Relations;
use super::*;

mod table;

fn parsed<T: Struct>(document: &Value) -> T {
    let mut object = T::default();
    json::from_value(document, Mut::of(&mut object), &mut json::Issues::ignore()).unwrap();
    object
}

/// The relations of pods, volumes, and other objects in a test.
#[derive(Default)]
struct World(Relations);

impl World {
    /// Adds or replaces a pod of the namespace `shop`.
    fn pod(&mut self, name: &str, node: &str, spec: Value, status: Value) {
        let pod: Pod =
            parsed(&json!({"metadata": {"name": name, "namespace": "shop"}, "spec": spec, "status": status}));
        let vertex = (VertexType::Pod, "shop".to_owned(), name.to_owned());
        self.0.relate(vertex, Some((node.to_owned(), references::of_pod(&pod))));
    }

    fn volume(&mut self, name: &str, claim: &str, spec: Value) {
        let mut document = json!({"metadata": {"name": name}, "spec": spec});
        document["spec"]["claimRef"] = json!({"namespace": "shop", "name": claim});
        let volume: PersistentVolume = parsed(&document);
        self.0.bind(name, Some(((VertexType::Claim, "shop".into(), claim.into()), references::of_volume(&volume))));
    }

    fn authorizer(self, features: &[&str]) -> NodeAuthorizer {
        let features = FeatureGates::parse(features.iter().copied()).unwrap();
        let policy = crate::rbac::BootstrapPolicy::load(&features).unwrap();
        let role = policy.cluster_roles.iter().find(|role| role.metadata.name == ROLE).unwrap();
        let rules = crate::rbac::rules(&role.rules);
        NodeAuthorizer { graph: Graph::of(self.0), rules, gates: Gates::of(&features) }
    }
}

/// Returns the decision for a request: `ok` or the reason.
///
/// A request is `verb [group:]resource[/subresource] [namespace/]name [field selector]`.
fn answer(authorizer: &NodeAuthorizer, user: &User, request: &str) -> String {
    let words: Vec<&str> = request.split(' ').collect();
    let (group, resource) = words[1].split_once(':').unwrap_or(("", words[1]));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let (namespace, name) = words[2].split_once('/').unwrap_or(("", words[2]));
    let request = AuthorizationAttributes {
        namespace,
        name,
        subresource,
        selectors: Selectors::parse(words.get(3).unwrap_or(&""), ""),
        ..AuthorizationAttributes::resource(user, words[0], group, resource)
    };
    authorizer.check(&request).map_or_else(|refusal| refusal.to_string(), |()| "ok".into())
}

fn kubelet(node: &str) -> User {
    User::new(format!("system:node:{node}"), ["system:nodes"])
}

fn secret_volumes(names: &[&str]) -> Value {
    let volume = |name: &&str| json!({"name": name, "secret": {"secretName": name}});
    json!({"volumes": names.iter().map(volume).collect::<Vec<_>>()})
}

#[test]
fn allows_shared_secrets_only_for_nodes_of_their_pods() {
    let mut world = World::default();
    world.pod("a", "one", secret_volumes(&["one", "one-two", "all"]), json!({}));
    world.pod("b", "two", secret_volumes(&["one-two", "all"]), json!({}));
    world.pod("c", "three", secret_volumes(&["all"]), json!({}));
    let authorizer = world.authorizer(&[]);
    for (node, readable) in
        [("one", ["one", "one-two", "all"]), ("two", ["", "one-two", "all"]), ("three", ["", "", "all"])]
    {
        for (secret, expected) in ["one", "one-two", "all"].into_iter().zip(readable) {
            let found = answer(&authorizer, &kubelet(node), &format!("get secrets shop/{secret}"));
            assert_eq!(found == "ok", secret == expected, "node {node}, secret {secret}: {found}");
        }
    }
}

#[test]
fn permissions_follow_changes_of_a_pod() {
    let check = |spec: Value, status: Value, request: &str| {
        let mut world = World::default();
        world.pod("a", "one", secret_volumes(&["old"]), json!({}));
        world.pod("a", "one", spec, status);
        answer(&world.authorizer(&[]), &kubelet("one"), request)
    };
    let none = "no relationship found between node 'one' and this object";
    let debug = |source: &str| json!({"ephemeralContainers": [{"name": "e", "envFrom": [{source: {"name": "new"}}]}]});
    assert_eq!(check(secret_volumes(&["old"]), json!({}), "get secrets shop/old"), "ok");
    assert_eq!(check(json!({}), json!({}), "get secrets shop/old"), none);
    assert_eq!(check(json!({}), json!({}), "get secrets shop/new"), none);
    assert_eq!(check(debug("secretRef"), json!({}), "get secrets shop/new"), "ok");
    assert_eq!(check(debug("secretRef"), json!({}), "get configmaps shop/new"), none);
    assert_eq!(check(debug("configMapRef"), json!({}), "get configmaps shop/new"), "ok");
    let mut world = World::default();
    world.pod("a", "one", secret_volumes(&["old"]), json!({}));
    world.0.relate((VertexType::Pod, "shop".into(), "a".into()), None);
    assert_eq!(answer(&world.authorizer(&[]), &kubelet("one"), "get secrets shop/old"), none);
}

#[test]
fn claim_names_in_status_count_only_for_templates() {
    let template = json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]});
    let named = json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]});
    let statuses = |name: &str| json!({"resourceClaimStatuses": [{"name": name, "resourceClaimName": "made"}]});
    let extended = json!({"extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": "made"}});
    let node = json!({"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "made"}]});
    for (spec, status, expected) in [
        (&template, statuses("gpu"), true),
        (&template, statuses("other"), false),
        (&named, statuses("gpu"), false),
        (&json!({}), statuses("gpu"), false),
        (&json!({}), extended, true),
        (&template, node, false),
    ] {
        let mut world = World::default();
        world.pod("a", "one", spec.clone(), status.clone());
        let found = answer(&world.authorizer(&[]), &kubelet("one"), "get resource.k8s.io:resourceclaims shop/made");
        assert_eq!(found == "ok", expected, "{spec} {status}: {found}");
    }
}

#[test]
fn other_users_and_unnamed_nodes_get_no_opinion() {
    let mut world = World::default();
    world.pod("web", "one", json!({}), json!({}));
    let authorizer = world.authorizer(&[]);
    assert_eq!(answer(&authorizer, &User::new("system:node:one", ["dev"]), "get pods shop/web"), "");
    assert_eq!(answer(&authorizer, &User::new("one", ["system:nodes"]), "get pods shop/web"), "");
    let unnamed = "unknown node for user \"system:node:\"";
    assert_eq!(answer(&authorizer, &kubelet(""), "get pods shop/web"), unnamed);
}

#[test]
fn bootstrap_policy_has_node_role() {
    let policy = crate::rbac::BootstrapPolicy::load(&FeatureGates::default()).unwrap();
    assert!(policy.cluster_roles.iter().any(|role| role.metadata.name == ROLE && !role.rules.is_empty()));
}
