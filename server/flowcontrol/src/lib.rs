//! Priority and fairness (KEP-1040): decides which request runs next when the server is saturated.
//!
//! Flow schemas classify a request into a priority level and, within it, a flow. Each level has a
//! number of seats. A request holds as many seats as its work is estimated to need while it runs.
//! When a level's seats are taken, requests wait in its queues; the flow that has used the least is
//! served first ([`QueueSet`]). Every ten seconds levels lend each other unused seats
//! ([`FlowControl::adjust`]).
//!
//! This crate depends neither on HTTP nor on kinds. Its inputs are requests as [`Digest`], the
//! configuration as [`FlowSchema`] and [`PriorityLevel`], and, where an algorithm depends on it,
//! the time.

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
mod list_sizes;
mod matching;
mod metrics;
mod queue_set;
mod seat;
mod sharding;
mod watches;
mod work;

pub use config::{
    Distinguisher, FlowSchema, PathRule, PolicyRulesWithSubjects, PriorityLevel, Queuing, ResourceRule, Subject,
    mandatory_levels, mandatory_schemas,
};
pub use control::{Classification, FlowControl};
pub use digest::{Digest, RequestDetails};
pub use dump::Dump;
pub use estimate::Initial;
pub use list_sizes::{ListSize, ListSizes};
pub use queue_set::QueueSet;
pub use seat::{Rejected, Seat};
pub use watches::CountedWatch;
pub use work::{SeatSeconds, WorkEstimate};
