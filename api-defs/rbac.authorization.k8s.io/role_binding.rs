use crate::meta::ObjectMeta;

/// Grants a Role or ClusterRole to subjects within one namespace.
#[kind(plural = "rolebindings", scope = Namespaced, create_on_update, name = whole_path_segment, metadata = whole)]
#[versions(
    v1(introduced = "1.8"),
    v1beta1(
        introduced = "1.6",
        deprecated = "1.17",
        removed = "1.22",
        replacement = "rbac.authorization.k8s.io/v1 RoleBinding"
    ),
    v1alpha1
)]
#[column("Role", by_hand = role_binding_role, reads(roleRef), "Kind and name of the role that is granted.")]
#[column("Age", age)]
#[column("Users", by_hand = role_binding_users, reads(subjects), priority = 1, "Users to whom the role is granted.")]
#[column("Groups", by_hand = role_binding_groups, reads(subjects), priority = 1, "Groups to whom the role is granted.")]
#[column("ServiceAccounts", by_hand = role_binding_service_accounts, reads(subjects), priority = 1, "Service accounts to whom the role is granted, as namespace and name.")]
#[default(roleRef.apiGroup = "rbac.authorization.k8s.io")]
#[check(roleRef, below = namespaced)]
#[check(subjects, below = namespaced)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
#[check(roleRef, immutable = "cannot change roleRef")]
pub struct RoleBinding {
    /// Name and namespace; the namespace limits where the grant applies.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Subjects that receive the permissions; service accounts may come from other namespaces.
    #[field(2, list = atomic)]
    pub subjects: Vec<Subject>,

    /// Role in this namespace, or ClusterRole, being granted; immutable.
    #[field(3, required)]
    pub role_ref: RoleRef,
}
