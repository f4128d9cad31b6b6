/// Mark on a device that keeps away or evicts pods without a toleration.
#[default(by_hand = default_device_taint)]
#[check(key, format = qualified_name)]
#[check(value, format = label_value)]
#[check(effect, required, one_of(NoExecute, NoSchedule, None), when(changed(effect)))]
pub struct DeviceTaint {
    /// Label-style taint name, for example `example.com/unhealthy`.
    #[field(1, required)]
    pub key: String,

    /// Optional label-style value accompanying the key.
    #[field(2)]
    pub value: String,

    /// Consequence: `None` informs only, `NoSchedule` blocks allocation, `NoExecute` also evicts.
    #[field(3, required)]
    pub effect: DeviceTaintEffect,

    /// When the taint was set; filled in by the server if missing.
    #[field(4)]
    pub time_added: Option<Time>,
}

/// Impact of a device taint on claims that do not tolerate it.
pub enum DeviceTaintEffect {
    None,
    NoSchedule,
    NoExecute,
}
