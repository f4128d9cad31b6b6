//! Flags of request handling before the resource handlers (upstream: `ServerRunOptions`).

use std::time::Duration;

use crate::error::FlagError;
use crate::values::FlagValues;

/// Options of request handling before the resource handlers.
#[derive(Clone, Debug)]
pub struct RequestOptions {
    pub request_timeout: Duration,
    pub min_request_timeout: Duration,
    /// The maximum number of concurrent reads; 0 means no limit.
    pub max_in_flight: usize,
    /// The maximum number of concurrent writes; 0 means no limit.
    pub max_mutating_in_flight: usize,
    /// The memory of all requests in bytes; 0 means a share of the available memory.
    pub max_memory: u64,
    /// Whether the limits are divided by priority, and requests above them wait.
    pub priority_and_fairness: bool,
    pub cors_allowed_origins: Vec<String>,
    pub hsts_directives: Vec<String>,
    pub goaway_chance: f64,
    /// Bytes per second, in each direction, of connections to pods; `None` means no limit.
    pub connection_bytes_per_second: Option<u64>,
}

impl FlagValues {
    pub(super) fn requests(&self) -> Result<RequestOptions, FlagError> {
        let goaway_chance: f64 = self.number("goaway-chance")?;
        if !(0.0..=0.02).contains(&goaway_chance) {
            return Err(FlagError::GoawayChance);
        }
        let request_timeout = self.duration("request-timeout")?;
        if request_timeout.is_zero() {
            return Err(FlagError::RequestTimeout);
        }
        let (max_in_flight, max_mutating_in_flight) =
            (self.number("max-requests-inflight")?, self.number("max-mutating-requests-inflight")?);
        let priority_and_fairness = self.bool("enable-priority-and-fairness")?;
        if priority_and_fairness && max_in_flight == 0 && max_mutating_in_flight == 0 {
            return Err(FlagError::NoRequestsInFlight);
        }
        let owned = |flag| self.list(flag).into_iter().map(String::from).collect();
        self.list("strict-transport-security-directives").into_iter().try_for_each(check_directive)?;
        Ok(RequestOptions {
            request_timeout,
            min_request_timeout: Duration::from_secs(self.number("min-request-timeout")?),
            max_in_flight,
            max_mutating_in_flight,
            max_memory: self.number("max-request-memory")?,
            priority_and_fairness,
            cors_allowed_origins: owned("cors-allowed-origins"),
            hsts_directives: owned("strict-transport-security-directives"),
            goaway_chance,
            connection_bytes_per_second: Some(self.number("max-connection-bytes-per-sec")?).filter(|bytes| *bytes > 0),
        })
    }
}

/// Validates a directive of the header Strict-Transport-Security (`validateHSTSDirectives`).
fn check_directive(directive: &str) -> Result<(), FlagError> {
    let is_age = || matches!(directive.split('=').collect::<Vec<_>>()[..], ["max-age", _]);
    if matches!(directive, "includeSubDomains" | "preload") || is_age() {
        return Ok(());
    }
    Err(FlagError::HstsDirective { directive: directive.to_owned() })
}
