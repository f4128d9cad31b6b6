//! Metrics of credentials: token cache, service account tokens, client certificates, impersonation.
//!
//! Upstream: `authentication/token/cache`, `pkg/serviceaccount`, `authentication/request/x509`,
//! `endpoints/filters/impersonation`.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use prometheus::{DEFAULT_BUCKETS, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Registry};

use super::register::GaugeGuard;
use super::shared::{SECONDS, counter, counters, gauges, histogram, histograms, show};

/// Half an hour to a year.
const LIFETIMES: [f64; 14] = [
    0.0, 1800.0, 3600.0, 7200.0, 21600.0, 43200.0, 86400.0, 172800.0, 345600.0, 604800.0, 2592000.0, 7776000.0,
    15552000.0, 31104000.0,
];

static TOKENS: LazyLock<TokenCache> = LazyLock::new(TokenCache::new);
static IMPERSONATION: LazyLock<Impersonation> = LazyLock::new(Impersonation::new);
static CERTIFICATES: LazyLock<Histogram> = LazyLock::new(|| {
    let help = "Remaining lifetime of client certificates of requests, in seconds.";
    histogram("apiserver_client_certificate_expiration_seconds", help, &LIFETIMES)
});
/// Uses of service account tokens.
pub static ACCOUNTS: LazyLock<AccountTokens> = LazyLock::new(AccountTokens::new);

struct TokenCache {
    requests: IntCounterVec,
    seconds: HistogramVec,
    fetches: IntCounterVec,
    active: IntGaugeVec,
}

/// Uses of service account tokens, by kind of token.
pub struct AccountTokens {
    /// Tokens of Secrets and others without an audience.
    pub legacy: IntCounter,
    /// Tokens of Secrets that the account lists.
    pub legacy_auto: IntCounter,
    /// Tokens of other Secrets.
    pub legacy_manual: IntCounter,
    /// Tokens of Secrets that are marked as invalid.
    pub invalid_legacy_auto: IntCounter,
    /// Tokens of pods that should have been renewed.
    pub stale: IntCounter,
    /// Tokens of pods that need not be renewed yet.
    pub valid: IntCounter,
}

struct Impersonation {
    attempts: IntCounterVec,
    attempt_seconds: HistogramVec,
    checks: IntCounterVec,
    check_seconds: HistogramVec,
}

impl TokenCache {
    fn new() -> Self {
        let name = |name: &str| format!("authentication_token_cache_{name}");
        let status = &["status"];
        TokenCache {
            requests: counters(&name("request_total"), "Number of token cache lookups, by hit and miss.", status),
            seconds: histograms(
                &name("request_duration_seconds"),
                "Duration of token cache lookups, in seconds.",
                status,
                DEFAULT_BUCKETS,
            ),
            fetches: counters(
                &name("fetch_total"),
                "Number of token checks by authenticators after a cache miss.",
                status,
            ),
            active: gauges(&name("active_fetch_count"), "Number of token checks in progress.", status),
        }
    }
}

impl AccountTokens {
    fn new() -> Self {
        let uses = |name: &str, of: &str| {
            let help = format!("Number of requests with service account tokens {of}.");
            counter(&format!("serviceaccount_{name}_total"), &help)
        };
        AccountTokens {
            legacy: uses("legacy_tokens", "that name no audience"),
            legacy_auto: uses("legacy_auto_token_uses", "from Secrets that the account lists"),
            legacy_manual: uses("legacy_manual_token_uses", "from other Secrets"),
            invalid_legacy_auto: uses("invalid_legacy_auto_token_uses", "from Secrets marked as invalid"),
            stale: uses("stale_tokens", "that should have been renewed"),
            valid: uses("valid_tokens", "that need not be renewed yet"),
        }
    }
}

impl Impersonation {
    fn new() -> Self {
        let name = |name: &str| format!("apiserver_impersonation_{name}");
        let labels = &["mode", "decision"];
        Impersonation {
            attempts: counters(&name("attempts_total"), "Number of impersonation requests.", labels),
            attempt_seconds: histograms(
                &name("attempts_duration_seconds"),
                "Duration of impersonation checks, in seconds.",
                labels,
                &SECONDS,
            ),
            checks: counters(
                &name("authorization_attempts_total"),
                "Number of authorization checks for impersonation.",
                labels,
            ),
            check_seconds: histograms(
                &name("authorization_attempts_duration_seconds"),
                "Duration of authorization checks for impersonation, in seconds.",
                labels,
                &SECONDS,
            ),
        }
    }
}

/// Registers the metrics.
pub(super) fn register(registry: &Registry) {
    let TokenCache { requests, seconds, fetches, active } = &*TOKENS;
    let Impersonation { attempts, attempt_seconds, checks, check_seconds } = &*IMPERSONATION;
    for counters in [requests, fetches, attempts, checks] {
        show(registry, counters);
    }
    for histograms in [seconds, attempt_seconds, check_seconds] {
        show(registry, histograms);
    }
    show(registry, active);
    show(registry, &*CERTIFICATES);
    let AccountTokens { legacy, legacy_auto, legacy_manual, invalid_legacy_auto, stale, valid } = &*ACCOUNTS;
    for uses in [legacy, legacy_auto, legacy_manual, invalid_legacy_auto, stale, valid] {
        show(registry, uses);
    }
}

/// Records the look-up of a token, by cache hit or miss.
pub fn token_looked_up(is_hit: bool, began: Instant) {
    let status = if is_hit { "hit" } else { "miss" };
    TOKENS.requests.with_label_values(&[status]).inc();
    TOKENS.seconds.with_label_values(&[status]).observe(began.elapsed().as_secs_f64());
}

/// Counts a request that waits for authenticators, until the result is dropped.
pub fn waiting_for_token() -> GaugeGuard {
    GaugeGuard::new(&TOKENS.active.with_label_values(&["blocked"]))
}

/// Counts a call of authenticators, until the result is dropped.
pub fn fetching_token() -> GaugeGuard {
    GaugeGuard::new(&TOKENS.active.with_label_values(&["in_flight"]))
}

/// Records a call of authenticators for a token.
pub fn token_fetched(is_ok: bool) {
    TOKENS.fetches.with_label_values(&[if is_ok { "ok" } else { "error" }]).inc();
}

/// Records a request with a client certificate that expires at `end`, in seconds since 1970.
pub fn certificate_used(end: u64, now: u64) {
    CERTIFICATES.observe(end as f64 - now as f64);
}

/// Records an impersonation request and its duration; `mode` is empty if none allowed it.
pub fn impersonated(mode: &str, took: Duration) {
    let labels = [mode, decision(!mode.is_empty())];
    IMPERSONATION.attempts.with_label_values(&labels).inc();
    IMPERSONATION.attempt_seconds.with_label_values(&labels).observe(took.as_secs_f64());
}

/// Records an authorization check of impersonation in a mode.
pub fn impersonation_checked(mode: &str, is_allowed: bool, took: Duration) {
    let labels = [mode, decision(is_allowed)];
    IMPERSONATION.checks.with_label_values(&labels).inc();
    IMPERSONATION.check_seconds.with_label_values(&labels).observe(took.as_secs_f64());
}

fn decision(is_allowed: bool) -> &'static str {
    if is_allowed { "allowed" } else { "denied" }
}
