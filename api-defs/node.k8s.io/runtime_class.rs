use crate::core::Toleration;
use crate::meta::ObjectMeta;

/// Names a container runtime configuration that pods may choose through `runtimeClassName`.
#[kind(plural = "runtimeclasses", scope = Cluster, create_on_update, unconditional_update = false, metadata = whole)]
#[versions(v1(introduced = "1.20"), v1beta1(introduced = "1.13", deprecated = "1.22"), v1alpha1)]
#[column("Handler", handler)]
#[column("Age", age)]
#[strategy(warnings = warn_runtime_class)]
#[check(handler, required, name = dns1123_label)]
#[check(overhead, by_hand = validate_overhead)]
#[check(scheduling, below)]
#[check(metadata, by_hand = validate_metadata_update, when(update))]
#[check(handler, immutable)]
pub struct RuntimeClass {
    /// Cluster-wide name and labels of this runtime class.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// CRI configuration name on the nodes, for example `runsc`; immutable.
    #[field(2, required)]
    pub handler: String,

    /// Extra per-pod resources charged in scheduling and quota.
    #[field(3)]
    pub overhead: Option<Overhead>,

    /// Limits pods of this class to nodes able to run it.
    #[field(4)]
    pub scheduling: Option<Scheduling>,
}

/// Fixed cost that a container runtime adds to every pod.
pub struct Overhead {
    /// CPU and memory added per pod, for example `memory: 120Mi`.
    #[field(1)]
    pub pod_fixed: Map<String, Quantity>,
}

/// Node placement rules merged into pods of a runtime class.
#[check(nodeSelector, labels)]
#[check(tolerations, below)]
#[check(tolerations, each(distinct(key, operator, value, effect)))]
pub struct Scheduling {
    /// Required node labels, merged into the pod's own; clashes reject the pod.
    #[field(1, map = atomic)]
    pub node_selector: Map<String, String>,

    /// Tolerations appended to pods at admission, skipping duplicates.
    #[field(2, list = atomic)]
    pub tolerations: Vec<Toleration>,
}

mod v1alpha1 {
    #[differs(RuntimeClass)]
    struct RuntimeClass {
        #[gone]
        handler: (),
        #[gone]
        overhead: (),
        #[gone]
        scheduling: (),

        /// Alpha-era container for runtime settings that later moved to the top level.
        #[field(2, required)]
        spec: RuntimeClassSpec,
    }

    #[convert(RuntimeClass, by_hand = v1alpha1_runtime_class, here(spec), hub(handler, overhead, scheduling))]
    struct HandlerInSpec;

    /// Alpha-only settings block of a runtime class.
    struct RuntimeClassSpec {
        /// CRI handler used for pods of this class; a lowercase DNS label.
        #[field(1, required)]
        runtime_handler: String,

        /// Per-pod resource surcharge of the runtime.
        #[field(2)]
        overhead: Option<Overhead>,

        /// Node restrictions for pods using the runtime.
        #[field(3)]
        scheduling: Option<Scheduling>,
    }
}
