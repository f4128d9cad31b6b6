//! Authentication by bound service account tokens (`serviceaccount.JWTTokenAuthenticator`,
//! `serviceaccount.NewValidator`).

use authn::tokens::{Jws, ServiceAccountKeys};
use authn::{Authenticated, AuthenticationError, TokenAuthenticator, Verdict};
use generated::core::v1::ServiceAccount;
use machinery::reflect::Struct;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{MetaExt, meta};
use request::user::{service_account_groups, service_account_user_name};
use request::{BoxFuture, User};
use telemetry::metrics::credentials::ACCOUNTS;

use super::claims::{Claims, Issued, Kubernetes, LEEWAY, Reference};
use super::invalid_token::InvalidToken;
use super::token_getter::ServiceAccountTokenGetter;

const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const NODE_UID: &str = "authentication.kubernetes.io/node-uid";
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
/// The audit annotation for tokens that the client should have renewed.
const STALE: &str = "authentication.k8s.io/stale-token";

/// Authenticates tokens issued with the configured keys.
pub struct Accounts {
    /// The accepted issuers.
    pub issuers: Vec<String>,
    pub keys: ServiceAccountKeys,
    /// The audiences of this server.
    pub audiences: Vec<String>,
    pub lookup: ServiceAccountTokenGetter,
}

impl TokenAuthenticator for Accounts {
    fn name(&self) -> &'static str {
        "serviceaccount"
    }

    fn authenticate_token<'a>(&'a self, token: &'a str, audiences: &'a [String]) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let Some(jws) = issued_by(token, &self.issuers) else { return Ok(None) };
            let verified = self.verify(&jws, audiences).await;
            verified.map(Some).map_err(|refusal| AuthenticationError(refusal.to_string()))
        })
    }
}

/// Parses a token and returns it if its issuer claim is one of `issuers`. The signature is not
/// verified.
pub fn issued_by<'t>(token: &'t str, issuers: &[String]) -> Option<Jws<'t>> {
    let jws = Jws::parse(token)?;
    let issued: Issued = jws.claims().ok()?;
    issuers.contains(&issued.issuer).then_some(jws)
}

impl Accounts {
    async fn verify(&self, jws: &Jws<'_>, wanted: &[String]) -> Result<Authenticated, InvalidToken> {
        self.keys.verify(jws).await?;
        let claims: Claims = jws.claims().map_err(|_| InvalidToken::Claims)?;
        if claims.audiences.is_empty() {
            ACCOUNTS.legacy.inc();
        }
        let token_audiences = if claims.audiences.is_empty() { &self.audiences } else { &claims.audiences };
        let audiences: Vec<String> =
            wanted.iter().filter(|audience| token_audiences.contains(audience)).cloned().collect();
        if audiences.is_empty() {
            return Err(InvalidToken::Audiences { found: token_audiences.clone(), wanted: wanted.to_vec() });
        }
        let now = self.lookup.now();
        claims.check_time(now)?;
        Bound { lookup: &self.lookup, now, to: &claims.kubernetes }.check().await?;
        let stale = claims.stale_for(now);
        if claims.kubernetes.warn_after.is_some_and(|after| after.0 != 0) {
            if stale.is_some() { ACCOUNTS.stale.inc() } else { ACCOUNTS.valid.inc() }
        }
        let annotations = stale.map(|seconds| {
            let subject = &claims.subject;
            (STALE, format!("subject: {subject}, seconds after warning threshold: {seconds}"))
        });
        let annotations = annotations.into_iter().collect();
        Ok(Authenticated { user: user(&claims), audiences, annotations, ..Authenticated::default() })
    }
}

/// The binding of a token to stored objects.
struct Bound<'a> {
    lookup: &'a ServiceAccountTokenGetter,
    now: Time,
    to: &'a Kubernetes,
}

impl Bound<'_> {
    async fn check(&self) -> Result<(), InvalidToken> {
        self.check_account().await?;
        let namespace = &self.to.namespace;
        if let Some(secret) = &self.to.secret {
            self.check_object("secret", secret, self.lookup.secret(namespace, &secret.name).await)?;
        }
        if let Some(pod) = &self.to.pod {
            self.check_object("pod", pod, self.lookup.pod(namespace, &pod.name).await)?;
        } else if let Some(node) = &self.to.node {
            self.check_object("node", node, self.lookup.node(&node.name).await)?;
        }
        Ok(())
    }

    async fn check_account(&self) -> Result<(), InvalidToken> {
        let (namespace, claimed) = (&self.to.namespace, &self.to.account);
        let ServiceAccount { metadata, .. } = self.lookup.account(namespace, &claimed.name).await?;
        if metadata.uid != claimed.uid {
            return Err(InvalidToken::AccountUid { stored: metadata.uid, claimed: claimed.uid.clone() });
        }
        match self.is_deleted(&metadata) {
            true => Err(InvalidToken::AccountDeleted { namespace: namespace.clone(), name: claimed.name.clone() }),
            false => Ok(()),
        }
    }

    fn check_object<T: Struct>(
        &self,
        what: &'static str,
        claimed: &Reference,
        found: Result<T, Status>,
    ) -> Result<(), InvalidToken> {
        let Ok(found) = found else { return Err(InvalidToken::Invalidated) };
        let meta = meta(machinery::reflect::Ref::of(&found)).ok_or(InvalidToken::Invalidated)?;
        if meta.uid != claimed.uid {
            return Err(InvalidToken::ObjectUid { what, stored: meta.uid.clone(), claimed: claimed.uid.clone() });
        }
        if self.is_deleted(meta) { Err(InvalidToken::Invalidated) } else { Ok(()) }
    }

    /// Whether an object is past its deletion time by more than the clock skew.
    fn is_deleted(&self, meta: &apimachinery::meta::v1::ObjectMeta) -> bool {
        meta.is_deleting() && meta.deletion_timestamp.is_some_and(|at| at.unix() < self.now.unix() - LEEWAY)
    }
}

/// Builds the user of a service account (`ServiceAccountInfo.UserInfo`).
fn user(claims: &Claims) -> User {
    let Kubernetes { namespace, account, pod, node, .. } = &claims.kubernetes;
    let mut user = User::new(service_account_user_name(namespace, &account.name), service_account_groups(namespace));
    user.uid.clone_from(&account.uid);
    let mut add_extra = |key: &str, value: &str| {
        if !value.is_empty() {
            user.extra.insert(key.into(), vec![value.into()]);
        }
    };
    if let Some(pod) = pod {
        add_extra(POD_NAME, &pod.name);
        add_extra(POD_UID, &pod.uid);
    }
    if let Some(node) = node {
        add_extra(NODE_NAME, &node.name);
        add_extra(NODE_UID, &node.uid);
    }
    if !claims.id.is_empty() {
        add_extra(CREDENTIAL_ID, &format!("JTI={}", claims.id));
    }
    user
}
