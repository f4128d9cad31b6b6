//! Invalidates, then deletes unused generated tokens of service accounts (upstream:
//! `serviceaccount.LegacySATokenCleaner`).
//!
//! Authentication labels the secret of a token with the date of its last use, and the server stores
//! since when it does so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{ConfigMap, Pod, Secret, ServiceAccount, secret_type};
use kubernetes::core::pod_references::{ReferenceKind, visit_pod};
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{ListQuery, Precondition, Predicate, ResourceStore};
use serde_json::json;

use crate::client::Client;
use crate::context::Context;

const SECRETS: GroupVersionResource = ("", "v1", "secrets");
const ACCOUNTS: GroupVersionResource = ("", "v1", "serviceaccounts");
const CONFIG_MAPS: GroupVersionResource = ("", "v1", "configmaps");
/// The config map with the date since which uses are recorded.
const TRACKING: (&str, &str) = ("kube-system", "kube-apiserver-legacy-service-account-token-tracking");
const SINCE: &str = "since";
/// The labels with the dates of the last use, and since when a token is invalid.
const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
/// The annotations of a secret with the name and the UID of its service account.
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";
/// How often tokens are looked at (`DefaultCleanerSyncInterval`).
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
const DAY: i64 = 24 * 60 * 60;
/// Length of a date such as `2026-01-31`.
const DATE: usize = 10;

/// Invalidates and deletes unused tokens.
///
/// # Errors
/// The server lacks secrets, pods or service accounts.
pub async fn run(context: Context) -> Result<(), Status> {
    let environment = &context.server.environment;
    let cleaner = Cleaner {
        secrets: context.store(SECRETS.0, SECRETS.2)?,
        pods: context.store("", "pods")?,
        loopback: context.loopback(),
        client: context.client(),
        period: i64::try_from(environment.options.controllers.token_clean_up_period.as_secs()).unwrap_or(i64::MAX),
    };
    let clock = environment.backend.clock.clone();
    loop {
        if let Err(status) = cleaner.clean(clock.now()).await {
            tracing::warn!(why = status.message, "cannot clean up tokens of service accounts; retrying later");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

struct Cleaner {
    secrets: Arc<ResourceStore>,
    pods: Arc<ResourceStore>,
    loopback: Loopback,
    client: Client,
    /// How long a token may be unused, in seconds.
    period: i64,
}

/// What happens to a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    Invalidate,
    Delete,
}

impl Cleaner {
    /// Looks at all tokens (`evaluateSATokens`).
    async fn clean(&self, now: Time) -> Result<(), Status> {
        let limit = now.unix().saturating_sub(self.period);
        // The day on which recording began does not count.
        if self.tracked_since().await?.is_none_or(|since| limit < since.unix() + DAY) {
            return Ok(());
        }
        let mut mounted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
        for entry in self.secrets.list("", &Predicate::default(), &query).await?.entries {
            let Ok(secret) = self.secrets.object(&entry)?.into_inner::<Secret>() else { continue };
            let verdict = verdict(&secret, Time::from_unix(limit));
            if verdict == Verdict::Keep || !self.is_generated(&secret).await? {
                continue;
            }
            let namespace = &secret.metadata.namespace;
            if !mounted.contains_key(namespace) {
                mounted.insert(namespace.clone(), self.mounted(namespace).await?);
            }
            if mounted.get(namespace).is_some_and(|names| names.contains(&secret.metadata.name)) {
                continue;
            }
            if let Err(status) = self.act(&secret, verdict, now).await {
                let (name, why) = (&secret.metadata.name, status.message);
                tracing::warn!(namespace, name, why, "cannot clean up a token of a service account; retrying later");
            }
        }
        Ok(())
    }

    /// Since when uses of tokens are recorded; `None` if that is not known.
    async fn tracked_since(&self) -> Result<Option<Time>, Status> {
        let map = self.loopback.get::<ConfigMap>(CONFIG_MAPS, TRACKING.0, TRACKING.1).await?;
        Ok(map.and_then(|map| date(map.data.get(SINCE)?)))
    }

    /// Whether the secret was generated for a service account, which then names it.
    async fn is_generated(&self, secret: &Secret) -> Result<bool, Status> {
        let annotation = |key: &str| secret.metadata.annotations.get(key).map_or("", String::as_str);
        let (name, uid) = (annotation(ACCOUNT_NAME), annotation(ACCOUNT_UID));
        if name.is_empty() {
            return Ok(false);
        }
        let account = self.loopback.get::<ServiceAccount>(ACCOUNTS, &secret.metadata.namespace, name).await?;
        let account = account.filter(|account| uid.is_empty() || account.metadata.uid == uid);
        let is_named =
            |account: ServiceAccount| account.secrets.iter().any(|reference| reference.name == secret.metadata.name);
        Ok(account.is_some_and(is_named))
    }

    /// The names of the secrets that pods of a namespace use.
    async fn mounted(&self, namespace: &str) -> Result<BTreeSet<String>, Status> {
        let mut names = BTreeSet::new();
        let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
        for entry in self.pods.list(namespace, &Predicate::default(), &query).await?.entries {
            let Ok(pod) = self.pods.object(&entry)?.into_inner::<Pod>() else { continue };
            visit_pod(&pod.spec, &mut |reference| {
                if reference.kind == ReferenceKind::Secret {
                    names.insert(reference.name.to_owned());
                }
            });
        }
        Ok(names)
    }

    async fn act(&self, secret: &Secret, verdict: Verdict, now: Time) -> Result<(), Status> {
        let metadata = &secret.metadata;
        let (namespace, name) = (&metadata.namespace, &metadata.name);
        let result = match verdict {
            Verdict::Keep => return Ok(()),
            Verdict::Invalidate => {
                let today: String = now.to_string().chars().take(DATE).collect();
                tracing::info!(
                    namespace,
                    name,
                    "a token of a service account was not used for long; it is invalid now"
                );
                let change = json!({"metadata": {"uid": metadata.uid, "labels": {INVALID_SINCE: today}}});
                self.client.patch(&format!("/api/v1/namespaces/{namespace}/secrets/{name}"), &change).await.map(drop)
            }
            Verdict::Delete => {
                tracing::info!(namespace, name, "deleting an invalid token of a service account");
                // A label that allows the token again changes the version.
                let precondition = Precondition {
                    resource_version: Some(metadata.resource_version.clone()),
                    ..Precondition::default()
                };
                self.loopback.delete_if(SECRETS, namespace, name, precondition).await
            }
        };
        match result {
            Err(status) if matches!(status.code, 404 | 409) => Ok(()),
            result => result,
        }
    }
}

/// What happens to a secret, if it was generated and no pod uses it. `limit` is the time before which
/// a token has to be unused.
fn verdict(secret: &Secret, limit: Time) -> Verdict {
    let metadata = &secret.metadata;
    let is_token = secret.r#type == secret_type::SERVICE_ACCOUNT_TOKEN && metadata.deletion_timestamp.is_none();
    if !is_token || metadata.creation_timestamp.unix() >= limit.unix() {
        return Verdict::Keep;
    }
    let first_kept: String = limit.to_string().chars().take(DATE).collect();
    // A token without the label was not used since uses are recorded.
    if let Some(last_used) = metadata.labels.get(LAST_USED)
        && (date(last_used).is_none() || *last_used >= first_kept)
    {
        return Verdict::Keep;
    }
    match metadata.labels.get(INVALID_SINCE).filter(|since| date(since).is_some()) {
        None => Verdict::Invalidate,
        Some(since) if *since >= first_kept => Verdict::Keep,
        Some(_) => Verdict::Delete,
    }
}

/// Parses a date in Go's layout `2006-01-02`.
fn date(text: &str) -> Option<Time> {
    if text.len() == DATE { Time::parse(&format!("{text}T00:00:00Z")).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on a token of 2020 with these labels, if the limit is noon of 2026-01-02.
    fn check(last_used: Option<&str>, invalid_since: Option<&str>) -> Verdict {
        let mut secret = Secret { r#type: secret_type::SERVICE_ACCOUNT_TOKEN.into(), ..Secret::default() };
        secret.metadata.creation_timestamp = date("2020-01-01").unwrap();
        for (label, value) in [(LAST_USED, last_used), (INVALID_SINCE, invalid_since)] {
            secret.metadata.labels.extend(value.map(|value| (label.to_owned(), value.to_owned())));
        }
        super::verdict(&secret, Time::parse("2026-01-02T12:00:00Z").unwrap())
    }

    #[test]
    fn unused_tokens_become_invalid_and_are_deleted_later() {
        assert_eq!(check(None, None), Verdict::Invalidate);
        assert_eq!(check(Some("2026-01-01"), None), Verdict::Invalidate);
        assert_eq!(check(Some("2026-01-02"), None), Verdict::Keep);
        assert_eq!(check(Some("yesterday."), None), Verdict::Keep, "the last use is not known");
        assert_eq!(check(None, Some("2026-01-02")), Verdict::Keep);
        assert_eq!(check(None, Some("2026-01-01")), Verdict::Delete);
        assert_eq!(check(None, Some("malformed")), Verdict::Invalidate);
        assert_eq!(check(Some("2026-01-02"), Some("2026-01-01")), Verdict::Keep, "the label was removed and used");
    }

    #[test]
    fn new_tokens_and_other_secrets_stay() {
        let limit = Time::parse("2026-01-02T12:00:00Z").unwrap();
        let mut secret = Secret { r#type: secret_type::SERVICE_ACCOUNT_TOKEN.into(), ..Secret::default() };
        secret.metadata.creation_timestamp = limit;
        assert_eq!(verdict(&secret, limit), Verdict::Keep);
        let mut other = Secret { r#type: "Opaque".into(), ..Secret::default() };
        other.metadata.creation_timestamp = date("2020-01-01").unwrap();
        assert_eq!(verdict(&other, limit), Verdict::Keep);
    }
}
