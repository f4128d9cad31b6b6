//! Retries with exponential backoff (upstream: `webhook.DefaultRetryBackoffWithInitialDelay`).

use std::time::Duration;

/// The maximum number of attempts.
const ATTEMPTS: u32 = 5;

/// The delays between attempts.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
}

impl Backoff {
    /// Creates a backoff with this first delay; each further delay is 1.5 times the previous one.
    pub const fn starting_with(first: Duration) -> Self {
        Backoff { first }
    }

    /// Calls `attempt` until it succeeds, and returns its result or the last error.
    ///
    /// Errors for which `is_retryable` is false are not retried.
    pub async fn retry<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        is_retryable: impl Fn(&E) -> bool,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, E> {
        let mut pause = self.first;
        for _ in 1..ATTEMPTS {
            match attempt().await {
                Err(why) if is_retryable(&why) => tokio::time::sleep(pause).await,
                result => return result,
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

    /// Runs attempts with these outcomes; returns the result and the elapsed milliseconds.
    async fn check(outcomes: &[Result<u32, bool>]) -> (Result<u32, bool>, u64) {
        let (begin, mut outcomes) = (Instant::now(), outcomes.iter());
        let backoff = Backoff::starting_with(Duration::from_millis(1000));
        let result =
            backoff.retry(|again| *again, || std::future::ready(outcomes.next().copied().unwrap_or(Err(true)))).await;
        (result, begin.elapsed().as_millis() as u64)
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow() {
        assert_eq!(check(&[Ok(1)]).await, (Ok(1), 0));
        assert_eq!(check(&[Err(true), Err(true), Ok(2)]).await, (Ok(2), 2500));
        assert_eq!(check(&[Err(true), Err(false), Ok(3)]).await, (Err(false), 1000));
        assert_eq!(check(&[]).await, (Err(true), 8125));
    }
}
