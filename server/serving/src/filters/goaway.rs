//! Makes HTTP/2 clients reconnect at random, so that a load balancer can redistribute them
//! (upstream: `WithProbabilisticGoaway`).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::Version;
use request::{BoxFuture, Handler, Peer, Request, Response};

/// Closes the connection of a request gracefully, with a given probability.
pub struct WithGoaway<H> {
    inner: H,
    /// The probability as a fraction of 2^64.
    threshold: u64,
    random: RandomState,
    requests: AtomicU64,
}

impl<H> WithGoaway<H> {
    /// `chance` is a probability between 0 and 1.
    pub fn new(inner: H, chance: f64) -> Self {
        WithGoaway {
            inner,
            threshold: (chance * u64::MAX as f64) as u64,
            random: RandomState::new(),
            requests: AtomicU64::new(0),
        }
    }

    fn is_selected(&self) -> bool {
        self.threshold > 0 && self.random.hash_one(self.requests.fetch_add(1, Ordering::Relaxed)) < self.threshold
    }
}

impl<H: Handler> Handler for WithGoaway<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if request.version() == Version::HTTP_2
            && self.is_selected()
            && let Some(peer) = request.extensions().get::<Arc<Peer>>()
        {
            peer.close();
        }
        self.inner.handle(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_closed_with_the_given_probability() {
        let share = |chance: f64| {
            let filter = WithGoaway::new((), chance);
            (0..10_000).filter(|_| filter.is_selected()).count()
        };
        assert_eq!(share(0.0), 0);
        assert!((50..200).contains(&share(0.0125)));
        assert_eq!(share(1.0), 10_000);
    }
}
