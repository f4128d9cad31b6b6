//! Visits the containers of a pod, of all types.

use machinery::field_path::Path;
use machinery::json_name;

use generated::core::v1::{
    Container, ContainerPort, EnvVar, EphemeralContainerCommon, PodSpec, ResourceRequirements, SecurityContext,
};

/// Common fields of init, main and ephemeral containers.
#[derive(Clone, Copy)]
pub struct AnyContainer<'c> {
    pub name: &'c str,
    pub ports: &'c [ContainerPort],
    pub env: &'c [EnvVar],
    pub resources: &'c ResourceRequirements,
    pub security_context: Option<&'c SecurityContext>,
}

macro_rules! any_container_from {
    ($($container:ty),*) => {$(
        impl<'c> From<&'c $container> for AnyContainer<'c> {
            fn from(c: &'c $container) -> Self {
                AnyContainer {
                    name: &c.name,
                    ports: &c.ports,
                    env: &c.env,
                    resources: &c.resources,
                    security_context: c.security_context.as_deref(),
                }
            }
        }
    )*};
}
any_container_from!(Container, EphemeralContainerCommon);

/// Calls `visit` for every container with its path below the spec's (`VisitContainersWithPath`).
pub fn for_each_container<'s>(spec: &'s PodSpec, path: &Path<'_>, mut visit: impl FnMut(&Path<'_>, AnyContainer<'s>)) {
    let inits = path.child(json_name!(PodSpec.init_containers));
    for (index, container) in spec.init_containers.iter().enumerate() {
        visit(&inits.index(index), container.into());
    }
    let mains = path.child(json_name!(PodSpec.containers));
    for (index, container) in spec.containers.iter().enumerate() {
        visit(&mains.index(index), container.into());
    }
    let ephemerals = path.child(json_name!(PodSpec.ephemeral_containers));
    for (index, container) in spec.ephemeral_containers.iter().enumerate() {
        visit(&ephemerals.index(index), (&container.ephemeral_container_common).into());
    }
}
