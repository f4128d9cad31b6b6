/// Mark on a node that keeps away pods not tolerating it.
pub struct Taint {
    /// Identifier of the taint, e.g. `node.kubernetes.io/not-ready`.
    #[field(1, required)]
    pub key: String,

    /// Optional value paired with the taint key.
    #[field(2)]
    pub value: String,

    /// Consequence for intolerant pods: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[field(3, required)]
    pub effect: TaintEffect,

    /// When the taint appeared; starts the clock for timed tolerations.
    #[field(4)]
    pub time_added: Option<Time>,
}

/// What a taint does to intolerant pods: block scheduling, discourage it, or evict running ones.
pub enum TaintEffect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

/// Lets a pod run on nodes with a matching taint.
pub struct Toleration {
    /// Taint key to accept; blank with `Exists` accepts every taint.
    #[field(1)]
    pub key: String,

    /// Default `Equal` compares values, `Exists` ignores them; `Lt` and `Gt` compare integers.
    #[field(2)]
    pub operator: TolerationOperator,

    /// Taint value to match; leave blank with `Exists`.
    #[field(3)]
    pub value: String,

    /// Effect to accept; blank accepts all effects.
    #[field(4)]
    pub effect: TaintEffect,

    /// Seconds to stay after a `NoExecute` taint; unset means indefinitely, zero evicts immediately.
    #[field(5)]
    pub toleration_seconds: Option<i64>,
}

/// Comparison between toleration and taint values; `Lt` and `Gt` compare integers.
pub enum TolerationOperator {
    Exists,
    Equal,
    Lt,
    Gt,
}
