//! Plugins for namespaces: `NamespaceLifecycle`, `NamespaceExists`, `NamespaceAutoProvision`.
//!
//! `NamespaceLifecycle` rejects new objects in missing or terminating namespaces and the deletion
//! of system namespaces.

use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation, internal};
use generated::core::v1::{Namespace, namespace_phase};
use machinery::catalog::Catalog;
use machinery::features::FeatureGates;
use machinery::format::is_path_segment_name;
use machinery::reflect::Owned;
use machinery::status::{Cause, GroupResource, Status};
use registry::{CheckWrite, CreateOptions, Stores, WriteContext};

use super::forbidden;
use super::lookup::find;

const NAMESPACES: (&str, &str) = ("", "namespaces");
const ACCESS_REVIEWS: (&str, &str) = ("authorization.k8s.io", "localsubjectaccessreviews");
/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether a request addresses an object in a namespace and not the namespace itself.
fn is_in_namespace(attributes: &AdmissionAttributes) -> bool {
    !attributes.namespace.is_empty() && (attributes.group, attributes.plural) != NAMESPACES
}

/// Rejects new objects in a missing or terminating namespace.
///
/// Upstream also looks up the namespace of updates. An updated object exists, so only the message
/// would differ.
pub async fn admit(stores: &Stores, attributes: &AdmissionAttributes) -> Result<(), Status> {
    if !needs_namespace(attributes) {
        return Ok(());
    }
    check_name(&attributes.namespace)?;
    let found = find::<Namespace>(stores, attributes, NAMESPACES, ("", &attributes.namespace)).await?;
    check_phase(attributes, found.as_deref())
}

/// Rejects a namespace name that is invalid in a URL path, as client-go's `Request.Name` does.
fn check_name(name: &str) -> Result<(), Status> {
    let messages = is_path_segment_name(name);
    match messages.is_empty() {
        true => Ok(()),
        false => Err(Status::internal(format!("invalid resource name \"{name}\": [{}]", messages.join(" ")))),
    }
}

/// Whether a request creates an object that requires a namespace.
fn needs_namespace(attributes: &AdmissionAttributes) -> bool {
    // Access reviews may name any namespace: 404 would disclose which namespaces exist.
    let is_review = (attributes.group, attributes.plural) == ACCESS_REVIEWS;
    attributes.operation == Operation::Create && !is_review && is_in_namespace(attributes)
}

fn check_phase(attributes: &AdmissionAttributes, namespace: Option<&Namespace>) -> Result<(), Status> {
    let name = &attributes.namespace;
    match namespace {
        None => Err(Status::not_found(GroupResource { group: "", resource: "namespaces" }, name)),
        Some(namespace) if namespace.status.phase != namespace_phase::TERMINATING => Ok(()),
        Some(_) => {
            let why = format!("unable to create new content in namespace {name} because it is being terminated");
            let mut status = forbidden(attributes, why);
            if let Some(details) = &mut status.details {
                details.causes.push(Cause {
                    reason: "NamespaceTerminating".into(),
                    message: format!("namespace {name} is being terminated"),
                    field: "metadata.namespace".into(),
                });
            }
            Err(status)
        }
    }
}

/// Rejects writes in a missing namespace.
pub async fn check_exists(stores: &Stores, attributes: &AdmissionAttributes) -> Result<(), Status> {
    let name = &attributes.namespace;
    if !is_in_namespace(attributes) {
        return Ok(());
    }
    match find::<Namespace>(stores, attributes, NAMESPACES, ("", name)).await? {
        Some(_) => Ok(()),
        None => Err(Status::not_found(GroupResource { group: "", resource: NAMESPACES.1 }, name)),
    }
}

/// Creates the namespace of a new object when it is missing.
pub async fn auto_provision(
    catalog: &'static Catalog,
    stores: &Stores,
    features: &Arc<FeatureGates>,
    attributes: &AdmissionAttributes,
) -> Result<(), Status> {
    let name = &attributes.namespace;
    if attributes.dry_run || !is_in_namespace(attributes) {
        return Ok(());
    }
    let kind = catalog.kind("", "v1", "Namespace");
    let Some((store, kind)) = stores.get(&NAMESPACES).zip(kind) else { return Ok(()) };
    if find::<Namespace>(stores, attributes, NAMESPACES, ("", name)).await?.is_some() {
        return Ok(());
    }
    let mut namespace = Namespace::default();
    namespace.metadata.name.clone_from(name);
    let context = WriteContext { features: features.clone(), ..WriteContext::default() };
    let object = internal(kind, Owned::of(namespace));
    let created = store.create(&context, object, &CreateOptions::default(), &mut AdmitAll).await;
    // Later plugins must read the new namespace.
    attributes.as_of.renew();
    match created {
        Ok(_) => Ok(()),
        // Another client created the namespace concurrently.
        Err(status) if status.code == 409 => Ok(()),
        Err(status) => Err(forbidden(attributes, status.message)),
    }
}

/// A write check that admits everything.
struct AdmitAll;

impl CheckWrite for AdmitAll {}

/// Rejects the deletion of system namespaces.
pub fn validate_delete(attributes: &AdmissionAttributes) -> Result<(), Status> {
    let protected = attributes.operation == Operation::Delete
        && (attributes.group, attributes.plural) == NAMESPACES
        && attributes.subresource.is_empty()
        && IMMORTAL.contains(&attributes.name.as_str());
    if protected { Err(forbidden(attributes, "this namespace may not be deleted")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{parsed, request};

    /// Rows of upstream's tests of `plugin/namespace/lifecycle`.
    #[test]
    fn new_objects_need_an_active_namespace() {
        let check = |operation: Operation, resource: &'static str, phase: Option<&str>, expect: &str| {
            let namespace = phase.map(|phase| parsed::<Namespace>(&json!({"status": {"phase": phase}})));
            let attributes = request(operation, "Pod", resource);
            let outcome = match needs_namespace(&attributes) {
                true => check_phase(&attributes, namespace.as_ref()),
                false => Ok(()),
            };
            let message = outcome.err().map(|status| status.message).unwrap_or_default();
            assert_eq!(message, expect, "{operation:?} {resource} {phase:?}");
        };
        let terminated = |name: &str| {
            format!(
                "{name} is forbidden: unable to create new content in namespace team-a because it is being terminated"
            )
        };
        check(Operation::Create, "pods", Some("Active"), "");
        check(Operation::Create, "pods", None, "namespaces \"team-a\" not found");
        check(Operation::Create, "pods", Some("Terminating"), &terminated("pods \"one\""));
        check(Operation::Create, "pods/eviction", Some("Terminating"), &terminated("pods \"one\""));
        for operation in [Operation::Update, Operation::Delete, Operation::Connect] {
            check(operation, "pods", Some("Terminating"), "");
            check(operation, "pods", None, "");
        }
        check(Operation::Create, "namespaces", None, "");
        check(Operation::Update, "namespaces", Some("Terminating"), "");
        check(Operation::Create, "namespaces/finalize", Some("Terminating"), "");
    }

    #[test]
    fn rejects_namespace_names_that_are_invalid_in_paths() {
        let check_message = |name: &str| check_name(name).map_err(|status| status.message);
        assert_eq!(check_message("team-a"), Ok(()));
        let dots = "Internal error occurred: invalid resource name \"..\": [may not be '..']";
        assert_eq!(check_message(".."), Err(dots.into()));
        let both = "Internal error occurred: invalid resource name \"a/%\": [may not contain '/' may not contain '%']";
        assert_eq!(check_message("a/%"), Err(both.into()));
    }

    #[test]
    fn rejects_deletion_of_system_namespaces() {
        let check = |name: &str, operation: Operation, resource: &'static str, expect: bool| {
            let attributes = AdmissionAttributes { name: name.into(), ..request(operation, "Namespace", resource) };
            assert_eq!(validate_delete(&attributes).is_ok(), expect, "{name} {operation:?} {resource}");
        };
        for name in IMMORTAL {
            check(name, Operation::Delete, "namespaces", false);
            check(name, Operation::Update, "namespaces", true);
            check(name, Operation::Delete, "pods", true);
        }
        check("kube-node-lease", Operation::Delete, "namespaces", true);
        check("team-a", Operation::Delete, "namespaces", true);
    }

    #[test]
    fn messages_fall_back_to_generate_name() {
        let check = |name: &str, generate_name: &str, expect: &str| {
            let (name, generate_name) = (name.to_owned(), generate_name.to_owned());
            let attributes = AdmissionAttributes { name, generate_name, ..request(Operation::Create, "Pod", "pods") };
            assert_eq!(forbidden(&attributes, "why").message, expect);
        };
        check("one", "gen-", "pods \"one\" is forbidden: why");
        check("", "gen-", "pods \"gen-\" is forbidden: why");
        check("", "", "pods \"Unknown\" is forbidden: why");
    }
}
