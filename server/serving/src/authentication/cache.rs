//! Remembers for a moment who showed a token, so that not every request costs a signature or a call, and lets requests with the same token
//! wait for the first of them (upstream: `token/cache`).

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::{Authenticated, Verdict};
use crate::metrics::credentials;

/// How long somebody who was believed is believed again. Whoever loses a right to come in keeps it for that long.
const SUCCESS: Duration = Duration::from_secs(10);
/// How many tokens are remembered. Strangers cannot make the server remember anything: failures are forgotten at once.
const MAX_TOKENS: usize = 8192;

/// Tokens by their hash, with a salt of this process: a copy of the memory tells no token, and nobody can choose where one lands.
pub(super) struct Cache {
    salt: [u8; 16],
    success: Duration,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
}

type Key = [u8; 32];
/// Who it was, and until when that counts.
type Slot = OnceCell<(Instant, Authenticated)>;

impl Default for Cache {
    fn default() -> Self {
        Cache::lasting(SUCCESS)
    }
}

impl Cache {
    /// A cache that believes for so long.
    pub(super) fn lasting(success: Duration) -> Self {
        Cache { salt: uuid::Uuid::new_v4().into_bytes(), success, slots: Mutex::default() }
    }

    /// What is remembered of a token, or what is said when it is asked about.
    pub(super) async fn get_or_ask<F: Future<Output = Verdict>>(
        &self,
        token: &str,
        audiences: &[String],
        ask: impl FnOnce() -> F,
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
                let asking = credentials::asking_about_token();
                let verdict = ask().await;
                drop(asking);
                credentials::token_fetched(verdict.is_ok());
                match verdict {
                    Ok(Some(found)) => Ok((Instant::now() + self.success, found)),
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
                self.forget(&key);
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

    /// The slot of a token: one that is filled and still counts, or that somebody is about to fill.
    fn slot(&self, key: Key) -> Arc<Slot> {
        let now = Instant::now();
        let counts = |slot: &Arc<Slot>| slot.get().is_none_or(|(until, _)| *until > now);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(&key).filter(|slot| counts(slot)) {
            return slot.clone();
        }
        if slots.len() >= MAX_TOKENS {
            slots.retain(|_, slot| counts(slot));
        }
        if slots.len() >= MAX_TOKENS {
            slots.clear();
        }
        let slot = Arc::<Slot>::default();
        slots.insert(key, slot.clone());
        slot
    }

    /// Forgets a slot that nobody filled.
    fn forget(&self, key: &Key) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.get(key).is_some_and(|slot| slot.get().is_none()) {
            slots.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authentication::AuthenticationError;
    use crate::user::User;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Asks about a token that is worth something when it begins with `good`.
    async fn ask(cache: &Cache, asked: &AtomicUsize, token: &str, audience: &str) -> bool {
        let audiences = [audience.to_owned()];
        let verdict = cache.get_or_ask(token, &audiences, || async {
            asked.fetch_add(1, Ordering::Relaxed);
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
    async fn who_was_believed_is_remembered() {
        let (cache, asked) = (Cache::default(), AtomicUsize::new(0));
        let count = || asked.swap(0, Ordering::Relaxed);
        assert!(ask(&cache, &asked, "good", "a").await && ask(&cache, &asked, "good", "a").await);
        assert_eq!(count(), 1);
        assert!(ask(&cache, &asked, "good", "b").await && ask(&cache, &asked, "good2", "a").await);
        assert_eq!(count(), 2);
        tokio::time::advance(SUCCESS).await;
        assert!(ask(&cache, &asked, "good", "a").await);
        assert_eq!(count(), 1);
        let together = futures_util::join!(ask(&cache, &asked, "good3", "a"), ask(&cache, &asked, "good3", "a"));
        assert_eq!((together, count()), ((true, true), 1));
    }

    #[tokio::test]
    async fn strangers_are_forgotten() {
        let (cache, asked) = (Cache::default(), AtomicUsize::new(0));
        assert!(!ask(&cache, &asked, "bad", "a").await && !ask(&cache, &asked, "bad", "a").await);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(cache.slots.lock().unwrap().is_empty());
        for i in 0..MAX_TOKENS + 10 {
            assert!(ask(&cache, &asked, &format!("good{i}"), "a").await);
        }
        assert!(cache.slots.lock().unwrap().len() <= MAX_TOKENS);
    }
}
