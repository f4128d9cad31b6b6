//! What upstream checks by hand in kinds of the core group (`pkg/apis/core/validation`).

#[path = "validation/addresses.rs"]
pub(crate) mod addresses;
#[path = "validation/affinity.rs"]
pub(crate) mod affinity;
#[path = "validation/annotations.rs"]
pub(crate) mod annotations;
#[path = "validation/claim_spec.rs"]
pub(crate) mod claim_spec;
#[path = "validation/config_map.rs"]
mod config_map;
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
#[path = "validation/event.rs"]
mod event;
#[path = "validation/limit_range.rs"]
mod limit_range;
#[path = "validation/mounts.rs"]
pub(crate) mod mounts;
#[path = "validation/node.rs"]
mod node;
#[path = "validation/node_selector.rs"]
pub(crate) mod node_selector;
#[path = "validation/options.rs"]
pub(crate) mod options;
#[path = "validation/persistent_volume.rs"]
pub(crate) mod persistent_volume;
#[path = "validation/persistent_volume_claim.rs"]
mod persistent_volume_claim;
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
#[path = "validation/resource_quota.rs"]
mod resource_quota;
#[path = "validation/resources.rs"]
pub(crate) mod resources;
#[path = "validation/secret.rs"]
mod secret;
#[path = "validation/security_context.rs"]
pub(crate) mod security_context;
#[path = "validation/service.rs"]
mod service;
#[path = "validation/service_addresses.rs"]
mod service_addresses;
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

pub use affinity::{validate_label_keys_of_term, validate_selector_of_pods};
pub use claim_spec::{validate_claim_selector, validate_claimed_size, validate_data_sources};
pub use config_map::*;
pub use dns::*;
pub use env::*;
pub use event::validate_event;
pub use limit_range::*;
pub use node::validate_node;
pub use options::PodOptions;
pub use persistent_volume::validate_persistent_volume;
pub use persistent_volume::{validate_recycled_root, validate_volume_capacity};
pub use persistent_volume_claim::validate_persistent_volume_claim;
pub use pod::validate_pod;
pub use pod_spec::validate_pod_spec;
pub use pod_spec::{validate_files_of_variables, validate_ports_of_host};
pub use pod_template::validate_pod_template;
pub use probe::validate_sleep;
pub use projected::*;
pub use replication_controller::validate_controller_template;
pub use resource_quota::validate_resource_quota;
pub use resources::validate_overhead;
pub use secret::{validate_secret_change, validate_secret_data};
pub use security_context::{validate_added_capabilities, validate_sysctls_of_pod};
pub use service::{validate_external_addresses, validate_service, validate_unique_ports};
pub use service_addresses::{service_address_errors, validate_cluster_addresses, validate_first_address};
pub use template::validate_pod_template_spec;
pub use topology::{validate_domains, validate_spread_constraints};
pub use volume::{validate_claim_template_of_pod, validate_generated_claim, validate_portal_length};
pub use volume_sources::*;
pub use windows::*;
