//! The deadline of a response.

use tokio::time::Instant;

/// The deadline of the response; in the extensions of requests that are not long-running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);
