//! Metrics of CEL expressions (upstream: `apiserver/pkg/cel/metrics`).
//!
//! The code that compiles and evaluates expressions has no server at hand, so the servers of a
//! process share these metrics.

use std::sync::LazyLock;
use std::time::Instant;

use prometheus::{DEFAULT_BUCKETS, Histogram, Registry};

use super::shared::{self, show};

static COMPILATION: LazyLock<Histogram> = LazyLock::new(|| {
    histogram("apiserver_cel_compilation_duration_seconds", "Duration of CEL compilation, in seconds.")
});
static EVALUATION: LazyLock<Histogram> =
    LazyLock::new(|| histogram("apiserver_cel_evaluation_duration_seconds", "Duration of CEL evaluation, in seconds."));

fn histogram(name: &str, help: &str) -> Histogram {
    shared::histogram(name, help, DEFAULT_BUCKETS)
}

/// Registers the metrics.
pub(super) fn register(registry: &Registry) {
    for histogram in [&COMPILATION, &EVALUATION] {
        show(registry, &**histogram);
    }
}

/// Times the compilation of an expression.
pub fn compiling<T>(compile: impl FnOnce() -> T) -> T {
    timed(&COMPILATION, compile)
}

/// Times the evaluation of an expression.
pub fn evaluating<T>(evaluate: impl FnOnce() -> T) -> T {
    timed(&EVALUATION, evaluate)
}

fn timed<T>(histogram: &Histogram, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    histogram.observe(began.elapsed().as_secs_f64());
    done
}
