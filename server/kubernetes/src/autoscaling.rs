//! Hand-written functions that definitions of `autoscaling` refer to.
//!
//! autoscaling/v1 has fields for one metric, CPU utilization. All other fields of v2 are stored in
//! annotations of v1, with metrics in the flat form of v1's own (unserved) metric types.

mod annotations;
mod behavior;
mod columns;
mod defaults;
mod metrics;
mod validation;
mod versions;

pub use columns::*;
pub use defaults::*;
pub use metrics::*;
pub use validation::*;
pub use versions::*;
