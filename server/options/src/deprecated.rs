//! Deprecated flags and their warnings, which are upstream's.

use crate::values::FlagValues;

const DEPRECATED: &[(&str, &str)] = &[
    (
        "admission-control",
        "Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.",
    ),
    ("apiserver-count", "apiserver-count is deprecated and will be removed in a future version."),
    ("audit-webhook-batch-initial-backoff", "use --audit-webhook-initial-backoff instead"),
    ("enable-logs-handler", "Log handler functionality is deprecated"),
    ("kubelet-port", "kubelet-port is deprecated and will be removed."),
    ("kubelet-read-only-port", "kubelet-read-only-port is deprecated and will be removed."),
];

impl FlagValues {
    /// The warnings about the deprecated flags that are given.
    pub(super) fn deprecated(&self) -> Vec<String> {
        let given = DEPRECATED.iter().filter(|(flag, _)| self.is_given(flag));
        given.map(|(flag, why)| format!("Flag --{flag} has been deprecated, {why}")).collect()
    }
}
