//! Authentication: maps the credentials of a request to a [`User`](request::User) (upstream:
//! `apiserver/pkg/authentication`).
//!
//! The first valid credential decides. If a request has credentials and none is valid, the reply is 401, even where
//! anonymous requests are allowed: a client that presents a token must learn that the token is invalid.

mod anonymous;
mod authentication;
mod bearer;
mod cache;
mod client_certificate;
mod configured;
mod credentials;
mod error;
mod oidc;
mod request_header;
mod secret;
#[cfg(test)]
#[path = "../../../tests/common/https_server.rs"]
mod testing;
mod texts;
mod token_authenticator;
mod token_file;
pub mod tokens;
mod verdict;
mod webhook;

pub use self::webhook::TokenWebhook;
pub use anonymous::Anonymous;
pub use authentication::Authentication;
pub use client_certificate::user_of_certificate;
pub use configured::AuthenticationConfig;
pub use credentials::{IdentityHeaders, remove_impersonation};
pub use error::Error;
pub use oidc::Issuers;
pub use secret::is_same_secret;
pub use token_authenticator::{AudienceAgnostic, TokenAuthenticator, Tokens, UserAuthenticator};
pub use token_file::TokenFile;
pub use verdict::{Authenticated, AuthenticationError, Verdict};
