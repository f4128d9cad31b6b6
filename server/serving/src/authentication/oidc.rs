//! Tokens of an OpenID Connect issuer (upstream: `plugin/pkg/authenticator/token/oidc`).

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;
use webhook::{Client, Trust};

use super::{AuthenticationError, UserAuthenticator};
use crate::Error;
use crate::handler::BoxFuture;
use crate::options::OidcOptions;
use crate::reviewer::texts;
use crate::tokens::{Jws, VerifyingKey};
use crate::user::User;

const DISCOVERY: &str = "/.well-known/openid-configuration";
const TIMEOUT: Duration = Duration::from_secs(30);
/// How many bytes a document of the issuer may have.
const MAX_DOCUMENT: usize = 1 << 20;
/// How often the issuer is asked at most: tokens of strangers must not become requests to it.
const PAUSE: Duration = Duration::from_secs(1);
/// How far a clock may be ahead of ours (`nbf`).
const LEEWAY: i64 = 300;
/// The extra that tells which credential was used.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Believes an issuer.
pub struct Oidc {
    options: OidcOptions,
    client: Client,
    keys: RwLock<Arc<[VerifyingKey]>>,
    /// When the issuer was last asked for its keys.
    asked: Mutex<Option<Instant>>,
}

impl Oidc {
    /// The issuer of the options. It is asked for its keys when the first token comes.
    pub fn new(options: &OidcOptions) -> Result<Self, Error> {
        let authorities = options.ca_file.as_ref().map(std::fs::read).transpose();
        let authorities = authorities.map_err(Error::file(options.ca_file.clone().unwrap_or_default()))?;
        let trust = Trust { authorities: authorities.unwrap_or_default(), ..Trust::default() };
        let client = Client::new(&trust).map_err(|why| Error::Options(why.to_string()))?;
        Ok(Oidc { options: options.clone(), client, keys: RwLock::new(Arc::new([])), asked: Mutex::default() })
    }

    async fn verify(&self, token: &str) -> Result<Option<User>, String> {
        let Some(jws) = Jws::parse(token) else { return Ok(None) };
        let Ok(claims) = jws.claims::<Value>() else { return Ok(None) };
        if claims["iss"] != self.options.issuer.as_str() {
            return Ok(None);
        }
        self.check_claims(&claims)?;
        if !self.options.algorithms.contains(&jws.algorithm()) {
            return Err(format!(
                "oidc: verify token: oidc: malformed jwt: unexpected signature algorithm {:?}",
                jws.algorithm()
            ));
        }
        if !self.is_signed(&jws) {
            self.fetch_keys().await?;
            if !self.is_signed(&jws) {
                return Err(
                    "oidc: verify token: failed to verify signature: failed to verify id token signature".into()
                );
            }
        }
        self.user(&claims).map(Some)
    }

    /// Audience and time (go-oidc's `IDTokenVerifier.Verify`).
    fn check_claims(&self, claims: &Value) -> Result<(), String> {
        let audiences = match &claims["aud"] {
            Value::String(one) => vec![one.clone()],
            several => texts(several),
        };
        let wanted = &self.options.client_id;
        if !audiences.contains(wanted) {
            return Err(format!("oidc: verify token: oidc: expected audience {wanted:?} got {audiences:?}"));
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

    fn is_signed(&self, jws: &Jws<'_>) -> bool {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner).clone();
        keys.iter().filter(|key| jws.key_id.is_empty() || key.id == jws.key_id).any(|key| jws.is_signed_by(key))
    }

    /// Asks the issuer for its keys, unless that has just been done.
    async fn fetch_keys(&self) -> Result<(), String> {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|when| when.elapsed() < PAUSE) {
            return Ok(());
        }
        *asked = Some(Instant::now());
        let issuer = self.options.issuer.trim_end_matches('/');
        let discovery = self.document(&format!("{issuer}{DISCOVERY}")).await?;
        if discovery["issuer"] != self.options.issuer.as_str() {
            let (wanted, said) = (&self.options.issuer, &discovery["issuer"]);
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {wanted:?} got {said}"
            ));
        }
        let keys = self.document(discovery["jwks_uri"].as_str().unwrap_or_default()).await?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = VerifyingKey::from_jwk_set(&keys).into();
        Ok(())
    }

    async fn document(&self, url: &str) -> Result<Value, String> {
        let uri = url.parse().map_err(|why| format!("oidc: {url:?}: {why}"))?;
        let reply = self.client.get(&uri, TIMEOUT, MAX_DOCUMENT).await.map_err(|why| format!("oidc: {why}"))?;
        match reply.status.is_success() {
            true => serde_json::from_slice(&reply.body).map_err(|why| format!("oidc: {url}: {why}")),
            false => Err(format!("oidc: {url}: {}", reply.status)),
        }
    }

    fn user(&self, claims: &Value) -> Result<User, String> {
        let options = &self.options;
        let claim = &options.username_claim;
        let name = claims[claim]
            .as_str()
            .ok_or_else(|| format!("oidc: parse username claims {claim:?}: claim not present"))?;
        if claim == "email" && claims.get("email_verified").is_some_and(|verified| verified != true) {
            return Err("oidc: email not verified".into());
        }
        if name.is_empty() {
            return Err(format!("oidc: username claim {claim:?} is empty"));
        }
        for (claim, wanted) in &options.required_claims {
            let said = claims[claim]
                .as_str()
                .ok_or_else(|| format!("oidc: required claim {claim} not present in ID token"))?;
            if said != wanted {
                return Err(format!(
                    "oidc: required claim {claim} value does not match. Got = {said}, want = {wanted}"
                ));
            }
        }
        let mut user = User::new(format!("{}{name}", options.username_prefix), self.groups(claims));
        if let Some(id) = claims["jti"].as_str().filter(|id| !id.is_empty()) {
            user.extra.insert(CREDENTIAL_ID.into(), vec![format!("JTI={id}")]);
        }
        Ok(user)
    }

    fn groups(&self, claims: &Value) -> Vec<String> {
        let groups = match &claims[&self.options.groups_claim] {
            _ if self.options.groups_claim.is_empty() => Vec::new(),
            Value::String(one) => vec![one.clone()],
            several => texts(several),
        };
        groups.into_iter().map(|group| format!("{}{group}", self.options.groups_prefix)).collect()
    }
}

impl UserAuthenticator for Oidc {
    fn name(&self) -> &'static str {
        "oidc"
    }

    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        Box::pin(async move { self.verify(token).await.map_err(AuthenticationError) })
    }
}

#[cfg(test)]
mod tests;
