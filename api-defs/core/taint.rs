/// Mark on a node that keeps away pods not tolerating it.
#[check(key, format = qualified_name)]
#[check(value, format = label_value_in_one)]
#[check(effect, required, one_of(NoSchedule, PreferNoSchedule, NoExecute))]
#[check(self, distinct(key, effect, "taints must be unique by key and effect pair"))]
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

/// Effect of a taint on intolerant pods: block scheduling, discourage it, or evict running ones.
pub enum TaintEffect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

/// Lets a pod run on nodes with a matching taint.
#[check(
    operator,
    invalid = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
    when(unset(key), not(operator = Exists))
)]
#[check(key, optional, format = qualified_name)]
#[check(
    effect,
    invalid = "effect must be 'NoExecute' when `tolerationSeconds` is set",
    when(set(tolerationSeconds), not(effect = NoExecute))
)]
#[check(value, at("operator", format = label_value_in_one), when(operator = ("", Equal)))]
#[check(
    value,
    at("operator", invalid = "value must be empty when `operator` is 'Exists'"),
    when(operator = Exists, set(value))
)]
#[check(value, format = decimal_int64, when(operator = (Lt, Gt), option(compared_tolerations)))]
#[check(
    operator,
    unsupported(Equal, Exists, Lt, Gt),
    when(operator = (Lt, Gt), not(option(compared_tolerations)))
)]
#[check(operator, one_of(Equal, Exists), when(not(operator = ("", Equal, Exists, Lt, Gt))))]
#[check(effect, optional, one_of(NoSchedule, PreferNoSchedule, NoExecute))]
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
