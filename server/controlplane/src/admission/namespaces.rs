//! `NamespaceLifecycle`: nothing new in a namespace that is missing or on its way out; some namespaces stay.

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{Namespace, namespace_phase};
use machinery::status::{Cause, GroupResource, Status};

use super::{find, forbidden};

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
    match find::<Namespace>(environment, NAMESPACES, "", name).await? {
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

/// The system's namespaces may not be deleted.
pub fn validate_delete(attributes: &Attributes) -> Result<(), Status> {
    let protected = attributes.kind.group.is_empty()
        && attributes.plural == NAMESPACES.1
        && IMMORTAL.contains(&attributes.name.as_str());
    if protected { Err(forbidden(attributes, "this namespace may not be deleted")) } else { Ok(()) }
}
