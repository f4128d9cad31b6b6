//! Tokens of OpenID Connect issuers (upstream: `plugin/pkg/authenticator/token/oidc`).

mod issuer;
mod mapping;
mod validation;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use apimachinery::apiserverconfig::v1::{AuthenticationConfiguration, JWTAuthenticator};
use machinery::field_error::FieldError;
use machinery::scalar::Time;
use options::Algorithm;
use request::{BoxFuture, User};
use serde_json::Value;

use crate::Error;
use crate::texts::texts;
use crate::token_authenticator::UserAuthenticator;
use crate::tokens::Jws;
use crate::verdict::AuthenticationError;
use issuer::RemoteKeySet;
use mapping::CompiledClaimMappings;

/// The tolerated clock skew of the issuer, in seconds (`nbf`).
const LEEWAY: i64 = 300;

/// Authenticates tokens of the configured issuers. The configuration may be replaced at runtime.
pub struct Issuers(RwLock<Arc<[OidcAuthenticator]>>);

impl Issuers {
    /// Creates the authenticators of a configuration. The keys of an issuer are
    /// fetched when its first token is verified.
    ///
    /// `disallowed` are the issuers of this server's own tokens, which the configuration must not name.
    ///
    /// # Errors
    /// All errors of the configuration.
    pub fn new(
        configuration: &AuthenticationConfiguration,
        algorithms: &[Algorithm],
        disallowed: &[String],
    ) -> Result<Self, Error> {
        Ok(Issuers(RwLock::new(compile(configuration, algorithms, disallowed, Vec::new())?)))
    }

    /// Replaces the configuration. `also` are errors that the caller found.
    ///
    /// # Errors
    /// All errors of the configuration, including `also`; the previous configuration then stays in effect.
    pub(crate) fn replace(
        &self,
        configuration: &AuthenticationConfiguration,
        algorithms: &[Algorithm],
        disallowed: &[String],
        also: Vec<FieldError>,
    ) -> Result<(), Error> {
        let issuers = compile(configuration, algorithms, disallowed, also)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = issuers;
        Ok(())
    }

    /// Authenticates a token by the issuer that it names; `None` if the issuer is not configured.
    async fn verify(&self, token: &str) -> Result<Option<User>, Error> {
        let Some(jws) = Jws::parse(token) else { return Ok(None) };
        let Ok(claims) = jws.claims::<Value>() else { return Ok(None) };
        let issuers = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        match issuers.iter().find(|issuer| claims["iss"] == issuer.url.as_str()) {
            Some(issuer) => issuer.verify(&jws, &claims).await.map(Some),
            None => Ok(None),
        }
    }
}

fn compile(
    configuration: &AuthenticationConfiguration,
    algorithms: &[Algorithm],
    disallowed: &[String],
    also: Vec<FieldError>,
) -> Result<Arc<[OidcAuthenticator]>, Error> {
    let mappings = validation::compile(configuration, disallowed);
    let mappings = match (mappings, also.is_empty()) {
        (Ok(mappings), true) => mappings,
        (mappings, _) => {
            let errors: Vec<FieldError> = mappings.err().into_iter().flatten().chain(also).collect();
            return Err(Error::Fields(errors));
        }
    };
    let oidc = |(authenticator, mapping): (&JWTAuthenticator, CompiledClaimMappings)| {
        let issuer = &authenticator.issuer;
        Ok(OidcAuthenticator {
            url: issuer.url.clone(),
            audiences: issuer.audiences.clone(),
            algorithms: algorithms.to_vec(),
            keys: RemoteKeySet::new(issuer)?,
            mapping,
        })
    };
    configuration.jwt.iter().zip(mappings).map(oidc).collect()
}

/// The authenticator of one issuer.
struct OidcAuthenticator {
    url: String,
    /// The accepted audiences; a token has to name one of them.
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    keys: RemoteKeySet,
    mapping: CompiledClaimMappings,
}

impl OidcAuthenticator {
    async fn verify(&self, jws: &Jws<'_>, claims: &Value) -> Result<User, Error> {
        self.check_claims(claims)?;
        if !self.algorithms.contains(&jws.algorithm()) {
            return Err(Error::Algorithm(jws.algorithm()));
        }
        self.keys.verify(jws).await?;
        self.mapping.user(claims)
    }

    /// Checks audience, expiry and not-before time (go-oidc's `IDTokenVerifier.Verify`).
    fn check_claims(&self, claims: &Value) -> Result<(), Error> {
        let audiences = match &claims["aud"] {
            Value::String(one) => vec![one.clone()],
            several => texts(several),
        };
        if !self.audiences.iter().any(|wanted| audiences.contains(wanted)) {
            return Err(Error::Audience { wanted: self.audiences.clone(), got: audiences });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let time = |claim: &str| claims[claim].as_f64().map(|seconds| seconds as i64);
        match (time("exp"), time("nbf")) {
            (None, _) => Err(Error::Expired(None)),
            (Some(end), _) if end < now => Err(Error::Expired(Some(Time::from_unix(end)))),
            (_, Some(begin)) if begin > now + LEEWAY => Err(Error::NotYetValid),
            _ => Ok(()),
        }
    }
}

impl UserAuthenticator for Arc<Issuers> {
    fn name(&self) -> &'static str {
        "oidc"
    }

    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        Box::pin(async move { Ok(self.verify(token).await?) })
    }
}

#[cfg(test)]
mod tests;
