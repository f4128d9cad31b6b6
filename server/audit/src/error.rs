//! Errors of policies and of webhooks. [`options::Error`] adds the option that names the file.

use machinery::field_error::{FieldError, aggregate};
use options::DocumentError;

/// Why a policy is not usable, or events are not delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a policy of a known version.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The policy has invalid fields.
    #[error("{}", aggregate(.0))]
    Invalid(Vec<FieldError>),
    /// The policy has no rules.
    #[error("loaded illegal policy with 0 rules")]
    NoRules,
    /// The webhook does not respond.
    #[error(transparent)]
    Call(#[from] webhook::Error),
    /// The webhook responds with an error.
    #[error("the server responded with status {code}")]
    Status { code: u16 },
}
