//! The priority classes that every cluster has.

/// Name, value and description of a priority class.
pub type SystemPriorityClass = (&'static str, i32, &'static str);

/// The priority classes that always exist (`scheduling.SystemPriorityClasses`).
pub const SYSTEM_PRIORITY_CLASSES: [SystemPriorityClass; 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];
