use crate::meta::{Condition, ObjectMeta};

mod v1beta2 {
    /// Admin-made rule adding a taint to selected devices across the cluster.
    #[kind(plural = "devicetaintrules", scope = Cluster, storage = v1alpha3, delete_returns_object)]
    #[versions(v1beta2(introduced = "1.36"), v1alpha3(introduced = "1.33"))]
    #[subresource(status)]
    #[column("Key", spec.taint.key)]
    #[column("Value", spec.taint.value)]
    #[column("Effect", spec.taint.effect)]
    #[column("TimeAdded", age(spec.taint.timeAdded) or "")]
    #[column("Age", age)]
    #[strategy(update = update_device_taint_rule)]
    #[check(spec.deviceSelector, below, when(not(subresource = status)))]
    #[check(spec.taint, below, when(not(subresource = status)))]
    #[check(status.conditions, below, max_items = 8, when(subresource = status))]
    struct DeviceTaintRule {
        /// Name and labels of this cluster-scoped rule.
        #[field(1)]
        metadata: ObjectMeta,

        /// Devices to mark and the taint to add.
        #[field(2, required)]
        spec: DeviceTaintRuleSpec,

        /// Progress of the rule, for instance ongoing evictions.
        #[field(3)]
        status: DeviceTaintRuleStatus,
    }

    /// Pairs a device selection with a taint.
    struct DeviceTaintRuleSpec {
        /// Devices concerned; all set criteria must match, and `{}` covers every device.
        #[field(1)]
        device_selector: Option<DeviceTaintSelector>,

        /// Taint placed on the chosen devices.
        #[field(2, required)]
        taint: DeviceTaint,
    }

    /// Narrows a taint rule by driver, pool or device name.
    #[check(driver, format = csi_driver_name)]
    #[check(pool, format = device_pool_name)]
    #[check(device, name = dns1123_label)]
    struct DeviceTaintSelector {
        /// Only devices from this DRA driver.
        #[field(2)]
        driver: Option<String>,

        /// Only devices inside this pool; usually combined with `driver`.
        #[field(3)]
        pool: Option<String>,

        /// Only devices of this name; combine with driver and pool for uniqueness.
        #[field(4)]
        device: Option<String>,
    }

    /// Observed effect of a taint rule.
    struct DeviceTaintRuleStatus {
        /// Observations such as `EvictionInProgress`, eight at most.
        #[field(1, list = map(type), patch = merge)]
        conditions: Vec<Condition>,
    }
}
