//! A cache of successful token authentications (upstream: `token/cache`).
//!
//! It avoids a signature verification or a webhook call for each request. Concurrent requests with the same token
//! share one authentication.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use telemetry::metrics::credentials;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::verdict::{Authenticated, Verdict};

/// How long a success is cached. A revoked token remains valid for up to this long.
const SUCCESS_TTL: Duration = Duration::from_secs(10);
/// The maximum number of cached tokens. Failures are not cached, so invalid tokens do not fill the cache.
const MAX_TOKENS: usize = 8192;

/// Authenticated tokens, keyed by a hash that is salted per process.
///
/// A memory dump reveals no token, and clients cannot choose the hash of a token.
pub(crate) struct TokenCache {
    salt: [u8; 16],
    success_ttl: Duration,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
}

type Key = [u8; 32];
/// The expiry time and the result of an authentication.
type Slot = OnceCell<(Instant, Authenticated)>;

impl Default for TokenCache {
    fn default() -> Self {
        TokenCache::with_ttl(SUCCESS_TTL)
    }
}

impl TokenCache {
    /// A cache that keeps successes for `success_ttl`.
    pub(crate) fn with_ttl(success_ttl: Duration) -> Self {
        TokenCache { salt: uuid::Uuid::new_v4().into_bytes(), success_ttl, slots: Mutex::default() }
    }

    /// Returns the cached result of a token, or the result of `authenticate`, which is cached if it is a success.
    pub(crate) async fn get_or_authenticate<F: Future<Output = Verdict>>(
        &self,
        token: &str,
        audiences: &[String],
        authenticate: impl FnOnce() -> F,
    ) -> Verdict {
        let began = std::time::Instant::now();
        let key = self.key(token, audiences);
        let slot = self.slot(key);
        if let Some((_, found)) = slot.get() {
            credentials::token_looked_up(true, began);
            return Ok(Some(found.clone()));
        }
        let _waiting = credentials::waiting_for_token();
        let mut refused = Ok(None);
        let known = slot
            .get_or_try_init(async || {
                let asking = credentials::fetching_token();
                let verdict = authenticate().await;
                drop(asking);
                credentials::token_fetched(verdict.is_ok());
                match verdict {
                    Ok(Some(found)) => Ok((Instant::now() + self.success_ttl, found)),
                    other => {
                        refused = other;
                        Err(())
                    }
                }
            })
            .await;
        credentials::token_looked_up(false, began);
        match known {
            Ok((_, found)) => Ok(Some(found.clone())),
            Err(()) => {
                self.remove_unfilled(&key);
                refused
            }
        }
    }

    fn key(&self, token: &str, audiences: &[String]) -> Key {
        let mut hash = Sha256::new_with_prefix(self.salt);
        for part in std::iter::once(token).chain(audiences.iter().map(String::as_str)) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// Returns the slot of a token: filled and not expired, or being filled by a request.
    fn slot(&self, key: Key) -> Arc<Slot> {
        let now = Instant::now();
        let is_current = |slot: &Arc<Slot>| slot.get().is_none_or(|(until, _)| *until > now);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(&key).filter(|slot| is_current(slot)) {
            return slot.clone();
        }
        if slots.len() >= MAX_TOKENS {
            slots.retain(|_, slot| is_current(slot));
        }
        if slots.len() >= MAX_TOKENS {
            slots.clear();
        }
        let slot = Arc::<Slot>::default();
        slots.insert(key, slot.clone());
        slot
    }

    /// Removes a slot that was not filled.
    fn remove_unfilled(&self, key: &Key) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.get(key).is_some_and(|slot| slot.get().is_none()) {
            slots.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::AuthenticationError;
    use request::User;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Whether a token authenticates; tokens that begin with `good` are valid. Counts the calls of the authenticator.
    async fn authenticates(cache: &TokenCache, calls: &AtomicUsize, token: &str, audience: &str) -> bool {
        let audiences = [audience.to_owned()];
        let verdict = cache.get_or_authenticate(token, &audiences, || async {
            calls.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            let user = User::new(token, ["dev"]);
            match token.starts_with("good") {
                true => Ok(Some(Authenticated { user, ..Authenticated::default() })),
                false => Err(AuthenticationError("bad".into())),
            }
        });
        verdict.await.is_ok_and(|found| found.is_some_and(|found| found.user.name == token))
    }

    #[tokio::test(start_paused = true)]
    async fn caches_successes() {
        let (cache, calls) = (TokenCache::default(), AtomicUsize::new(0));
        let count = || calls.swap(0, Ordering::Relaxed);
        assert!(authenticates(&cache, &calls, "good", "a").await && authenticates(&cache, &calls, "good", "a").await);
        assert_eq!(count(), 1);
        assert!(authenticates(&cache, &calls, "good", "b").await && authenticates(&cache, &calls, "good2", "a").await);
        assert_eq!(count(), 2);
        tokio::time::advance(SUCCESS_TTL).await;
        assert!(authenticates(&cache, &calls, "good", "a").await);
        assert_eq!(count(), 1);
        let together = futures_util::join!(
            authenticates(&cache, &calls, "good3", "a"),
            authenticates(&cache, &calls, "good3", "a")
        );
        assert_eq!((together, count()), ((true, true), 1));
    }

    #[tokio::test]
    async fn does_not_cache_failures() {
        let (cache, calls) = (TokenCache::default(), AtomicUsize::new(0));
        assert!(!authenticates(&cache, &calls, "bad", "a").await && !authenticates(&cache, &calls, "bad", "a").await);
        assert_eq!(calls.load(Ordering::Relaxed), 2);
        assert!(cache.slots.lock().unwrap().is_empty());
        for i in 0..MAX_TOKENS + 10 {
            assert!(authenticates(&cache, &calls, &format!("good{i}"), "a").await);
        }
        assert!(cache.slots.lock().unwrap().len() <= MAX_TOKENS);
    }
}
