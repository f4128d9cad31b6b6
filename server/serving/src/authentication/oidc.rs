//! Tokens of OpenID Connect issuers (upstream: `plugin/pkg/authenticator/token/oidc`).

mod issuer;
mod mapping;
mod validation;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use apimachinery::apiserverconfig::v1::{AuthenticationConfiguration, JWTAuthenticator};
use machinery::field_error::{FieldError, aggregate};
use serde_json::Value;

use super::{AuthenticationError, UserAuthenticator};
use crate::handler::BoxFuture;
use crate::reviewer::texts;
use crate::tokens::{Algorithm, Jws};
use crate::user::User;
use issuer::Keys;
use mapping::Mapping;

/// How far a clock may be ahead of ours (`nbf`).
const LEEWAY: i64 = 300;

/// Believes the issuers of a configuration, which may be replaced.
pub struct Issuers(RwLock<Arc<[Oidc]>>);

impl Issuers {
    /// The issuers of a configuration, which are asked for their keys when tokens come. `own` issuers are the server's, for whom nobody else
    /// may speak.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(
        configuration: &AuthenticationConfiguration,
        algorithms: &[Algorithm],
        own: &[String],
    ) -> Result<Self, String> {
        Ok(Issuers(RwLock::new(compile(configuration, algorithms, own, Vec::new())?)))
    }

    /// Believes these from now on. `also` is what the caller found wrong.
    pub(crate) fn replace(
        &self,
        configuration: &AuthenticationConfiguration,
        algorithms: &[Algorithm],
        own: &[String],
        also: Vec<FieldError>,
    ) -> Result<(), String> {
        let issuers = compile(configuration, algorithms, own, also)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = issuers;
        Ok(())
    }

    /// Asks the issuer that a token names.
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
    own: &[String],
    also: Vec<FieldError>,
) -> Result<Arc<[Oidc]>, String> {
    let mappings = validation::compile(configuration, own);
    let mappings = match (mappings, also.is_empty()) {
        (Ok(mappings), true) => mappings,
        (mappings, _) => {
            let errors: Vec<FieldError> = mappings.err().into_iter().flatten().chain(also).collect();
            return Err(format!("invalid authentication configuration: {}", aggregate(&errors)));
        }
    };
    let oidc = |(said, mapping): (&JWTAuthenticator, Mapping)| {
        Ok(Oidc {
            url: said.issuer.url.clone(),
            audiences: said.issuer.audiences.clone(),
            algorithms: algorithms.to_vec(),
            keys: Keys::new(&said.issuer)?,
            mapping,
        })
    };
    configuration.jwt.iter().zip(mappings).map(oidc).collect()
}

/// Believes one issuer.
struct Oidc {
    url: String,
    /// Of these a token has to name one.
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    keys: Keys,
    mapping: Mapping,
}

impl Oidc {
    async fn verify(&self, jws: &Jws<'_>, claims: &Value) -> Result<User, String> {
        self.check_claims(claims)?;
        if !self.algorithms.contains(&jws.algorithm()) {
            let said = jws.algorithm();
            return Err(format!("oidc: verify token: oidc: malformed jwt: unexpected signature algorithm {said:?}"));
        }
        self.keys.verify(jws).await?;
        self.mapping.user(claims)
    }

    /// Audience and time (go-oidc's `IDTokenVerifier.Verify`).
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
