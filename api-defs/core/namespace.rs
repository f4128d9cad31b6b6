use crate::meta::ObjectMeta;

/// Isolates a group of named objects, serving as a boundary for quotas and access.
#[kind(
    plural = "namespaces",
    short = "ns",
    scope = Cluster,
    verbs(create, delete, get, list, patch, update, watch),
    delete_returns_object,
    generation = false,
    name = dns1123_label,
    metadata = whole_and_change
)]
#[versions(v1(introduced = "1.0"))]
#[subresource(finalize, verbs(update), resets(status), without_tables)]
#[subresource(status, resets(spec))]
#[column("Status", status.phase)]
#[column("Age", age)]
#[selectable(status.phase)]
#[default(by_hand = default_namespace)]
#[strategy(create = create_namespace, update = update_namespace, delete = delete_namespace, holds = namespace_has_content)]
#[check(
    spec.finalizers,
    each(format = qualified_name, format = kubernetes_finalizer_name),
    when(subresource = finalize)
)]
#[check(
    spec.finalizers,
    each(at(".", format = qualified_name, format = kubernetes_finalizer_name)),
    when(not(subresource = finalize), not(subresource = status))
)]
#[check(
    status.phase,
    at("Phase", invalid = "may only be 'Active' if `deletionTimestamp` is empty"),
    when(subresource = status, unset(metadata.deletionTimestamp), not(status.phase = Active))
)]
#[check(
    status.phase,
    at("Phase", invalid = "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    when(subresource = status, set(metadata.deletionTimestamp), not(status.phase = Terminating))
)]
pub struct Namespace {
    /// Namespace name plus labels, which drive things like Pod Security levels.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Finalizers that must clear before the namespace disappears.
    #[field(2)]
    pub spec: NamespaceSpec,

    /// Phase and deletion progress as seen by the namespace controller.
    #[field(3)]
    pub status: NamespaceStatus,
}

/// Settings controlling how a namespace is cleaned up.
pub struct NamespaceSpec {
    /// Tokens that must be removed first; normally just `kubernetes`.
    #[field(1, list = atomic)]
    pub finalizers: Vec<FinalizerName>,
}

/// Namespace finalizer token; `kubernetes` is the built-in one.
#[open]
pub enum FinalizerName {
    #[value("kubernetes")]
    Kubernetes,
}

/// Observed lifecycle of a namespace.
pub struct NamespaceStatus {
    /// Shows `Active` in normal use, `Terminating` once deletion was requested.
    #[field(1, default_hidden = Active)]
    pub phase: NamespacePhase,

    /// Reports explaining why deletion may be stuck.
    #[field(2, list = map(type), patch = merge)]
    pub conditions: Vec<NamespaceCondition>,
}

/// Whether a namespace is in use or being deleted.
pub enum NamespacePhase {
    Active,
    Terminating,
}

/// Observation about how a namespace's deletion is progressing.
pub struct NamespaceCondition {
    /// Aspect reported, for instance `NamespaceContentRemaining`.
    #[field(1, required)]
    pub r#type: NamespaceConditionType,

    /// One of `True`, `False` or `Unknown` for the aspect in question.
    #[field(2, required)]
    pub status: ConditionStatus,

    /// When the condition last flipped.
    #[field(4, always)]
    pub last_transition_time: Time,

    /// Machine-friendly cause of the latest change.
    #[field(5)]
    pub reason: String,

    /// Readable detail, often listing what blocks deletion.
    #[field(6)]
    pub message: String,
}

/// Problems or leftovers that may hold up namespace deletion.
#[open]
pub enum NamespaceConditionType {
    NamespaceDeletionDiscoveryFailure,
    NamespaceDeletionContentFailure,
    NamespaceDeletionGroupVersionParsingFailure,
    NamespaceContentRemaining,
    NamespaceFinalizersRemaining,
}
