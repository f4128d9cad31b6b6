//! Health checks (`/livez`, `/readyz`, and the older `/healthz`; upstream:
//! `apiserver/pkg/server/healthz`).

mod checks;
mod handler;
mod named;
mod results;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use options::{BoxError, ServerProgram};
use prometheus::proto::MetricFamily;
use results::Results;

use crate::shutdown::{Phase, Shutdown};

/// The named checks of a server. Clones share them.
///
/// Initially it has upstream's checks, all of which succeed, so that the responses have the same
/// lines. Components that can fail or that start asynchronously replace their check with
/// [`Health::set`] or [`Health::pending`].
#[derive(Clone)]
pub struct Health {
    named: Arc<RwLock<Vec<Named>>>,
    results: Results,
    /// Until when `/livez` ignores unfinished start-up work.
    lenient_until: Option<Instant>,
}

/// A health endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthEndpoint {
    Healthz,
    Livez,
    Readyz,
}

impl HealthEndpoint {
    const ALL: [HealthEndpoint; 3] = [HealthEndpoint::Healthz, HealthEndpoint::Livez, HealthEndpoint::Readyz];

    fn name(self) -> &'static str {
        match self {
            HealthEndpoint::Healthz => "healthz",
            HealthEndpoint::Livez => "livez",
            HealthEndpoint::Readyz => "readyz",
        }
    }
}

/// A check that fails until [`Pending::done`] is called.
#[must_use]
pub struct Pending(Arc<AtomicBool>);

impl Pending {
    /// Makes the check succeed.
    pub fn done(self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Health {
    /// Creates the checks of a program of 1.36. The check `shutdown` fails after the shutdown is
    /// initiated.
    pub fn new(program: ServerProgram, shutdown: &Shutdown) -> Self {
        let health = Health {
            named: Arc::new(RwLock::new(checks::of(program))),
            results: Results::default(),
            lenient_until: None,
        };
        let shutdown = shutdown.clone();
        health.set("shutdown", move || match shutdown.phase() {
            Phase::Running => Ok(()),
            _ => Err("process is shutting down".into()),
        });
        health
    }

    /// Makes `/livez` ignore unfinished start-up work for this duration (`--livez-grace-period`).
    #[must_use]
    pub fn with_livez_grace(self, grace: Duration) -> Self {
        Health { lenient_until: Some(Instant::now() + grace).filter(|_| !grace.is_zero()), ..self }
    }

    /// Replaces the check with this name. A check that upstream does not have is appended to all
    /// endpoints.
    pub fn set(&self, name: &'static str, check: impl Fn() -> Result<(), BoxError> + Send + Sync + 'static) {
        let mut all = self.named.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let check: HealthCheck = Arc::new(check);
        match all.iter_mut().find(|c| c.name == name) {
            Some(found) => found.check = check,
            None => all.push(Named { name, on: Endpoints { healthy: true, alive: true, ready: true }, check }),
        }
    }

    /// Adds a check after those of the store. Its failure must not restart the server, so it is not
    /// on `/livez` (`addHealthChecksWithoutLivez`).
    pub fn add_without_livez(
        &self,
        name: &'static str,
        check: impl Fn() -> Result<(), BoxError> + Send + Sync + 'static,
    ) {
        let mut all = self.named.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let behind = all.iter().rposition(|c| c.name.starts_with("etcd")).map_or(0, |at| at + 1);
        let on = Endpoints { healthy: true, alive: false, ready: true };
        all.insert(behind, Named { name, on, check: Arc::new(check) });
    }

    /// Makes the check with this name fail until its work is done, such as
    /// `poststarthook/rbac/bootstrap-roles`.
    pub fn pending(&self, name: &'static str) -> Pending {
        let done = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&done);
        self.set(name, move || if seen.load(Ordering::Acquire) { Ok(()) } else { Err("not finished".into()) });
        Pending(done)
    }

    /// Whether all checks of `/readyz` succeed.
    pub fn is_ready(&self) -> bool {
        self.checks(HealthEndpoint::Readyz).iter().all(|named| (named.check)().is_ok())
    }

    /// The paths of the endpoints and their checks, for the index at `/`.
    pub fn paths(&self) -> Vec<String> {
        let of = |endpoint: HealthEndpoint| {
            let root = format!("/{}", endpoint.name());
            let checks = self.checks(endpoint).into_iter().map({
                let root = root.clone();
                move |check| format!("{root}/{}", check.name)
            });
            std::iter::once(root).chain(checks.collect::<Vec<_>>())
        };
        HealthEndpoint::ALL.into_iter().flat_map(of).collect()
    }

    /// The last results and the counts of results (`kubernetes_healthcheck`,
    /// `kubernetes_healthchecks_total`).
    pub(crate) fn results(&self) -> Vec<MetricFamily> {
        self.results.families()
    }

    /// Resets the results of all checks (`DELETE /metrics/slis`).
    pub(crate) fn reset_results(&self) {
        self.results.reset();
    }

    fn checks(&self, endpoint: HealthEndpoint) -> Vec<Named> {
        let all = self.named.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        let belongs = |check: &&Named| match endpoint {
            HealthEndpoint::Healthz => check.on.healthy,
            HealthEndpoint::Livez => check.on.alive,
            HealthEndpoint::Readyz => check.on.ready,
        };
        let lenient =
            endpoint == HealthEndpoint::Livez && self.lenient_until.is_some_and(|until| Instant::now() < until);
        let leniently = |check: &Named| match lenient && check.is_boot_check() {
            true => Named { check: Arc::new(|| Ok(())), ..check.clone() },
            false => check.clone(),
        };
        all.iter().filter(belongs).map(leniently).collect()
    }
}

pub use handler::HealthHandler;
pub use named::HealthCheck;
use named::{Endpoints, Named};

#[cfg(test)]
mod tests;
