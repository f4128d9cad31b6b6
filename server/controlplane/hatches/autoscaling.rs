//! Hand-written functions that definitions of `autoscaling` name.
//!
//! autoscaling/v1 knows one metric, the use of CPU. Everything else that v2 can say travels through it in annotations, whose metrics have
//! the flat form of v1's own (unserved) metric types.

#[path = "autoscaling/annotations.rs"]
mod annotations;
#[path = "autoscaling/behavior.rs"]
mod behavior;
#[path = "autoscaling/columns.rs"]
mod columns;
#[path = "autoscaling/defaults.rs"]
mod defaults;
#[path = "autoscaling/metrics.rs"]
mod metrics;
#[path = "autoscaling/validation.rs"]
mod validation;
#[path = "autoscaling/versions.rs"]
mod versions;

pub use columns::*;
pub use defaults::*;
pub use metrics::*;
pub use validation::*;
pub use versions::*;
