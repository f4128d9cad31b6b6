//! What upstream checks by hand in dynamic resource allocation (`pkg/apis/resource/validation`).

#[path = "validation/allocation.rs"]
mod allocation;
#[path = "validation/attribute.rs"]
mod attribute;
#[path = "validation/capacity.rs"]
mod capacity;
#[path = "validation/claim.rs"]
mod claim;
#[path = "validation/class.rs"]
mod class;
#[path = "validation/configuration.rs"]
mod configuration;
#[path = "validation/device.rs"]
mod device;
#[path = "validation/items.rs"]
mod items;
#[path = "validation/names.rs"]
mod names;
#[path = "validation/request.rs"]
mod request;
#[path = "validation/selector.rs"]
mod selector;
#[path = "validation/slice.rs"]
mod slice;
#[path = "validation/status.rs"]
mod status;
#[path = "validation/taint.rs"]
mod taint;

pub use claim::*;
pub use class::*;
pub use slice::*;
pub(super) use status::{allocated_devices, id_of};
pub use taint::{validate_device_taint_rule, validate_resource_pool_status_request};

const IMMUTABLE: &str = "field is immutable";
