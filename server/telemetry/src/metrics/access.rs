//! Metrics of authentication and authorization (upstream: `endpoints/filters/metrics.go`).

use std::time::Duration;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry};

use super::register::{counters, histograms};

/// Fifteen buckets, each twice as long as the previous one.
const SECONDS: [f64; 15] =
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/// The metrics of authentication and authorization. Clones share them.
#[derive(Clone)]
pub struct AccessMetrics {
    users: IntCounterVec,
    /// The series of `users` for names that are not counted separately: nearly all.
    others: IntCounter,
    pub authenticated: OutcomeMetrics,
    pub unauthenticated: OutcomeMetrics,
    pub authentication_failed: OutcomeMetrics,
    pub allowed: OutcomeMetrics,
    pub denied: OutcomeMetrics,
    pub no_opinion: OutcomeMetrics,
}

/// The series of one outcome.
#[derive(Clone)]
pub struct OutcomeMetrics {
    attempts: IntCounter,
    seconds: Histogram,
}

impl OutcomeMetrics {
    fn new((attempts, seconds): (&IntCounterVec, &HistogramVec), result: &str) -> Self {
        OutcomeMetrics {
            attempts: attempts.with_label_values(&[result]),
            seconds: seconds.with_label_values(&[result]),
        }
    }

    /// Records an attempt with this outcome and duration.
    pub fn observe(&self, took: Duration) {
        self.attempts.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}

impl AccessMetrics {
    /// Creates the metrics and registers them.
    pub fn new(registry: &Registry) -> Self {
        let result = &["result"];
        let authentication = (
            &counters(registry, "authentication_attempts", "Number of authentication attempts, by result.", result),
            &histograms(
                registry,
                "authentication_duration_seconds",
                "Duration of authentication, in seconds.",
                result,
                &SECONDS,
            ),
        );
        let authorization = (
            &counters(registry, "authorization_attempts_total", "Number of authorization attempts, by result.", result),
            &histograms(
                registry,
                "authorization_duration_seconds",
                "Duration of authorization, in seconds.",
                result,
                &SECONDS,
            ),
        );
        let users = counters(
            registry,
            "authenticated_user_requests",
            "Number of authenticated requests, by user.",
            &["username"],
        );
        AccessMetrics {
            others: users.with_label_values(&["other"]),
            users,
            authenticated: OutcomeMetrics::new(authentication, "success"),
            unauthenticated: OutcomeMetrics::new(authentication, "failure"),
            authentication_failed: OutcomeMetrics::new(authentication, "error"),
            allowed: OutcomeMetrics::new(authorization, "allowed"),
            denied: OutcomeMetrics::new(authorization, "denied"),
            no_opinion: OutcomeMetrics::new(authorization, "no-opinion"),
        }
    }

    /// Counts a request of a user. Names are grouped, because their number is unbounded.
    pub fn count_user(&self, name: &str) {
        let kind = match name {
            "admin" | "client" | "kube_proxy" | "kubelet" | "system:serviceaccount:kube-system:default" => name,
            name if name.contains('@') => "email_id",
            _ => return self.others.inc(),
        };
        self.users.with_label_values(&[kind]).inc();
    }
}
