//! Objects that a cluster begins with.

use endpoints::Environment;
use generated::core::v1::Namespace;
use machinery::defaulting;
use machinery::reflect::{Mut, Owned};
use machinery::status::Status;
use registry::{Context, CreateOptions};

/// Namespaces that always exist (`systemnamespaces.Controller`).
pub const SYSTEM_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Makes the system namespaces that are missing.
pub async fn namespaces(environment: &Environment) -> Result<(), Status> {
    let Some(store) = environment.stores.get(&("", "namespaces")) else { return Ok(()) };
    for name in SYSTEM_NAMESPACES {
        let mut namespace = Namespace::default();
        namespace.metadata.name = name.into();
        defaulting::apply_defaults(Mut::of(&mut namespace));
        match store.create(&Context::default(), Owned::of(namespace), &CreateOptions::default()).await {
            Ok(_) => {}
            Err(status) if status.reason == "AlreadyExists" => {}
            Err(status) => return Err(status),
        }
    }
    Ok(())
}
