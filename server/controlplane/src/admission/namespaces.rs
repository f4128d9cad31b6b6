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
/// Namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Nothing is created in a namespace that is missing or terminating.
pub async fn admit(environment: &Environment, attributes: &Attributes) -> Result<(), Status> {
    let created = attributes.operation == Operation::Create;
    // What somebody may do in a namespace can be asked of any.
    let exempt = [NAMESPACES.1, "localsubjectaccessreviews"].contains(&attributes.plural);
    if !created || attributes.namespace.is_empty() || exempt {
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
    if name.is_empty() || attributes.plural == NAMESPACES.1 {
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
    let creates = attributes.operation == Operation::Create && !attributes.dry_run;
    if !creates || name.is_empty() || attributes.plural == NAMESPACES.1 {
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
    let protected = attributes.kind.group.is_empty()
        && attributes.plural == NAMESPACES.1
        && IMMORTAL.contains(&attributes.name.as_str());
    if protected { Err(forbidden(attributes, "this namespace may not be deleted")) } else { Ok(()) }
}
