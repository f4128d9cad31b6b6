//! Priority and fairness (KEP-1040): which request is served next when there is more to do than can be done.
//!
//! A request is classified by flow schemas into a priority level and, within it, a flow. Each level has a number of seats; a request takes
//! as many as its work is estimated to be wide, for as long as it runs. When a level's seats are taken, requests wait in its queues, from
//! which those are served first whose flow has had least ([`QueueSet`]). Every ten seconds levels lend each other the seats that they do not
//! need ([`FlowControl::adjust`]).
//!
//! This crate knows no HTTP and no kinds: it is told of requests by [`Digest`], of its configuration by [`FlowSchema`] and
//! [`PriorityLevel`], and of time by its callers wherever time matters to an algorithm.

mod allocation;
mod config;
mod control;
mod demand;
mod digest;
mod dropped;
mod dump;
mod estimate;
mod flow;
mod lending;
mod level;
mod matching;
mod metrics;
mod queue_set;
mod seat;
mod sharding;
mod watches;
mod work;

pub use config::{
    Distinguisher, FlowSchema, PathRule, PolicyRule, PriorityLevel, Queuing, ResourceRule, Subject, mandatory_levels,
    mandatory_schemas,
};
pub use control::{Class, FlowControl};
pub use digest::{Asked, Digest};
pub use dump::Dump;
pub use estimate::{Initial, ListSize, ListSizes};
pub use queue_set::QueueSet;
pub use seat::{Rejected, Seat};
pub use watches::Watched;
pub use work::{SeatSeconds, WorkEstimate};
