//! Why a service account token is not valid, with upstream's texts.

use machinery::scalar::go_text::quote;
use machinery::status::Status;

/// The label of secrets whose token was unused for too long and is invalid.
pub const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// Why a service account token is not valid.
#[derive(Debug, thiserror::Error)]
pub enum InvalidToken {
    /// No key verifies the signature.
    #[error(transparent)]
    Signature(#[from] authn::Error),
    /// The claims are not JSON of the expected form.
    #[error("claims of the token cannot be read")]
    Claims,
    #[error("token audiences {} is invalid for the target audiences {}", quoted(found), quoted(wanted))]
    Audiences { found: Vec<String>, wanted: Vec<String> },
    #[error("service account token is not valid yet")]
    NotYetValid,
    #[error("service account token has expired")]
    Expired,
    #[error("service account token is issued in the future")]
    IssuedInFuture,
    /// The service account does not exist, or cannot be read.
    #[error(transparent)]
    Account(#[from] Status),
    #[error("service account UID ({stored}) does not match claim ({claimed})")]
    AccountUid { stored: String, claimed: String },
    #[error("service account {namespace}/{name} has been deleted")]
    AccountDeleted { namespace: String, name: String },
    /// An object that the token is bound to does not exist any more.
    #[error("service account token has been invalidated")]
    Invalidated,
    #[error("{what} UID ({stored}) does not match service account {what} ref claim ({claimed})")]
    ObjectUid { what: &'static str, stored: String, claimed: String },

    #[error("{name} claim is missing")]
    MissingClaim { name: &'static str },
    /// The subject is not the service account of the other claims.
    #[error("sub claim is invalid")]
    Subject,
    /// The secret of a legacy token does not exist any more.
    #[error("Token has been invalidated")]
    SecretDeleted,
    /// The secret of a legacy token has another token.
    #[error("Token does not match server's copy")]
    OtherToken,
    #[error("ServiceAccount {namespace}/{name} has been deleted")]
    LegacyAccountDeleted { namespace: String, name: String },
    #[error("ServiceAccount UID ({stored}) does not match claim ({claimed})")]
    LegacyAccountUid { stored: String, claimed: String },
    /// A legacy token was unused for too long.
    #[error(
        "the token in secret {namespace}/{secret} for service account {namespace}/{account} has been marked invalid. \
         Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the \
         '{INVALID_SINCE}' label from the secret to temporarily allow use of this token"
    )]
    MarkedInvalid { namespace: String, secret: String, account: String },
}

fn quoted(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(" "))
}
