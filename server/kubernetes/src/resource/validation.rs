//! What upstream checks by hand in dynamic resource allocation (`pkg/apis/resource/validation`).

mod allocation;
mod attribute;
mod capacity;
mod claim;
mod class;
mod configuration;
mod device;
mod items;
mod names;
mod request;
mod selector;
mod slice;
mod status;
mod taint;

pub use claim::*;
pub use class::*;
pub use slice::*;
pub(super) use status::{allocated_devices, id_of};
pub use taint::{validate_device_taint_rule, validate_resource_pool_status_request};

const IMMUTABLE: &str = "field is immutable";
