//! The endpoints of services: Endpoints and EndpointSlices of the pods that a service selects, and
//! EndpointSlices of Endpoints that others maintain.
//!
//! Each controller compares what it wants with what is stored, and writes the difference. The pods that
//! it looks at are copies of a few fields, which all controllers of services share.

mod backend;
pub mod endpoints;
mod failures;
mod hints;
mod informers;
mod mirrored_slices;
pub mod mirroring;
mod node_state;
mod order;
mod packing;
mod projection;
mod slice_set;
mod slice_writer;
pub mod slices;
mod subsets;
mod topology;
mod topology_cache;
mod trigger_times;

pub use informers::ServiceInformers;
