//! Hand-written functions that definitions of `autoscaling` name.
//!
//! autoscaling/v1 knows one metric, the use of CPU. Everything else that v2 can say travels through it in annotations, whose metrics have
//! the flat form of v1's own (unserved) metric types.

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
