//! Metrics about the program and its metrics: build info, feature gates, registered metrics
//! (upstream: `component-base/metrics`).

use std::collections::BTreeMap;

use machinery::features::FeatureGates;
use options::version;
use prometheus::core::Collector;
use prometheus::proto::MetricFamily;
use prometheus::{IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};

use super::register::{counters, gauges};
use super::stability::level;

const BUILD: [&str; 9] = [
    "major",
    "minor",
    "git_version",
    "git_commit",
    "git_tree_state",
    "build_date",
    "go_version",
    "compiler",
    "platform",
];

/// Registers the metrics that are constant while the server runs.
pub(super) fn register(registry: &Registry) {
    let build = gauges(registry, "kubernetes_build_info", "Build information of the server; always 1.", &BUILD);
    let info = version::info();
    let values =
        ["major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"];
    build.with_label_values(&values.map(|name| info[name].as_str().unwrap_or_default())).set(1);
    let help = "Binary, emulated and minimum compatible version of the server; always 1.";
    let versions = gauges(registry, "version_info", help, &["component", "binary", "emulation", "min_compat"]);
    let release = |prefix: &str| {
        let part = |name: &str| info[format!("{prefix}{name}")].as_str().unwrap_or_default().to_owned();
        format!("{}.{}", part("Major"), part("Minor"))
    };
    let (emulated, compatible) = (release("emulation"), release("minCompatibility"));
    let binary = version::GIT_VERSION.trim_start_matches('v');
    versions.with_label_values(&["kube", binary, emulated.as_str(), compatible.as_str()]).set(1);
    // There is only one validation, which includes declared constraints, so there are no
    // mismatches.
    for (name, help) in [
        ("mismatch", "Number of differing results of declarative and hand-written validation."),
        ("panic", "Number of panics in declarative validation."),
    ] {
        let name = format!("apiserver_validation_declarative_validation_{name}_total");
        counters(registry, &name, help, &[]).with_label_values::<&str>(&[]);
    }
}

/// Registers the states of the feature gates.
pub(super) fn show_features(registry: &Registry, features: &FeatureGates) {
    let help = "State of each feature gate: 1 if it is enabled.";
    let enabled: IntGaugeVec = gauges(registry, "kubernetes_feature_enabled", help, &["name", "stage"]);
    for gate in features.known().iter() {
        enabled.with_label_values(&[gate.name, gate.stage.name()]).set(features.enabled(gate.name).into());
    }
}

/// The metrics about these metrics.
pub(super) fn about(families: &[MetricFamily], disabled: &[String]) -> Vec<MetricFamily> {
    let opts = |name: &str, help: &str| Opts::new(name, help);
    let registered = opts("registered_metrics_total", "Number of registered metrics, by stability level.");
    let registered = IntCounterVec::new(registered, &["stability_level", "deprecated_version"]);
    let registered = registered.expect("a well-formed metric");
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for name in families.iter().map(MetricFamily::name) {
        *counts.entry(level(name).unwrap_or_default()).or_default() += 1;
    }
    for (level, count) in counts {
        registered.with_label_values(&[level, ""]).inc_by(count);
    }
    let off = IntCounter::with_opts(opts("disabled_metrics_total", "Number of metrics disabled by a flag."));
    let off = off.expect("a well-formed metric");
    let is_off = |name: &&String| families.iter().any(|family| family.name() == name.as_str());
    off.inc_by(disabled.iter().filter(is_off).count() as u64);
    // No metric is hidden: none is older than its replacement.
    let hidden =
        IntCounter::with_opts(opts("hidden_metrics_total", "Number of metrics hidden because they are deprecated."));
    let hidden = hidden.expect("a well-formed metric");
    [registered.collect(), off.collect(), hidden.collect()].concat()
}
