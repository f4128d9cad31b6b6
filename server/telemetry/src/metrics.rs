//! The metrics of the server (`/metrics`), under upstream's names.

mod access;
mod allowed;
pub mod cel;
mod connections;
pub mod credentials;
pub mod exposition;
mod labels;
mod parts;
mod process;
mod protobuf;
mod register;
mod requests;
pub mod reset;
mod server;
pub mod shared;
pub mod stability;
mod state;
mod streams;
mod text;
mod watches;
mod work_queue;

pub use access::AccessMetrics;
pub use connections::ConnectionMetrics;
pub use exposition::MetricsHandler;
pub use labels::Routed;
pub use parts::PartMetrics;
pub use register::{GaugeGuard, counters, gauge, gauges, histograms};
pub use requests::{Delayed, RequestMetrics, Terminated, WithMetrics};
pub use server::Metrics;
pub use streams::StreamMetrics;
pub use watches::{PendingWatchMetrics, SentEvents};
pub use work_queue::{Waiting, WorkQueue, Working};
