/// Security settings shared by all containers, each overridable at container level.
#[check(fsGroup, range(0, 2147483647), when(part(ids)))]
#[check(runAsUser, range(0, 2147483647), when(part(ids)))]
#[check(runAsGroup, range(0, 2147483647), when(part(ids)))]
#[check(supplementalGroups, each(range(0, 2147483647)), when(part(ids)))]
#[check(fsGroupChangePolicy, one_of(Always, OnRootMismatch))]
#[check(seccompProfile, below)]
#[check(windowsOptions, below)]
#[check(appArmorProfile, below)]
#[check(supplementalGroupsPolicy, one_of(Merge, Strict))]
#[check(seLinuxChangePolicy, one_of(Recursive), when(option(only_recursive_label_changes)))]
#[check(
    seLinuxChangePolicy,
    one_of(MountOption, Recursive),
    when(not(option(only_recursive_label_changes)))
)]
pub struct PodSecurityContext {
    /// SELinux label for every container; the runtime picks one if absent.
    #[field(1)]
    pub se_linux_options: Option<SELinuxOptions>,

    /// Windows-only identity and host-process settings for all containers.
    #[field(8)]
    pub windows_options: Option<WindowsSecurityContextOptions>,

    /// UID that container processes run as; the image decides when unset.
    #[field(2)]
    pub run_as_user: Option<i64>,

    /// Primary GID of container processes; the runtime default applies when unset.
    #[field(6)]
    pub run_as_group: Option<i64>,

    /// Refuses to start any container that would run as UID 0.
    #[field(3)]
    pub run_as_non_root: Option<bool>,

    /// Extra GIDs granted to the first process of each container.
    #[field(4, list = atomic)]
    pub supplemental_groups: Vec<i64>,

    /// Default `Merge` keeps groups from the image's `/etc/group`; `Strict` drops them.
    #[field(12, gate = SupplementalGroupsPolicy)]
    pub supplemental_groups_policy: Option<SupplementalGroupsPolicy>,

    /// GID given ownership of supported volumes so containers can share files.
    #[field(5)]
    pub fs_group: Option<i64>,

    /// Namespaced kernel parameters to set; unsafe ones need kubelet permission.
    #[field(7, list = atomic)]
    pub sysctls: Vec<Sysctl>,

    /// When volume ownership is rewritten: `Always` (default) or only on `OnRootMismatch`.
    #[field(9)]
    pub fs_group_change_policy: Option<PodFSGroupChangePolicy>,

    /// System-call filter for all containers in the pod.
    #[field(10)]
    pub seccomp_profile: Option<SeccompProfile>,

    /// AppArmor confinement for all containers in the pod.
    #[field(11)]
    pub app_armor_profile: Option<AppArmorProfile>,

    /// Labels volumes by slow `Recursive` relabelling or quick `MountOption`.
    #[field(13, gate = SELinuxChangePolicy)]
    pub se_linux_change_policy: Option<PodSELinuxChangePolicy>,
}

/// Parts of the SELinux label put on a container.
pub struct SELinuxOptions {
    /// User part of the SELinux label.
    #[field(1)]
    pub user: String,

    /// Role part of the SELinux label.
    #[field(2)]
    pub role: String,

    /// Type part of the SELinux label, e.g. `spc_t`.
    #[field(3)]
    pub r#type: String,

    /// MCS or MLS level, such as `s0:c123,c456`.
    #[field(4)]
    pub level: String,
}

/// Identity and isolation settings that only apply on Windows.
#[check(gmsaCredentialSpecName, json(name = dns1123_subdomain))]
#[check(
    gmsaCredentialSpec,
    invalid = "gmsaCredentialSpec cannot be an empty string",
    when(set(gmsaCredentialSpec), gmsaCredentialSpec = "")
)]
#[check(gmsaCredentialSpec, max_bytes(65536, "gmsaCredentialSpec size must be under 64 KiB"))]
#[check(runAsUserName, json(format = windows_user_name))]
pub struct WindowsSecurityContextOptions {
    /// Which GMSA credential spec to use, by name.
    #[field(1)]
    pub gmsa_credential_spec_name: Option<String>,

    /// Literal GMSA credential spec, normally filled in by its admission webhook.
    #[field(2)]
    pub gmsa_credential_spec: Option<String>,

    /// Windows account for the entrypoint; taken from the image if unset.
    #[field(3)]
    pub run_as_user_name: Option<String>,

    /// Runs as a HostProcess container; all-or-nothing per pod and needs `hostNetwork`.
    #[field(4)]
    pub host_process: Option<bool>,
}

/// Decides whether group memberships from the image's `/etc/group` join those listed in the pod.
pub enum SupplementalGroupsPolicy {
    Merge,
    Strict,
}

/// Kernel parameter to set for a pod.
#[check(name, required, format = sysctl_name, valid, distinct)]
#[check(
    name,
    format = sysctl_beside_network,
    when(option(host_network), not(option(sysctls_of_host)))
)]
#[check(name, format = sysctl_beside_ipc, when(option(host_ipc), not(option(sysctls_of_host))))]
pub struct Sysctl {
    /// Parameter name, such as `net.core.somaxconn`.
    #[field(1, required)]
    pub name: String,

    /// Value assigned to the parameter.
    #[field(2, required)]
    pub value: String,
}

/// When ownership of volume files is changed to the `fsGroup`.
pub enum PodFSGroupChangePolicy {
    OnRootMismatch,
    Always,
}

/// Selects the system-call filter for a process.
#[union(discriminator = type, members(Localhost = localhostProfile), without(Unconfined, RuntimeDefault))]
#[check(
    type,
    required = "type is required when seccompProfile is set",
    one_of(Localhost, RuntimeDefault, Unconfined)
)]
#[check(
    localhostProfile,
    missing = "must be set when seccomp type is Localhost",
    when(type = Localhost, unset(localhostProfile))
)]
#[check(localhostProfile, format = relative_path, when(type = Localhost))]
#[check(
    self,
    at(
        "seccompProfile.localhostProfile",
        invalid = "can only be set when seccomp type is Localhost"
    ),
    when(set(localhostProfile), not(type = Localhost))
)]
pub struct SeccompProfile {
    /// Filter kind: `RuntimeDefault`, `Localhost` for a custom file, or `Unconfined` for none.
    #[field(1, required)]
    pub r#type: SeccompProfileType,

    /// Profile file relative to the kubelet's seccomp directory; only with `Localhost`.
    #[field(2)]
    pub localhost_profile: Option<String>,
}

/// Which kind of seccomp filter is applied.
pub enum SeccompProfileType {
    Unconfined,
    RuntimeDefault,
    Localhost,
}

/// Selects the AppArmor confinement for a pod or container.
#[union(discriminator = type, members(Localhost = localhostProfile), without(Unconfined, RuntimeDefault))]
#[check(
    localhostProfile,
    missing = "must be set when AppArmor type is Localhost",
    when(type = Localhost, unset(localhostProfile))
)]
#[check(localhostProfile, format = unpadded_text, when(type = Localhost))]
#[check(
    localhostProfile,
    missing = "must be set when AppArmor type is Localhost",
    when(type = Localhost, set(localhostProfile), localhostProfile = "")
)]
#[check(localhostProfile, max_bytes = 4095, when(type = Localhost))]
#[check(
    localhostProfile,
    invalid = "can only be set when AppArmor type is Localhost",
    when(set(localhostProfile), type = (RuntimeDefault, Unconfined))
)]
#[check(
    type,
    required = "type is required when appArmorProfile is set",
    one_of(Localhost, RuntimeDefault, Unconfined)
)]
pub struct AppArmorProfile {
    /// Profile source: `RuntimeDefault`, `Localhost` or `Unconfined`.
    #[field(1, required)]
    pub r#type: AppArmorProfileType,

    /// Profile preloaded on the node; required only with type `Localhost`.
    #[field(2)]
    pub localhost_profile: Option<String>,
}

/// Where an AppArmor profile comes from: the runtime, the node, or nowhere.
pub enum AppArmorProfileType {
    Unconfined,
    RuntimeDefault,
    Localhost,
}

/// Technique for putting SELinux labels on volumes.
#[open]
pub enum PodSELinuxChangePolicy {
    Recursive,
    MountOption,
}

/// Privilege and isolation settings for one container.
#[check(
    privileged,
    forbidden = "disallowed by cluster policy",
    when(privileged = true, not(option(privileged_allowed)))
)]
#[check(runAsUser, range(0, 2147483647))]
#[check(runAsGroup, range(0, 2147483647))]
#[check(procMount, one_of(Default, Unmasked))]
#[check(
    procMount,
    invalid = "`hostUsers` must be false to use `Unmasked`",
    when(procMount = Unmasked, option(host_users))
)]
#[check(seccompProfile, below)]
#[check(
    self,
    invalid = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
    when(allowPrivilegeEscalation = false, privileged = true)
)]
#[check(self, by_hand = validate_added_capabilities, when(allowPrivilegeEscalation = false))]
#[check(windowsOptions, below)]
#[check(appArmorProfile, below)]
#[check(appArmorProfile, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(seLinuxOptions, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(seccompProfile, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(capabilities, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(readOnlyRootFilesystem, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(privileged, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(allowPrivilegeEscalation, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(procMount, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(runAsUser, forbidden = "cannot be set for a windows pod", when(part(windows)))]
#[check(runAsGroup, forbidden = "cannot be set for a windows pod", when(part(windows)))]
pub struct SecurityContext {
    /// Linux capabilities to add or drop relative to the runtime's default set.
    #[field(1)]
    pub capabilities: Option<Capabilities>,

    /// Grants nearly all root powers on the node; false by default.
    #[field(2)]
    pub privileged: Option<bool>,

    /// SELinux label for this container, overriding the pod's.
    #[field(3)]
    pub se_linux_options: Option<SELinuxOptions>,

    /// Windows-only settings for this container, overriding the pod's.
    #[field(10)]
    pub windows_options: Option<WindowsSecurityContextOptions>,

    /// UID of the entrypoint; overrides both the image and the pod setting.
    #[field(4)]
    pub run_as_user: Option<i64>,

    /// Primary GID of the entrypoint; overrides the pod setting.
    #[field(8)]
    pub run_as_group: Option<i64>,

    /// Makes the kubelet refuse this container if it would run as root.
    #[field(5)]
    pub run_as_non_root: Option<bool>,

    /// Forbids writes to the root filesystem; mounted volumes stay writable.
    #[field(6)]
    pub read_only_root_filesystem: Option<bool>,

    /// False sets `no_new_privs`, stopping setuid gains; always true for privileged containers.
    #[field(7)]
    pub allow_privilege_escalation: Option<bool>,

    /// How `/proc` is mounted; `Default` masks sensitive paths, `Unmasked` reveals them.
    #[field(9)]
    pub proc_mount: Option<ProcMountType>,

    /// System-call filter for this container, beating the pod's choice.
    #[field(11)]
    pub seccomp_profile: Option<SeccompProfile>,

    /// AppArmor confinement for this container, beating the pod's choice.
    #[field(12)]
    pub app_armor_profile: Option<AppArmorProfile>,
}

/// Linux capabilities to grant to or take from a container.
pub struct Capabilities {
    /// Capabilities to grant beyond the runtime's default, e.g. `NET_ADMIN`.
    #[field(1, list = atomic, go = "Capability")]
    pub add: Vec<String>,

    /// Capabilities to take away; `ALL` removes every one.
    #[field(2, list = atomic, go = "Capability")]
    pub drop: Vec<String>,
}

/// Degree to which `/proc` is masked in a container.
pub enum ProcMountType {
    Default,
    Unmasked,
}
