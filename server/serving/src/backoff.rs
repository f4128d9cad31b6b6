//! Trying again what failed, after pauses that grow (upstream: `webhook.DefaultRetryBackoffWithInitialDelay`).

use std::time::Duration;

/// How often something is tried.
const ATTEMPTS: u32 = 5;

/// When something that failed is tried again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    first: Duration,
}

impl Backoff {
    /// The first pause; each one is half as long again as the one before.
    pub const fn starting_with(first: Duration) -> Self {
        Backoff { first }
    }

    /// What was made in the end, or the last failure. Not every failure may be worth another attempt.
    pub async fn retry<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        helps: impl Fn(&E) -> bool,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, E> {
        let mut pause = self.first;
        for _ in 1..ATTEMPTS {
            match attempt().await {
                Err(why) if helps(&why) => tokio::time::sleep(pause).await,
                made => return made,
            }
            pause = pause * 3 / 2;
        }
        attempt().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    /// What comes of attempts with these outcomes, and how long that takes.
    async fn check(outcomes: &[Result<u32, bool>]) -> (Result<u32, bool>, u64) {
        let (begin, mut outcomes) = (Instant::now(), outcomes.iter());
        let backoff = Backoff::starting_with(Duration::from_millis(1000));
        let made =
            backoff.retry(|again| *again, || std::future::ready(outcomes.next().copied().unwrap_or(Err(true)))).await;
        (made, begin.elapsed().as_millis() as u64)
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow() {
        assert_eq!(check(&[Ok(1)]).await, (Ok(1), 0));
        assert_eq!(check(&[Err(true), Err(true), Ok(2)]).await, (Ok(2), 2500));
        assert_eq!(check(&[Err(true), Err(false), Ok(3)]).await, (Err(false), 1000));
        assert_eq!(check(&[]).await, (Err(true), 8125));
    }
}
