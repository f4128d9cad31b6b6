//! Plugins about namespaces: `NamespaceLifecycle` (nothing new in one that is missing or on its way out; some stay), `NamespaceExists`,
//! `NamespaceAutoProvision`.

use endpoints::{Attributes, Environment, Operation, internal};
use generated::core::v1::{Namespace, namespace_phase};
use machinery::reflect::Owned;
use machinery::status::{Cause, GroupResource, Status};
use registry::{CheckWrite, Context, CreateOptions};

use super::forbidden;
use super::lookup::find;

const NAMESPACES: (&str, &str) = ("", "namespaces");
const ACCESS_REVIEWS: (&str, &str) = ("authorization.k8s.io", "localsubjectaccessreviews");
/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether a request is about an object in a namespace, and not about the namespace itself.
fn is_in_namespace(attributes: &Attributes) -> bool {
    !attributes.namespace.is_empty() && (attributes.group, attributes.plural) != NAMESPACES
}

/// Refuses new objects in a namespace that is missing or being terminated.
///
/// Upstream looks for the namespace of updates too. An object that is updated exists, so only the message would differ.
pub async fn admit(environment: &Environment, attributes: &Attributes) -> Result<(), Status> {
    // Access reviews may name any namespace: "not found" would tell which namespaces exist.
    let is_review = (attributes.group, attributes.plural) == ACCESS_REVIEWS;
    if attributes.operation != Operation::Create || is_review || !is_in_namespace(attributes) {
        return Ok(());
    }
    let name = &attributes.namespace;
    match find::<Namespace>(environment, attributes, NAMESPACES, ("", name)).await? {
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

/// Nothing is written in a namespace that is missing.
pub async fn check_exists(environment: &Environment, attributes: &Attributes) -> Result<(), Status> {
    let name = &attributes.namespace;
    if !is_in_namespace(attributes) {
        return Ok(());
    }
    match find::<Namespace>(environment, attributes, NAMESPACES, ("", name)).await? {
        Some(_) => Ok(()),
        None => Err(Status::not_found(GroupResource { group: "", resource: NAMESPACES.1 }, name)),
    }
}

/// A namespace in which something is created is made when it is missing.
pub async fn provide(environment: &Environment, attributes: &Attributes) -> Result<(), Status> {
    let name = &attributes.namespace;
    if attributes.dry_run || !is_in_namespace(attributes) {
        return Ok(());
    }
    let kind = environment.catalog.kind("", "v1", "Namespace");
    let Some((store, kind)) = environment.stores.get(&NAMESPACES).zip(kind) else { return Ok(()) };
    if find::<Namespace>(environment, attributes, NAMESPACES, ("", name)).await?.is_some() {
        return Ok(());
    }
    let mut namespace = Namespace::default();
    namespace.metadata.name.clone_from(name);
    let context = Context { features: environment.options.features.clone(), ..Context::default() };
    let object = internal(kind, Owned::of(namespace));
    let created = store.create(&context, object, &CreateOptions::default(), &mut Anything).await;
    // The next plugins have to see it.
    attributes.as_of.renew();
    match created {
        Ok(_) => Ok(()),
        // Somebody else was faster.
        Err(status) if status.code == 409 => Ok(()),
        Err(status) => Err(forbidden(attributes, status.message)),
    }
}

/// Lets everything be stored.
struct Anything;

impl CheckWrite for Anything {}

/// The system's namespaces may not be deleted.
pub fn validate_delete(attributes: &Attributes) -> Result<(), Status> {
    let protected = attributes.operation == Operation::Delete
        && (attributes.group, attributes.plural) == NAMESPACES
        && attributes.subresource.is_empty()
        && IMMORTAL.contains(&attributes.name.as_str());
    if protected { Err(forbidden(attributes, "this namespace may not be deleted")) } else { Ok(()) }
}
