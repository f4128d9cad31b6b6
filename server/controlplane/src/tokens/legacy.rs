//! Who holds a token that a secret keeps, as service accounts had before tokens were bound (`serviceaccount.NewLegacyValidator`).

use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{Secret, ServiceAccount};
use machinery::scalar::Time;
use registry::MetaExt;
use serde::Deserialize;
use serving::authentication::{Authenticated, AuthenticationError, TokenAuthenticator, Verdict, is_same_secret};
use serving::certificates::ServiceAccountKeys;
use serving::user::{service_account_groups, service_account_user_name, split_service_account};
use serving::{BoxFuture, User};

use super::accounts::{issued_by, verify_signature};
use super::lookup::Lookup;

const ISSUER: &str = "kubernetes/serviceaccount";
/// The entry of a secret that holds the token.
const TOKEN: &str = "token";
/// A label of secrets whose token nobody used for so long that it no longer counts.
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
/// A label that tells on which day a token was last used.
const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";

/// Knows tokens of secrets.
pub struct LegacyAccounts {
    pub keys: ServiceAccountKeys,
    /// The audiences of this server, for which these tokens are meant.
    pub audiences: Vec<String>,
    /// Where secrets are; without it a signature is enough.
    pub lookup: Option<Lookup>,
}

#[derive(Deserialize)]
struct Claims {
    #[serde(rename = "sub", default)]
    subject: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name", default)]
    account: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid", default)]
    account_uid: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name", default)]
    secret: String,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace", default)]
    namespace: String,
}

impl TokenAuthenticator for LegacyAccounts {
    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let Some(jws) = issued_by(token, &[ISSUER.to_owned()]) else { return Ok(None) };
            verify_signature(&jws, self.keys.get().await.as_deref()).map_err(AuthenticationError)?;
            let common: Vec<String> = audiences.iter().filter(|a| self.audiences.contains(a)).cloned().collect();
            if common.is_empty() {
                return Err(AuthenticationError("the token is meant for this server only".into()));
            }
            let claims: Claims = jws.claims().map_err(|_| AuthenticationError("claims cannot be read".into()))?;
            let warnings = self.verify(token, &claims).await.map_err(AuthenticationError)?;
            Ok(Some(Authenticated { user: user(&claims), audiences: common, warnings }))
        })
    }
}

fn user(claims: &Claims) -> User {
    let groups = service_account_groups(&claims.namespace);
    User {
        uid: claims.account_uid.clone(),
        ..User::new(service_account_user_name(&claims.namespace, &claims.account), groups)
    }
}

impl LegacyAccounts {
    /// Compares the token with what is stored; answers what the client is to be warned of.
    async fn verify(&self, token: &str, claims: &Claims) -> Result<Vec<String>, String> {
        check_claims(claims)?;
        let Some(lookup) = &self.lookup else { return Ok(Vec::new()) };
        let (namespace, name) = (&claims.namespace, &claims.account);
        let secret = lookup.secret(namespace, &claims.secret).await.map_err(|_| "Token has been invalidated")?;
        if secret.metadata.is_deleting() {
            return Err("Token has been invalidated".into());
        }
        let kept = secret.data.get(TOKEN).map_or(&b""[..], |value| value.as_ref());
        if !is_same_secret(kept, token.as_bytes()) {
            return Err("Token does not match server's copy".into());
        }
        let account = lookup.account(namespace, name).await.map_err(|status| status.message)?;
        check_account(&account.metadata, claims)?;
        if secret.metadata.labels.contains_key(INVALID_SINCE) {
            return Err(format!(
                "the token in secret {namespace}/{} for service account {namespace}/{name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from the secret to temporarily allow use of this token",
                claims.secret
            ));
        }
        remember_use(lookup, &secret).await;
        Ok(warnings(&account, &secret))
    }
}

fn check_claims(claims: &Claims) -> Result<(), String> {
    for (value, name) in [
        (&claims.subject, "sub"),
        (&claims.namespace, "namespace"),
        (&claims.secret, "secretName"),
        (&claims.account, "serviceAccountName"),
        (&claims.account_uid, "serviceAccountUID"),
    ] {
        if value.is_empty() {
            return Err(format!("{name} claim is missing"));
        }
    }
    match split_service_account(&claims.subject) == Some((&claims.namespace, &claims.account)) {
        true => Ok(()),
        false => Err("sub claim is invalid".into()),
    }
}

fn check_account(account: &ObjectMeta, claims: &Claims) -> Result<(), String> {
    if account.is_deleting() {
        return Err(format!("ServiceAccount {}/{} has been deleted", claims.namespace, claims.account));
    }
    match account.uid == claims.account_uid {
        true => Ok(()),
        false => Err(format!("ServiceAccount UID ({}) does not match claim ({})", account.uid, claims.account_uid)),
    }
}

/// Tokens that an account was given without asking are on their way out.
fn warnings(account: &ServiceAccount, secret: &Secret) -> Vec<String> {
    let given = account.secrets.iter().any(|reference| reference.name == secret.metadata.name);
    let text = "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.";
    given.then(|| text.to_owned()).into_iter().collect()
}

/// Writes down that a token was used today, so that tokens which nobody uses can be found.
async fn remember_use(lookup: &Lookup, secret: &Secret) {
    let now = Time::from(std::time::SystemTime::now());
    let day = |time: Time| time.to_string().chars().take(10).collect::<String>();
    let (today, tomorrow) = (day(now), day(Time::from_unix(now.unix() + 24 * 60 * 60)));
    let known = secret.metadata.labels.get(LAST_USED);
    if known.is_some_and(|known| *known == today || *known == tomorrow) {
        return;
    }
    if let Err(status) = lookup.label_secret(&secret.metadata, LAST_USED, &today).await {
        tracing::warn!(why = status.message, "labelling the secret of a service account token with the day of its use");
    }
}
