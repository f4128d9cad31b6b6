//! Token authenticators for service accounts and for bootstrap tokens.

mod accounts;
mod bootstrap;
mod claims;
mod invalid_token;
mod issue;
mod legacy;
mod token_getter;
pub mod tracking;

use std::sync::Arc;

use authn::{AudienceAgnostic, Authentication, TokenWebhook};
use registry::Stores;
use serving::Server;

pub use issue::Issuer;
pub use token_getter::ServiceAccountTokenGetter;

/// Adds the token authenticators in upstream's order.
pub fn authenticators(
    authentication: Authentication,
    server: &Server,
    stores: &Arc<Stores>,
) -> Result<Authentication, serving::Error> {
    let options = &server.options.authentication;
    let keys = &server.certificates.service_accounts;
    let lookup = ServiceAccountTokenGetter(stores.clone());
    let audiences = options.api_audiences.clone();
    let legacy = legacy::LegacyAccounts {
        keys: keys.clone(),
        audiences: audiences.clone(),
        lookup: options.service_account_lookup.then(|| lookup.clone()),
    };
    let accounts = accounts::Accounts {
        issuers: options.service_account_issuers.clone(),
        keys: keys.clone(),
        audiences: audiences.clone(),
        lookup: lookup.clone(),
    };
    let mut authentication = authentication.with_tokens(Arc::new(legacy)).with_tokens(Arc::new(accounts));
    if options.bootstrap_tokens {
        let bootstrap = bootstrap::BootstrapTokens(lookup);
        let bootstrap = AudienceAgnostic { inner: bootstrap, audiences: audiences.clone() };
        authentication = authentication.with_tokens(Arc::new(bootstrap));
    }
    if let Some(issuers) = &server.configured.issuers {
        let issuers = AudienceAgnostic { inner: issuers.clone(), audiences: audiences.clone() };
        authentication = authentication.with_tokens(Arc::new(issuers));
    }
    if let Some(webhook) = &options.webhook {
        authentication = authentication.with_tokens(Arc::new(TokenWebhook::load(webhook, audiences)?));
    }
    Ok(authentication)
}
