//! Authorization: whether a user may perform a request (upstream: `apiserver/pkg/authorization`).
//!
//! Authorizers are called in order. The first one with an opinion decides; a request without any opinion is forbidden.

mod abac;
pub mod attributes;
mod authorizer;
mod conditions;
mod configured;
mod error;
mod metrics;
mod paths;
mod policy_rule;
pub mod rbac;
mod standard;
#[cfg(test)]
#[path = "../../../tests/common/https_server.rs"]
mod testing;
mod union;
mod validation;
mod webhook;

pub use self::webhook::AccessWebhook;
pub use abac::Abac;
pub use attributes::{AuthorizationAttributes, Selectors};
pub use authorizer::{Authorizer, Decision, UserRules};
pub use configured::{ReloadableAuthorizer, StaticAuthorizers, load as load_configuration};
pub use error::Error;
pub use metrics::{InstrumentedAuthorizer, Metrics};
pub use paths::AllowedPaths;
pub use policy_rule::PolicyRule;
pub use standard::{AlwaysAllow, AlwaysDeny, PrivilegedGroup};
pub use union::UnionAuthorizer;
