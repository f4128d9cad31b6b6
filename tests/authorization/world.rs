//! The server under test, its objects, each with a marker, and users with generated roles.

use std::collections::BTreeMap;
use std::fs;

use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::check::Violation;
use crate::common::Server;
use crate::common::wire::{Answer, Connection, Request};
use crate::policy::{Grant, fixed_grants};

pub const NAMESPACES: [&str; 2] = ["team-a", "team-b"];
pub const NODES: [&str; 2] = ["node-a", "node-b"];
/// The token of the administrator.
const ADMIN: &str = "token-admin";
const USERS: usize = 24;
/// The prefix of every marker.
pub const MARKER: &str = "mrk-";

/// A resource with stored objects.
#[derive(Debug)]
pub struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
}

const fn resource(group: &'static str, plural: &'static str, kind: &'static str) -> Resource {
    Resource { group, version: "v1", plural, kind }
}

pub static RESOURCES: [Resource; 14] = [
    resource("", "secrets", "Secret"),
    resource("", "configmaps", "ConfigMap"),
    resource("", "pods", "Pod"),
    resource("", "services", "Service"),
    resource("", "serviceaccounts", "ServiceAccount"),
    resource("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    resource("", "namespaces", "Namespace"),
    resource("", "nodes", "Node"),
    resource("apps", "deployments", "Deployment"),
    resource("coordination.k8s.io", "leases", "Lease"),
    resource("rbac.authorization.k8s.io", "roles", "Role"),
    resource("resource.k8s.io", "resourceclaims", "ResourceClaim"),
    resource("example.com", "widgets", "Widget"),
    resource("example.com", "gadgets", "Gadget"),
];

impl Resource {
    /// Returns the path of the collection; `namespace` is empty for all namespaces and for
    /// cluster-scoped resources.
    pub fn path(&self, namespace: &str) -> String {
        let root =
            if self.group.is_empty() { "/api/v1".into() } else { format!("/apis/{}/{}", self.group, self.version) };
        let scope = if namespace.is_empty() { String::new() } else { format!("/namespaces/{namespace}") };
        format!("{root}{scope}/{}", self.plural)
    }
}

/// A stored object.
#[derive(Debug)]
pub struct Object {
    pub resource: &'static Resource,
    pub namespace: &'static str,
    pub name: &'static str,
    /// The node whose pods reference the object; empty when no node may read it.
    pub node: &'static str,
    pub marker: String,
    content: Value,
}

impl Object {
    /// Returns the namespace whose roles apply; for a namespace, its own name.
    pub fn scope(&self) -> &str {
        if self.resource.plural == "namespaces" { self.name } else { self.namespace }
    }

    pub fn path(&self) -> String {
        format!("{}/{}", self.resource.path(self.namespace), self.name)
    }
}

/// The running server, its objects and its users.
pub struct World {
    pub server: Server,
    pub users: Vec<(String, Vec<Grant>)>,
    pub objects: Vec<Object>,
    stored: BTreeMap<usize, Value>,
    _folder: TempDir,
}

impl World {
    pub fn start(seed: u64, runtime: &tokio::runtime::Runtime) -> World {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.csv");
        let mut lines = "token-admin,admin,1,\"system:masters\"\n".to_owned();
        (0..USERS).for_each(|n| lines += &format!("token-user-{n},user-{n},u{n}\n"));
        NODES.iter().for_each(|n| lines += &format!("token-{n},system:node:{n},{n},\"system:nodes\"\n"));
        fs::write(&tokens, lines).unwrap();
        let flags = [
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--max-requests-inflight=2000",
            "--enable-priority-and-fairness=false",
            &format!("--token-auth-file={}", tokens.display()),
            // A log at the highest verbosity would be larger than all responses.
            "-v=0",
        ];
        let server = Server::start_with(folder.path(), &flags);
        let mut random = StdRng::seed_from_u64(seed);
        let mut fixed = fixed_grants().into_iter();
        let users = (0..USERS).map(|n| {
            let grants = fixed.next().unwrap_or_else(|| (0..3).map(|_| Grant::generate(&mut random)).collect());
            (format!("user-{n}"), grants)
        });
        let mut world =
            World { users: users.collect(), objects: objects(), server, stored: BTreeMap::new(), _folder: folder };
        runtime.block_on(world.create_objects());
        world
    }

    async fn create_objects(&mut self) {
        let admin = &mut Connection::new(&self.server);
        for (plural, kind, scope) in [("widgets", "Widget", "Namespaced"), ("gadgets", "Gadget", "Cluster")] {
            let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
            let names = json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind});
            let definition = json!({
                "metadata": {"name": format!("{plural}.example.com")},
                "spec": {"group": "example.com", "scope": scope, "names": names, "versions": [version]},
            });
            create(admin, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
            let objects = format!("/apis/example.com/v1/{plural}");
            while admin.send(Request::json(ADMIN, "GET", &objects, "")).await.code != 200 {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
        for index in 0..self.objects.len() {
            let stored = self.create(index, admin).await;
            self.stored.insert(index, stored);
        }
        for (user, grants) in &self.users {
            for (index, grant) in grants.iter().enumerate() {
                grant_rights(admin, user, index, grant).await;
            }
        }
    }

    async fn create(&self, index: usize, admin: &mut Connection) -> Value {
        let object = &self.objects[index];
        let created = create(admin, &object.resource.path(object.namespace), &object.content).await;
        if let Some(status) = object.content.get("status") {
            let patch = json!({"status": status}).to_string();
            let path = format!("{}/status", object.path());
            let content_type = "application/merge-patch+json";
            let answer = admin.send(Request { content_type, ..Request::json(ADMIN, "PATCH", &path, &patch) }).await;
            assert_eq!(answer.code, 200, "{}", answer.text());
            return answer.json();
        }
        created
    }

    /// Recreates deleted objects; a changed object is a violation unless a user may change it.
    pub async fn restore(&mut self) -> Vec<Violation> {
        let mut admin = Connection::new(&self.server);
        let mut violations = Vec::new();
        for index in 0..self.objects.len() {
            let object = &self.objects[index];
            let now = send(&mut admin, "GET", &object.path()).await;
            let is_same = now.code == 200 && now.json() == self.stored[&index];
            if is_same {
                continue;
            }
            if !self.is_writable(object) {
                let text = format!("{} was changed and no user may do so: {}", object.path(), now.text());
                violations.push(Violation { shape: "stored", text });
            }
            if object.resource.plural != "namespaces" && object.resource.plural != "nodes" {
                let path = format!("{}?gracePeriodSeconds=0&propagationPolicy=Background", object.path());
                send(&mut admin, "DELETE", &path).await;
                if send(&mut admin, "GET", &object.path()).await.code == 404 {
                    let stored = self.create(index, &mut admin).await;
                    self.stored.insert(index, stored);
                    continue;
                }
            }
            // The object has a finalizer or a grace period: its current state becomes the
            // reference.
            let now = send(&mut admin, "GET", &object.path()).await;
            self.stored.insert(index, now.json());
        }
        violations
    }

    /// Reports whether a user or a node may change or delete the object.
    fn is_writable(&self, object: &Object) -> bool {
        let verbs = ["create", "update", "patch", "delete", "deletecollection"];
        let subresources = ["status", "ephemeralcontainers", "proxy", "log", "token"];
        let by_user =
            self.users.iter().any(|(_, grants)| crate::policy::permits(grants, &verbs, object, &subresources));
        by_user || ["pods", "nodes", "leases"].contains(&object.resource.plural) && !object.node.is_empty()
    }

    /// Returns the rights of a user; none for nodes, which have no roles.
    pub fn grants(&self, user: &str) -> Option<&[Grant]> {
        self.users.iter().find(|(name, _)| name == user).map(|(_, grants)| grants.as_slice())
    }
}

/// Sends a request without a body as the administrator.
async fn send(admin: &mut Connection, method: &str, path: &str) -> Answer {
    admin.send(Request::json(ADMIN, method, path, "")).await
}

/// Creates an object as the administrator; fails unless the code is 201.
async fn create(admin: &mut Connection, path: &str, object: &Value) -> Value {
    let body = object.to_string();
    let answer = admin.send(Request::json(ADMIN, "POST", path, &body)).await;
    assert_eq!(answer.code, 201, "POST {path}: {}", answer.text());
    answer.json()
}

async fn grant_rights(admin: &mut Connection, user: &str, index: usize, grant: &Grant) {
    let (prefix, scope) = match grant.namespace {
        "" => ("Cluster", String::new()),
        namespace => ("", format!("namespaces/{namespace}/")),
    };
    let name = format!("grant-{user}-{index}");
    let kind = format!("{prefix}Role");
    let root = format!("/apis/rbac.authorization.k8s.io/v1/{scope}{}", kind.to_lowercase());
    let rules: Vec<Value> = grant.rules.iter().map(super::policy::Rule::to_json).collect();
    create(admin, &format!("{root}s"), &json!({"metadata": {"name": name}, "rules": rules})).await;
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": kind, "name": name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    });
    create(admin, &format!("{root}bindings"), &binding).await;
}

/// Returns the objects, in an order in which they can be created.
fn objects() -> Vec<Object> {
    let mut objects = Vec::new();
    let find = |plural: &str| RESOURCES.iter().find(|resource| resource.plural == plural).unwrap();
    let mut add = |plural: &str, namespace: &'static str, name: &'static str, node: &'static str, content: Value| {
        let marker = format!("{MARKER}{:04}.", objects.len());
        let mut content = content;
        content["metadata"]["name"] = json!(name);
        let annotations = &mut content["metadata"]["annotations"];
        annotations["marker"] = json!(marker);
        objects.push(Object { resource: find(plural), namespace, name, node, marker, content });
    };
    NAMESPACES.iter().for_each(|name| add("namespaces", "", name, "", json!({})));
    NODES.iter().for_each(|name| add("nodes", "", name, name, json!({})));
    ["allowed", "other"].iter().for_each(|name| add("gadgets", "", name, "", custom("Gadget")));
    for namespace in NAMESPACES {
        add("serviceaccounts", namespace, "default", "", json!({}));
        let enforced = json!({"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}});
        add(
            "serviceaccounts",
            namespace,
            "allowed",
            "",
            json!({"metadata": enforced, "secrets": [{"name": "allowed"}]}),
        );
        for (name, node) in [("allowed", "node-a"), ("other", "node-b")] {
            add("secrets", namespace, name, node, json!({"stringData": {"k": "v"}}));
            add("configmaps", namespace, name, node, json!({"data": {"k": "v"}}));
            add("services", namespace, name, "", json!({"spec": {"ports": [{"port": 80}]}}));
            add("resourceclaims", namespace, name, node, json!({"spec": {}}));
            let resources = json!({"requests": {"storage": "1Gi"}});
            let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": resources}});
            add("persistentvolumeclaims", namespace, name, node, claim);
            add("leases", namespace, name, "", json!({"spec": {"holderIdentity": "h"}}));
            add("roles", namespace, name, "", json!({"rules": []}));
            add("widgets", namespace, name, "", custom("Widget"));
            let template =
                json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
            let deployment = json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
            add("deployments", namespace, name, "", deployment);
        }
        add("secrets", namespace, "unread", "", json!({"stringData": {"k": "v"}}));
        add("resourceclaims", namespace, "unread", "", json!({"spec": {}}));
        add("pods", namespace, "allowed", "node-a", pod("node-a", "allowed", "default"));
        add("pods", namespace, "other", "node-b", pod("node-b", "other", "default"));
        add("pods", namespace, "guarded", "node-a", pod("node-a", "allowed", "allowed"));
    }
    objects
}

fn custom(kind: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": kind, "spec": {"size": 1}})
}

/// Returns a pod on a node that references a secret, a config map, a volume claim and a resource
/// claim of one name.
fn pod(node: &str, refers_to: &str, account: &str) -> Value {
    let env = json!([
        {"name": "s", "valueFrom": {"secretKeyRef": {"name": refers_to, "key": "k"}}},
        {"name": "m", "valueFrom": {"configMapKeyRef": {"name": refers_to, "key": "k"}}},
    ]);
    json!({
        "metadata": {"labels": {"app": refers_to}},
        "spec": {
            "nodeName": node, "serviceAccountName": account, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "i", "env": env}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": refers_to}}],
            "resourceClaims": [
                {"name": "own", "resourceClaimName": refers_to},
                {"name": "made", "resourceClaimTemplateName": "template"},
            ],
        },
    })
}
