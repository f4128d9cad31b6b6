//! Decisions of `NodeRestriction` for the kubelet of node `mynode`. The rows are the cases of
//! upstream's `admission_test.go` and more; the rows about pods of every kind on every node are
//! products of both.

use std::collections::HashMap;
use std::sync::Arc;

use audit::AuditContext;
use endpoints::Operation::{Create, Delete, Update};
use endpoints::{Conversions, Reservations};
use futures_util::FutureExt;
use generated::core::v1::{Node, Pod};
use machinery::json;
use machinery::reflect::Mut;
use registry::ReadRevision;
use request::User;
use request::warnings::Warnings;
use serde_json::{Value, json};

use super::lookup::{ListerResource, NODES, PODS};
use super::*;

mod certificates;
mod nodes;
mod others;
mod pods;
mod tokens;

/// Stored objects and granted audiences.
#[derive(Default)]
struct World {
    objects: HashMap<(&'static str, String, String), Owned>,
    audiences: Vec<&'static str>,
}

impl World {
    /// Creates the node `mynode`, and for each of `mynode`, `othernode`, and no node a pod and a
    /// mirror pod: `mypod`, `mymirrorpod`, `otherpod`, and so on.
    fn with_pods() -> Self {
        let mut world = World::default();
        world.add::<Node>(NODES, json!({"metadata": {"name": "mynode", "uid": "mynode-uid"}}));
        for (prefix, node) in [("my", "mynode"), ("other", "othernode"), ("unbound", "")] {
            for mirror in [false, true] {
                world.add::<Pod>(PODS, pod(prefix, node, mirror));
            }
        }
        world
    }

    fn add<T: Struct>(&mut self, (_, plural, _): ListerResource, document: Value) {
        let object = Owned::of(parsed::<T>(&document));
        let meta = meta(object.as_ref()).unwrap().clone();
        self.objects.insert((plural, meta.namespace, meta.name), object);
    }
}

impl Lookup for World {
    async fn find<T: Struct>(&self, resource: ListerResource, key: (&str, &str)) -> Result<Option<Arc<T>>, Status> {
        let found = self.objects.get(&(resource.1, key.0.to_owned(), key.1.to_owned()));
        Ok(found.and_then(Owned::downcast_ref::<T>).cloned().map(Arc::new))
    }

    async fn is_allowed(&self, access_attributes: &authz::AuthorizationAttributes<'_>) -> bool {
        assert_eq!(
            (access_attributes.verb.as_ref(), access_attributes.group, access_attributes.version),
            ("request-serviceaccounts-token-audience", "", "v1")
        );
        assert_eq!(
            (access_attributes.namespace, access_attributes.name, access_attributes.user.name.as_str()),
            ("ns", "mysa", "system:node:mynode")
        );
        self.audiences.contains(&access_attributes.resource)
    }
}

/// A pod with a name derived from its node and whether it is a mirror pod.
fn pod(prefix: &str, node: &str, mirror: bool) -> Value {
    let name = if mirror { format!("{prefix}mirrorpod") } else { format!("{prefix}pod") };
    let mut pod = json!({
        "metadata": {"namespace": "ns", "name": name, "uid": "pod-uid"},
        "spec": {"nodeName": node},
    });
    if mirror {
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "true"});
        pod["metadata"]["ownerReferences"] = json!([
            {"apiVersion": "v1", "kind": "Node", "name": node, "uid": format!("{node}-uid"), "controller": true}
        ]);
    }
    pod
}

fn parsed<T: Struct>(document: &Value) -> T {
    let mut object = T::default();
    json::from_value(document, Mut::of(&mut object), &mut json::Issues::ignore()).unwrap();
    object
}

/// A request of a kubelet and its environment.
struct Case<'w> {
    world: &'w World,
    gates: Gates,
    user: User,
    operation: Operation,
    /// `[group:]resource[/subresource]`
    resource: &'static str,
    namespace: &'static str,
    name: String,
    object: Option<Owned>,
    old: Option<Owned>,
}

const DEFAULT_GATES: Gates =
    Gates { insecure_signing_requests: false, audience_restriction: true, pod_certificates: false };

impl<'w> Case<'w> {
    fn new(
        world: &'w World,
        operation: Operation,
        resource: &'static str,
        namespace: &'static str,
        name: &str,
    ) -> Self {
        Case {
            world,
            gates: DEFAULT_GATES,
            user: User::new("system:node:mynode", ["system:nodes"]),
            operation,
            resource,
            namespace,
            name: name.to_owned(),
            object: None,
            old: None,
        }
    }

    fn object<T: Struct>(mut self, document: &Value) -> Self {
        self.object = Some(Owned::of(parsed::<T>(document)));
        self
    }

    fn old<T: Struct>(mut self, document: &Value) -> Self {
        self.old = Some(Owned::of(parsed::<T>(document)));
        self
    }

    /// Returns `ok`, or code and message.
    fn answer(self) -> String {
        let (group, resource) = self.resource.split_once(':').unwrap_or(("", self.resource));
        let (plural, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let attributes = AdmissionAttributes {
            operation: self.operation,
            kind: &kubernetes::catalog().kinds[0],
            group,
            version: "v1",
            plural,
            subresource: subresource.to_owned(),
            namespace: self.namespace.to_owned(),
            name: self.name,
            generate_name: String::new(),
            user: Arc::new(self.user),
            dry_run: false,
            reservations: Reservations::default(),
            warnings: Warnings::default(),
            trail: AuditContext::default(),
            as_of: ReadRevision::default(),
            definition: None,
            conversions: Conversions::default(),
        };
        let Some(node) = attributes.user.node() else { return "not a kubelet".into() };
        let (object, old) = (self.object.as_ref(), self.old.as_ref());
        let request = Request { lookup: self.world, gates: self.gates, attributes: &attributes, node, object, old };
        match request.admit().now_or_never().expect("lookups of tests do not wait") {
            Ok(()) => "ok".into(),
            Err(status) => format!("{} {}", status.code, status.message),
        }
    }

    /// Asserts that the result is `ok`, or 403 with this text.
    fn check(self, expected: &str) {
        let what = format!("{:?} {} {}", self.operation, self.resource, self.name);
        let answer = self.answer();
        let matches = match expected {
            "ok" => answer == "ok",
            text => answer.starts_with("403 ") && answer.contains(text),
        };
        assert!(matches, "{what}: {answer}, expected {expected}");
    }
}
