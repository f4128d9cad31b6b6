//! The results of authenticators.

use request::User;

/// Why a credential was rejected. The text is for the log; the client receives only a 401.
///
/// It is not a variant of [`Error`](crate::Error), because verdicts are cached, compared, and made by other crates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuthenticationError(pub String);

/// The result of a successful authentication (upstream: `authenticator.Response`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authenticated {
    pub user: User,
    /// Those of the requested audiences that the credential is valid for.
    pub audiences: Vec<String>,
    /// Warnings for the client.
    pub warnings: Vec<String>,
    /// Audit annotations.
    pub annotations: Vec<(&'static str, String)>,
    /// The name of the authenticator that accepted the credential.
    pub source: &'static str,
}

/// The result of an authenticator: a user, no recognized credential, or an invalid credential.
pub type Verdict = Result<Option<Authenticated>, AuthenticationError>;
