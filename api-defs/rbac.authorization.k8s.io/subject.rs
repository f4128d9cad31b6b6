/// Identifies the role that a binding grants.
#[structure(atomic)]
#[check(apiGroup, one_of("rbac.authorization.k8s.io"), when(part(default, namespaced)))]
#[check(kind, one_of(Role, ClusterRole), when(part(namespaced)))]
#[check(kind, one_of(ClusterRole))]
#[check(name, required, name = path_segment, when(part(default, namespaced)))]
pub struct RoleRef {
    /// Group of the role type, always `rbac.authorization.k8s.io`.
    #[field(1, always)]
    pub api_group: String,

    /// Type of role granted, `Role` or `ClusterRole`.
    #[field(2, required)]
    pub kind: String,

    /// Role to grant, by object name.
    #[field(3, required)]
    pub name: String,
}

/// User, group or service account that a binding refers to.
#[structure(atomic)]
#[default(by_hand = default_subject)]
#[check(name, filled, when(part(default, namespaced)))]
#[check(name, optional, name = dns1123_subdomain, when(part(default, namespaced), kind = ServiceAccount))]
#[check(apiGroup, one_of(""), when(part(default, namespaced), kind = ServiceAccount))]
#[check(namespace, filled, when(kind = ServiceAccount))]
#[check(apiGroup, one_of("rbac.authorization.k8s.io"), when(part(default, namespaced), kind = (User, Group)))]
#[check(kind, one_of(ServiceAccount, User, Group), when(part(default, namespaced)))]
pub struct Subject {
    /// Subject category: `User`, `Group` or `ServiceAccount`.
    #[field(1, required)]
    pub kind: String,

    /// Empty for service accounts, `rbac.authorization.k8s.io` for users and groups.
    #[field(2)]
    pub api_group: String,

    /// Username, group name or service account name.
    #[field(3, required)]
    pub name: String,

    /// Namespace of the service account; leave out for users and groups.
    #[field(4)]
    pub namespace: String,
}

mod v1alpha1 {
    #[differs(Subject)]
    #[default(by_hand = default_v1alpha1_subject)]
    struct Subject {
        #[gone]
        api_group: (),

        /// Alpha-only version string, later superseded by `apiGroup`.
        #[field(2)]
        api_version: String,
    }

    #[convert(Subject, by_hand = v1alpha1_subject, here(apiVersion), hub(apiGroup))]
    struct SubjectGroup;
}
