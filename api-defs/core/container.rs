/// One process environment in a pod: its image, command, resources, mounts and probes.
#[default(terminationMessagePath = "/dev/termination-log")]
#[default(terminationMessagePolicy = File)]
#[default(by_hand = default_container)]
#[check(name, required, name = dns1123_label)]
#[check(image, filled)]
#[check(terminationMessagePolicy, required, one_of(File, FallbackToLogsOnError))]
#[check(ports, below)]
#[check(env, below)]
#[check(envFrom, below)]
#[check(self, choose(privileged, securityContext.privileged = true))]
#[check(self, open(mounted, mapped_names, mapped_paths))]
#[check(self, open(mount_names, mount_paths, device_names, device_paths), when(set(volumeDevices)))]
#[check(volumeMounts, below = noted, when(set(volumeDevices)))]
#[check(volumeDevices, below = noted)]
#[check(volumeMounts, below)]
#[check(volumeDevices, below)]
#[check(imagePullPolicy, required, one_of(Always, IfNotPresent, Never))]
#[check(resources, by_hand = validate_container_resources)]
#[check(resizePolicy, below)]
#[check(securityContext, below)]
#[check(
    restartPolicy,
    missing = "must specify restartPolicy when restart rules are used",
    when(part(init_restarts), unset(restartPolicy), set(restartPolicyRules))
)]
#[check(
    restartPolicy,
    one_of(Always),
    when(part(init_restarts), not(option(container_restart_rules)))
)]
#[check(
    restartPolicyRules,
    forbidden = "restartPolicyRules are not allowed for init containers with restart policy Always",
    when(
        part(init_restarts),
        restartPolicy = Always,
        option(container_restart_rules),
        not(option(restart_all_containers))
    )
)]
#[check(
    self,
    below = restarts,
    when(
        part(init_restarts),
        set(restartPolicy),
        any(not(restartPolicy = Always), option(restart_all_containers))
    )
)]
#[check(self, by_hand = validate_own_host_ports, when(part(init)))]
#[check(self, below = sidecar, when(part(init), restartPolicy = Always))]
#[check(self, below = once, when(part(init), not(restartPolicy = Always)))]
#[check(lifecycle, below, when(part(main, sidecar)))]
#[check(livenessProbe, below, when(part(main, sidecar)))]
#[check(
    livenessProbe.successThreshold,
    invalid = "must be 1",
    when(part(main, sidecar), set(livenessProbe), not(livenessProbe.successThreshold = 1))
)]
#[check(readinessProbe, below, when(part(main, sidecar)))]
#[check(
    readinessProbe.terminationGracePeriodSeconds,
    invalid = "must not be set for readinessProbes",
    when(part(main, sidecar), set(readinessProbe.terminationGracePeriodSeconds))
)]
#[check(startupProbe, below, when(part(main, sidecar)))]
#[check(
    startupProbe.successThreshold,
    invalid = "must be 1",
    when(part(main, sidecar), set(startupProbe), not(startupProbe.successThreshold = 1))
)]
#[check(
    restartPolicy,
    missing = "must specify restartPolicy when restart rules are used",
    when(
        part(main, restarts),
        option(container_restart_rules),
        unset(restartPolicy),
        set(restartPolicyRules)
    )
)]
#[check(
    restartPolicy,
    one_of(Always, Never, OnFailure),
    when(part(main, restarts), option(container_restart_rules))
)]
#[check(
    restartPolicyRules,
    max_items = 20,
    below,
    when(part(main, restarts), option(container_restart_rules))
)]
#[check(
    restartPolicy,
    forbidden = "may not be set for non-init containers",
    when(part(main), not(option(container_restart_rules)))
)]
#[check(
    lifecycle,
    forbidden = "may not be set for init containers without restartPolicy=Always",
    when(part(once))
)]
#[check(
    livenessProbe,
    forbidden = "may not be set for init containers without restartPolicy=Always",
    when(part(once))
)]
#[check(
    readinessProbe,
    forbidden = "may not be set for init containers without restartPolicy=Always",
    when(part(once))
)]
#[check(
    startupProbe,
    forbidden = "may not be set for init containers without restartPolicy=Always",
    when(part(once))
)]
#[check(resizePolicy, below = once, when(part(once), not(option(init_resize_restarts))))]
#[check(resizePolicy, below = once, when(part(resize_restarts), not(restartPolicy = Always)))]
pub struct Container {
    /// DNS-label identifier for this container, distinct from every other container in the pod.
    #[field(1, required)]
    pub name: String,

    /// Image to run, such as `registry.example.com/app:1.2` or a digest reference.
    #[field(2)]
    pub image: String,

    /// Overrides the image's ENTRYPOINT; no shell is involved, and `$(VAR)` references are substituted.
    #[field(3, list = atomic)]
    pub command: Vec<String>,

    /// Overrides the image's CMD, passing arguments to the entrypoint with `$(VAR)` substitution.
    #[field(4, list = atomic)]
    pub args: Vec<String>,

    /// Directory the process starts in; falls back to the image's WORKDIR when unset.
    #[field(5)]
    pub working_dir: String,

    /// Declares ports the process listens on; purely informational unless a `hostPort` is set.
    #[field(6, list = map(containerPort, protocol), patch = merge, key = containerPort)]
    pub ports: Vec<ContainerPort>,

    /// Bulk-imports variables from ConfigMaps or Secrets; explicit `env` entries win on conflicts.
    #[field(19, list = atomic)]
    pub env_from: Vec<EnvFromSource>,

    /// Individual environment variables handed to the process; fixed once the pod exists.
    #[field(7, list = map(name), patch = merge)]
    pub env: Vec<EnvVar>,

    /// CPU, memory and other requests and limits that apply to this container.
    #[field(8)]
    pub resources: ResourceRequirements,

    /// Whether an in-place resize needs a container restart, per resource.
    #[field(23, list = atomic, gate = InPlacePodVerticalScaling)]
    pub resize_policy: Vec<ContainerResizePolicy>,

    /// Per-container restart override; `Always` on an init container makes it a sidecar.
    #[field(24)]
    pub restart_policy: Option<ContainerRestartPolicy>,

    /// Ordered exit-code rules consulted before `restartPolicy`; the first match decides.
    #[field(25, list = atomic, gate = ContainerRestartRules)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,

    /// Where pod volumes show up in the container's filesystem.
    #[field(9, list = map(mountPath), patch = merge)]
    pub volume_mounts: Vec<VolumeMount>,

    /// Raw block devices from PersistentVolumeClaims exposed to the container without a filesystem.
    #[field(21, list = map(devicePath), patch = merge)]
    pub volume_devices: Vec<VolumeDevice>,

    /// Recurring check whose repeated failure makes the kubelet kill and restart the container.
    #[field(10)]
    pub liveness_probe: Option<Probe>,

    /// Recurring check that decides whether Services may send traffic to this pod.
    #[field(11)]
    pub readiness_probe: Option<Probe>,

    /// Check that must pass once before liveness and readiness checking begins.
    #[field(22)]
    pub startup_probe: Option<Probe>,

    /// Hooks fired right after the container starts and just before it is stopped.
    #[field(12)]
    pub lifecycle: Option<Lifecycle>,

    /// In-container file read for a final status message; defaults to `/dev/termination-log`, capped at 4096 bytes.
    #[field(13)]
    pub termination_message_path: String,

    /// Picks `File` only, or `FallbackToLogsOnError` to use log output when the container fails.
    #[field(20)]
    pub termination_message_policy: TerminationMessagePolicy,

    /// When to pull the image; defaults to `Always` for `:latest`, otherwise `IfNotPresent`.
    #[field(14)]
    pub image_pull_policy: PullPolicy,

    /// Privilege, user and capability settings for this container, taking precedence over pod-level values.
    #[field(15)]
    pub security_context: Option<SecurityContext>,

    /// Allocates an input stream so clients can attach; without it reads hit EOF immediately.
    #[field(16)]
    pub stdin: bool,

    /// Closes standard input after the first attached client disconnects, until the container restarts.
    #[field(17)]
    pub stdin_once: bool,

    /// Gives the process a terminal; only works together with `stdin: true`.
    #[field(18)]
    pub tty: bool,
}

/// A single network port that a container opens.
#[check(name, optional, format = port_name, valid, distinct)]
#[check(containerPort, missing = "", when(containerPort = 0))]
#[check(containerPort, port, when(not(containerPort = 0)))]
#[check(hostPort, port, when(not(hostPort = 0)))]
#[check(protocol, required, one_of(SCTP, TCP, UDP))]
#[check(
    hostPort,
    invalid = "must match `containerPort` when `hostNetwork` is true",
    when(
        part(on_host),
        not(same(hostPort, containerPort)),
        any(option(in_pod), not(hostPort = 0))
    )
)]
pub struct ContainerPort {
    /// Optional service-style label, 15 characters at most, that Services can target by name.
    #[field(1)]
    pub name: String,

    /// Port from 1 to 65535 opened on the node itself; limits where pods can schedule.
    #[field(2)]
    pub host_port: i32,

    /// Port the process listens on at the pod's IP, between 1 and 65535.
    #[field(3, required)]
    pub container_port: i32,

    /// Transport used by the port: `TCP` (default), `UDP` or `SCTP`.
    #[field(4, default = TCP)]
    pub protocol: Protocol,

    /// Node address on which the `hostPort` is bound; empty binds all addresses.
    #[field(5)]
    pub host_ip: String,
}

/// Minimum and maximum compute resources, plus device claims.
#[default(by_hand = default_resource_requirements)]
#[check(self, by_hand = validate_whole_huge_pages, when(part(huge_pages)))]
pub struct ResourceRequirements {
    /// Maximum usage: CPU beyond it is throttled, memory beyond it is OOM-killed.
    #[field(1)]
    pub limits: Map<String, Quantity>,

    /// Amount reserved for scheduling; equals the limit if only that is given.
    #[field(2)]
    pub requests: Map<String, Quantity>,

    /// Pod-level device claims this container may use.
    #[field(3, list = map(name), gate = DynamicResourceAllocation)]
    pub claims: Vec<ResourceClaim>,
}

/// Entry letting a container use one of the pod's device claims.
pub struct ResourceClaim {
    /// Must equal the `name` of an entry in the pod's `resourceClaims`.
    #[field(1, required)]
    pub name: String,

    /// Single request within the claim to expose; blank exposes all of them.
    #[field(2)]
    pub request: String,
}

/// Links one resource to the restart behaviour wanted when it is resized in place.
#[check(resourceName, at(".", distinct))]
#[check(resourceName, at("..", required, one_of(cpu, memory)))]
#[check(restartPolicy, at("..", required, one_of(NotRequired, RestartContainer)))]
#[check(
    restartPolicy,
    at("..", invalid = "must be 'NotRequired' when `restartPolicy` is 'Never'"),
    when(option(never_restarted), not(restartPolicy = NotRequired))
)]
#[check(
    restartPolicy,
    invalid = "must not be 'RestartContainer' for non-sidecar init containers",
    when(part(once), restartPolicy = RestartContainer)
)]
pub struct ContainerResizePolicy {
    /// Resource this rule covers, either `cpu` or `memory`.
    #[field(1, required)]
    pub resource_name: ResourceName,

    /// Either `NotRequired` (default), resizing live if possible, or `RestartContainer` to apply by restarting.
    #[field(2, required)]
    pub restart_policy: ResourceResizeRestartPolicy,
}

/// Whether resizing a resource involves restarting the container.
#[open]
pub enum ResourceResizeRestartPolicy {
    NotRequired,
    RestartContainer,
}

/// Container-level restart setting, including sidecar behaviour through `Always`.
#[open]
pub enum ContainerRestartPolicy {
    Always,
    Never,
    OnFailure,
}

/// Defines what happens when a container exits in a particular way.
#[check(action, one_of(Restart), when(not(option(restart_all_containers))))]
#[check(action, one_of(Restart, RestartAllContainers), when(option(restart_all_containers)))]
#[check(exitCodes, required = "must be specified", below)]
pub struct ContainerRestartRule {
    /// Reaction to a match: `Restart` this container or `RestartAllContainers` in the pod.
    #[field(1, required, omitempty)]
    pub action: ContainerRestartRuleAction,

    /// Exit codes that trigger this rule.
    #[field(2)]
    pub exit_codes: Option<ContainerRestartRuleOnExitCodes>,
}

/// Response when a restart rule matches, affecting one or all containers.
#[open]
pub enum ContainerRestartRuleAction {
    Restart,
    RestartAllContainers,
}

/// Exit-code condition used by container restart rules.
#[check(operator, one_of(In, NotIn))]
#[check(values, max_items = 255)]
pub struct ContainerRestartRuleOnExitCodes {
    /// Use `In` for codes present in `values`, `NotIn` for any code outside it.
    #[field(1, required, omitempty)]
    pub operator: ContainerRestartRuleOnExitCodesOperator,

    /// Exit codes to compare with; 255 entries at most.
    #[field(2, list = set)]
    pub values: Vec<i32>,
}

/// Whether listed exit codes are included or excluded.
#[open]
pub enum ContainerRestartRuleOnExitCodesOperator {
    In,
    NotIn,
}

/// Attaches a pod volume to a directory in a container.
#[check(name, note = mount_names, when(part(noted)))]
#[check(mountPath, note(mount_paths, name), when(part(noted)))]
#[check(name, filled, noted = volumes)]
#[check(mountPath, filled, unnoted(mounted, "must be unique"), note = mounted)]
#[check(name, unnoted(device_names, "must not already exist in volumeDevices"))]
#[check(mountPath, unnoted(device_paths, "must not already exist as a path in volumeDevices"))]
#[check(subPath, at("../subPath", format = relative_path))]
#[check(
    subPathExpr,
    invalid = "subPathExpr and subPath are mutually exclusive",
    when(set(subPathExpr), set(subPath))
)]
#[check(subPathExpr, at("../subPathExpr", format = relative_path))]
#[check(mountPropagation, at("../mountPropagation", one_of(Bidirectional, HostToContainer, None)))]
#[check(
    mountPropagation,
    at(
        "../mountPropagation",
        forbidden = "Bidirectional mount propagation is available only to privileged containers"
    ),
    when(mountPropagation = Bidirectional, not(option(privileged)))
)]
#[check(
    recursiveReadOnly,
    at("../recursiveReadOnly", forbidden = "may only be specified when readOnly is true"),
    when(recursiveReadOnly = (Enabled, IfPossible), readOnly = false)
)]
#[check(
    recursiveReadOnly,
    at(
        "../recursiveReadOnly",
        forbidden = "may only be specified when mountPropagation is None or not specified"
    ),
    when(
        recursiveReadOnly = (Enabled, IfPossible),
        set(mountPropagation),
        not(mountPropagation = None)
    )
)]
#[check(recursiveReadOnly, at("../recursiveReadOnly", one_of(Disabled, Enabled, IfPossible)))]
pub struct VolumeMount {
    /// Which of the pod's volumes to mount.
    #[field(1, required)]
    pub name: String,

    /// Makes this mount non-writable; false by default.
    #[field(2)]
    pub read_only: bool,

    /// Extends read-only to submounts: `Disabled` (default), `IfPossible` or `Enabled`.
    #[field(7)]
    pub recursive_read_only: Option<RecursiveReadOnlyMode>,

    /// Where the volume appears in the container; must not contain `:`.
    #[field(3, required)]
    pub mount_path: String,

    /// Relative directory or file of the volume to mount instead of its root.
    #[field(4)]
    pub sub_path: String,

    /// Whether mounts travel between node and container; `None` by default.
    #[field(5)]
    pub mount_propagation: Option<MountPropagationMode>,

    /// Like `subPath` but expands `$(VAR)` from the container's environment.
    #[field(6)]
    pub sub_path_expr: String,
}

/// How strictly read-only is imposed on submounts.
#[open]
pub enum RecursiveReadOnlyMode {
    Disabled,
    IfPossible,
    Enabled,
}

/// Direction in which new mounts spread between node and container.
pub enum MountPropagationMode {
    None,
    HostToContainer,
    Bidirectional,
}

/// Exposes a block-mode claim to a container as a raw device.
#[check(name, note = device_names, when(part(noted)))]
#[check(devicePath, note(device_paths, name), when(part(noted)))]
#[check(name, filled, optional, unnoted(mapped_names, "must be unique"), note = mapped_names)]
#[check(name, noted = volumes)]
#[check(
    name,
    noted(
        block_volumes,
        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
    ),
    when(noted(name, volumes))
)]
#[check(devicePath, filled, unnoted(mapped_paths, "must be unique"))]
#[check(devicePath, format = device_path, valid, note = mapped_paths)]
#[check(name, unnoted(mount_names, "must not already exist in volumeMounts"))]
#[check(devicePath, unnoted(mount_paths, "must not already exist as a path in volumeMounts"))]
pub struct VolumeDevice {
    /// Pod volume backed by a block-mode claim.
    #[field(1, required)]
    pub name: String,

    /// Device path in the container, e.g. `/dev/xvda`.
    #[field(2, required)]
    pub device_path: String,
}

/// Chooses where a container's exit message comes from, optionally using log tail on failure.
pub enum TerminationMessagePolicy {
    File,
    FallbackToLogsOnError,
}

/// Rule for when an image is fetched from its registry.
pub enum PullPolicy {
    Always,
    Never,
    IfNotPresent,
}

/// Temporary debugging container added to a running pod, typically by `kubectl debug`.
#[default(terminationMessagePath = "/dev/termination-log")]
#[default(terminationMessagePolicy = File)]
#[default(by_hand = default_ephemeral_container)]
#[check(name, required, name = dns1123_label)]
#[check(image, filled)]
#[check(terminationMessagePolicy, required, one_of(File, FallbackToLogsOnError))]
#[check(ports, below)]
#[check(env, below)]
#[check(envFrom, below)]
#[check(self, choose(privileged, securityContext.privileged = true))]
#[check(self, open(mounted, mapped_names, mapped_paths))]
#[check(self, open(mount_names, mount_paths, device_names, device_paths), when(set(volumeDevices)))]
#[check(volumeMounts, below = noted, when(set(volumeDevices)))]
#[check(volumeDevices, below = noted)]
#[check(volumeMounts, below)]
#[check(volumeDevices, below)]
#[check(imagePullPolicy, required, one_of(Always, IfNotPresent, Never))]
#[check(resources, by_hand = validate_container_resources)]
#[check(resizePolicy, below)]
#[check(securityContext, below)]
#[check(image, format = trimmed_text)]
#[check(name, unnoted = names, note = names)]
#[check(targetContainerName, optional, noted = targets)]
#[check(
    ports,
    refused = "cannot be set for an Ephemeral Container",
    when(any(set(ports), sent_empty(ports)))
)]
#[check(
    resources,
    refused = "cannot be set for an Ephemeral Container",
    when(
        any(
            set(resources.limits),
            set(resources.requests),
            set(resources.claims),
            sent_empty(resources.limits),
            sent_empty(resources.requests),
            sent_empty(resources.claims)
        )
    )
)]
#[check(
    resizePolicy,
    refused = "cannot be set for an Ephemeral Container",
    when(any(set(resizePolicy), sent_empty(resizePolicy)))
)]
#[check(restartPolicy, forbidden = "cannot be set for an Ephemeral Container")]
#[check(
    restartPolicyRules,
    refused = "cannot be set for an Ephemeral Container",
    when(any(set(restartPolicyRules), sent_empty(restartPolicyRules)))
)]
#[check(livenessProbe, forbidden = "cannot be set for an Ephemeral Container")]
#[check(readinessProbe, forbidden = "cannot be set for an Ephemeral Container")]
#[check(startupProbe, forbidden = "cannot be set for an Ephemeral Container")]
#[check(lifecycle, forbidden = "cannot be set for an Ephemeral Container")]
#[check(
    volumeMounts,
    each(
        field(subPath, forbidden = "cannot be set for an Ephemeral Container"),
        field(subPathExpr, forbidden = "cannot be set for an Ephemeral Container")
    )
)]
pub struct EphemeralContainer {
    /// Inlined settings shared with ordinary containers.
    #[field(1, inline)]
    pub ephemeral_container_common: EphemeralContainerCommon,

    /// Container whose process namespace is joined, so its processes become visible for debugging.
    #[field(2)]
    pub target_container_name: String,
}

/// Settings of a debug container, mirroring those of a regular container.
pub struct EphemeralContainerCommon {
    /// Label for the debug container; must not clash with any other container here.
    #[field(1, required)]
    pub name: String,

    /// Image providing the debugging tools.
    #[field(2)]
    pub image: String,

    /// Entrypoint to run in place of the one baked into the debug image.
    #[field(3, list = atomic)]
    pub command: Vec<String>,

    /// Arguments given to the debug entrypoint; the image's CMD applies if empty.
    #[field(4, list = atomic)]
    pub args: Vec<String>,

    /// Initial working directory of the debug process, else whatever the image sets.
    #[field(5)]
    pub working_dir: String,

    /// Must stay empty; debug containers may not declare ports.
    #[field(6, list = map(containerPort, protocol), patch = merge, key = containerPort)]
    pub ports: Vec<ContainerPort>,

    /// Sources whose keys all become variables in the debug container.
    #[field(19, list = atomic)]
    pub env_from: Vec<EnvFromSource>,

    /// Variables set one by one in the debug container.
    #[field(7, list = map(name), patch = merge)]
    pub env: Vec<EnvVar>,

    /// Must be omitted; debug containers use spare resources already held by the pod.
    #[field(8)]
    pub resources: ResourceRequirements,

    /// Unsupported here, as debug containers have no resources to resize.
    #[field(23, list = atomic, gate = InPlacePodVerticalScaling)]
    pub resize_policy: Vec<ContainerResizePolicy>,

    /// Cannot be set, because debug containers are never restarted.
    #[field(24)]
    pub restart_policy: Option<ContainerRestartPolicy>,

    /// Cannot be set on debug containers.
    #[field(25, list = atomic, gate = ContainerRestartRules)]
    pub restart_policy_rules: Vec<ContainerRestartRule>,

    /// Pod volumes to mount in the debug container; `subPath` is not permitted.
    #[field(9, list = map(mountPath), patch = merge)]
    pub volume_mounts: Vec<VolumeMount>,

    /// Raw block devices to hand to the debug container.
    #[field(21, list = map(devicePath), patch = merge)]
    pub volume_devices: Vec<VolumeDevice>,

    /// Rejected on debug containers, which are not health-checked.
    #[field(10)]
    pub liveness_probe: Option<Probe>,

    /// Rejected on debug containers; they never affect pod readiness.
    #[field(11)]
    pub readiness_probe: Option<Probe>,

    /// Rejected on debug containers, since they have no startup gating.
    #[field(22)]
    pub startup_probe: Option<Probe>,

    /// Hooks are not available for debug containers.
    #[field(12)]
    pub lifecycle: Option<Lifecycle>,

    /// File scanned for a closing message when debugging ends; `/dev/termination-log` by default.
    #[field(13)]
    pub termination_message_path: String,

    /// How the closing message is collected: `File` or `FallbackToLogsOnError`.
    #[field(20)]
    pub termination_message_policy: TerminationMessagePolicy,

    /// Whether the debug image is always, never or only conditionally pulled.
    #[field(14)]
    pub image_pull_policy: PullPolicy,

    /// Privileges of the debug container, e.g. added capabilities like `SYS_PTRACE`.
    #[field(15)]
    pub security_context: Option<SecurityContext>,

    /// Keeps input open so you can type into the debug session.
    #[field(16)]
    pub stdin: bool,

    /// Shuts the input stream once the first debug session detaches.
    #[field(17)]
    pub stdin_once: bool,

    /// Attaches a terminal for interactive shells; needs `stdin` as well.
    #[field(18)]
    pub tty: bool,
}

/// Outcome of mounting an image volume.
pub struct ImageVolumeStatus {
    /// Digest-resolved image that was mounted.
    #[field(1, required, omitempty)]
    pub image_ref: String,
}
