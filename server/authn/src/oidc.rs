//! Tokens of OpenID Connect issuers (upstream: `plugin/pkg/authenticator/token/oidc`).

mod issuer;
mod mapping;
mod validation;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use apimachinery::apiserverconfig::v1::{AuthenticationConfiguration, JWTAuthenticator};
use machinery::field_error::{FieldError, aggregate};
use options::Algorithm;
use request::{BoxFuture, User};
use serde_json::Value;

use crate::texts::texts;
use crate::token_authenticator::UserAuthenticator;
use crate::tokens::Jws;
use crate::verdict::AuthenticationError;
use issuer::RemoteKeySet;
use mapping::Mapping;

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
    ) -> Result<Self, String> {
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
    ) -> Result<(), String> {
        let issuers = compile(configuration, algorithms, disallowed, also)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = issuers;
        Ok(())
    }

    /// Authenticates a token by the issuer that it names; `None` if the issuer is not configured.
    async fn verify(&self, token: &str) -> Result<Option<User>, String> {
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
) -> Result<Arc<[OidcAuthenticator]>, String> {
    let mappings = validation::compile(configuration, disallowed);
    let mappings = match (mappings, also.is_empty()) {
        (Ok(mappings), true) => mappings,
        (mappings, _) => {
            let errors: Vec<FieldError> = mappings.err().into_iter().flatten().chain(also).collect();
            return Err(format!("invalid authentication configuration: {}", aggregate(&errors)));
        }
    };
    let oidc = |(authenticator, mapping): (&JWTAuthenticator, Mapping)| {
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
    mapping: Mapping,
}

impl OidcAuthenticator {
    async fn verify(&self, jws: &Jws<'_>, claims: &Value) -> Result<User, String> {
        self.check_claims(claims)?;
        if !self.algorithms.contains(&jws.algorithm()) {
            let algorithm = jws.algorithm();
            return Err(format!(
                "oidc: verify token: oidc: malformed jwt: unexpected signature algorithm {algorithm:?}"
            ));
        }
        self.keys.verify(jws).await?;
        self.mapping.user(claims)
    }

    /// Checks audience, expiry and not-before time (go-oidc's `IDTokenVerifier.Verify`).
    fn check_claims(&self, claims: &Value) -> Result<(), String> {
        let audiences = match &claims["aud"] {
            Value::String(one) => vec![one.clone()],
            several => texts(several),
        };
        if !self.audiences.iter().any(|wanted| audiences.contains(wanted)) {
            return Err(match self.audiences.as_slice() {
                [wanted] => format!("oidc: verify token: oidc: expected audience {wanted:?} got {audiences:?}"),
                several => format!("oidc: verify token: oidc: expected audience in {several:?} got {audiences:?}"),
            });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let time = |claim: &str| claims[claim].as_f64().map(|seconds| seconds as i64);
        match (time("exp"), time("nbf")) {
            (None, _) => Err("oidc: verify token: oidc: token is expired (Token Expiry: unknown)".into()),
            (Some(end), _) if end < now => {
                let end = machinery::scalar::Time::from_unix(end);
                Err(format!("oidc: verify token: oidc: token is expired (Token Expiry: {end})"))
            }
            (_, Some(begin)) if begin > now + LEEWAY => {
                Err("oidc: verify token: oidc: current time before the nbf (not before) time".into())
            }
            _ => Ok(()),
        }
    }
}

impl UserAuthenticator for Arc<Issuers> {
    fn name(&self) -> &'static str {
        "oidc"
    }

    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        Box::pin(async move { self.verify(token).await.map_err(AuthenticationError) })
    }
}

#[cfg(test)]
mod tests;
