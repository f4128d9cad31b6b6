//! What upstream checks by hand in kinds of the core group (`pkg/apis/core/validation`).

#[path = "validation/addresses.rs"]
pub(crate) mod addresses;
#[path = "validation/affinity.rs"]
pub(crate) mod affinity;
#[path = "validation/annotations.rs"]
pub(crate) mod annotations;
#[path = "validation/binding.rs"]
pub(crate) mod binding;
#[path = "validation/claim_spec.rs"]
pub(crate) mod claim_spec;
#[path = "validation/container.rs"]
pub(crate) mod container;
#[path = "validation/container_restart.rs"]
mod container_restart;
#[path = "validation/container_transition.rs"]
mod container_transition;
#[path = "validation/dns.rs"]
mod dns;
#[path = "validation/env.rs"]
pub(crate) mod env;
#[path = "validation/exclusive.rs"]
pub(crate) mod exclusive;
#[path = "validation/items.rs"]
pub(crate) mod items;
#[path = "validation/mounts.rs"]
pub(crate) mod mounts;
#[path = "validation/node_selector.rs"]
pub(crate) mod node_selector;
#[path = "validation/options.rs"]
pub(crate) mod options;
#[path = "validation/paths.rs"]
pub(crate) mod paths;
#[path = "validation/pod.rs"]
pub(crate) mod pod;
#[path = "validation/pod_ephemeral.rs"]
mod pod_ephemeral;
#[path = "validation/pod_resize.rs"]
mod pod_resize;
#[path = "validation/pod_resources.rs"]
mod pod_resources;
#[path = "validation/pod_spec.rs"]
pub(crate) mod pod_spec;
#[path = "validation/pod_status.rs"]
mod pod_status;
#[path = "validation/pod_status_claims.rs"]
mod pod_status_claims;
#[path = "validation/pod_status_containers.rs"]
mod pod_status_containers;
#[path = "validation/pod_template.rs"]
pub(crate) mod pod_template;
#[path = "validation/pod_update.rs"]
mod pod_update;
#[path = "validation/ports.rs"]
pub(crate) mod ports;
#[path = "validation/probe.rs"]
pub(crate) mod probe;
#[path = "validation/projected.rs"]
mod projected;
#[path = "validation/replication_controller.rs"]
pub(crate) mod replication_controller;
#[path = "validation/resources.rs"]
pub(crate) mod resources;
#[path = "validation/security_context.rs"]
pub(crate) mod security_context;
#[path = "validation/signer.rs"]
pub(crate) mod signer;
#[path = "validation/sysctl.rs"]
mod sysctl;
#[path = "validation/template.rs"]
pub(crate) mod template;
#[path = "validation/tolerations.rs"]
pub(crate) mod tolerations;
#[path = "validation/topology.rs"]
mod topology;
#[path = "validation/visit.rs"]
pub(crate) mod visit;
#[path = "validation/volume.rs"]
pub(crate) mod volume;
#[path = "validation/volume_sources.rs"]
pub(crate) mod volume_sources;
#[path = "validation/windows.rs"]
mod windows;

pub use binding::validate_binding;
pub use options::PodOptions;
pub use pod::validate_pod;
pub use pod_spec::validate_pod_spec;
pub use pod_template::validate_pod_template;
pub use replication_controller::validate_replication_controller;
pub use template::validate_pod_template_spec;
