//! Hand-written validation of the core group (`pkg/apis/core/validation`).

pub(crate) mod addresses;
pub(crate) mod affinity;
pub(crate) mod annotations;
pub(crate) mod claim_spec;
mod config_data;
mod container_transition;
pub(crate) mod env;
mod event;
mod limit_range;
mod node;
mod persistent_volume;
mod persistent_volume_claim;
pub(crate) mod pod;
mod pod_resize;
pub(crate) mod pod_spec;
mod pod_status;
mod pod_update;
mod replication_controller;
mod resource_quota;
pub(crate) mod resources;
mod service;
pub(crate) mod template;
pub(crate) mod visit;
mod volumes;

pub(crate) use pod_spec as security_context;
pub(crate) use template as options;

pub use affinity::{
    validate_merged_keys_of_constraint, validate_merged_keys_of_term, validate_selector_of_pods,
    validate_spread_constraints,
};
pub use annotations::{
    choose_by_meta, validate_annotations_change, validate_annotations_of_pod, validate_annotations_of_template,
    validate_pod_against_annotations, validate_template_against_annotations,
};
pub use claim_spec::validate_data_sources;
pub use config_data::*;
pub use container_transition::validate_container_states;
pub use env::*;
pub use event::*;
pub use limit_range::*;
pub use meta::{validate_cluster_metadata, validate_namespaced_metadata, validate_whole_metadata_update};
pub use node::*;
pub use persistent_volume::*;
pub use persistent_volume_claim::*;
pub use pod::validate_pod;
pub use pod_spec::{
    validate_added_capabilities, validate_aggregates, validate_files_of_variables, validate_host_ports,
    validate_host_processes, validate_own_host_ports, validate_searches, validate_sleep,
};
pub use pod_status::*;
pub use pod_update::*;
pub use replication_controller::validate_controller_template;
pub use resource_quota::*;
pub use resources::{
    validate_container_resources, validate_overhead, validate_pod_resources, validate_whole_huge_pages,
};
pub use service::*;
pub use template::{PodOptions, validate_pod_template_spec, validate_template_annotations};
pub use volumes::*;
