//! Errors that prevent the start of the control plane. Reasons to reject a request have types in the
//! modules that reject it.

use machinery::json;

/// An error of embedded data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The embedded bootstrap policy is not JSON.
    #[error(transparent)]
    Policy(#[from] serde_json::Error),
    /// The embedded bootstrap policy has an object of another form.
    #[error(transparent)]
    PolicyObject(#[from] json::Error),
}
