use crate::meta::ObjectMeta;

/// Assigns a pod to a node; schedulers create it via `pods/binding`.
#[kind(plural = "bindings", scope = Namespaced, verbs(create), virtual)]
#[versions(v1(introduced = "1.0"))]
#[check(target.kind, unsupported(Node, "<empty>"), when(not(target.kind = ("", Node))))]
#[check(target.name, filled)]
pub struct Binding {
    /// Name and namespace of the pod being bound.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Node to which the pod is bound.
    #[field(2, required)]
    pub target: ObjectReference,
}
