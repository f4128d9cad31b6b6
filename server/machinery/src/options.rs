//! Names of validation options: conditions that upstream passes to its functions as arguments.
//!
//! Functions set them ([`Validation::set_option`](crate::hooks::Validation::set_option)), and
//! conditions of declared checks refer to them: `when(option(in_pod))`.

/// The validated value is part of a pod, not of a pod template.
pub const IN_POD: &str = "in_pod";
/// The pod is a static pod of a kubelet.
pub const STATIC_POD: &str = "static_pod";
/// The name of the object; its text is empty in templates.
pub const OBJECT_NAME: &str = "object_name";
/// The termination grace period of the pod in seconds.
pub const GRACE_PERIOD: &str = "grace_period";
/// The restart policy of the pod is `Never`.
pub const NEVER_RESTARTED: &str = "never_restarted";
/// The pod uses the user namespace of the node.
pub const HOST_USERS: &str = "host_users";
/// The pod uses the network of the node.
pub const HOST_NETWORK: &str = "host_network";
/// The pod uses the IPC namespace of the node.
pub const HOST_IPC: &str = "host_ipc";
/// The pod does not specify an operating system.
pub const OS_UNKNOWN: &str = "os_unknown";
/// The pod specifies Linux.
pub const OS_LINUX: &str = "os_linux";
/// The pod specifies Windows.
pub const OS_WINDOWS: &str = "os_windows";
/// The container is privileged.
pub const PRIVILEGED: &str = "privileged";
/// Privileged containers are allowed.
pub const PRIVILEGED_ALLOWED: &str = "privileged_allowed";
/// Environment variables may come from files.
pub const ENV_FILES: &str = "env_files";
/// Containers may have restart rules.
pub const CONTAINER_RESTART_RULES: &str = "container_restart_rules";
/// A container exit may restart all containers.
pub const RESTART_ALL_CONTAINERS: &str = "restart_all_containers";
/// Init containers may have a resize policy that restarts them.
pub const INIT_RESIZE_RESTARTS: &str = "init_resize_restarts";
/// The annotation for the pod deletion cost may have any value.
pub const ANY_DELETION_COST: &str = "any_deletion_cost";
/// The changes of an update can be compared.
pub const COMPARABLE: &str = "comparable";
/// A set: the names of valid volumes.
pub const VOLUMES: &str = "volumes";
/// A set: the names of volumes that may be block devices.
pub const BLOCK_VOLUMES: &str = "block_volumes";
/// A set: the names of the claims that are created for ephemeral volumes of the pod.
pub const MADE_CLAIMS: &str = "made_claims";
/// A set: the names of the resource claims in the pod.
pub const POD_CLAIMS: &str = "pod_claims";
/// A set: the names of containers.
pub const NAMES: &str = "names";
/// A set: the names of containers that ephemeral containers may target.
pub const TARGETS: &str = "targets";
/// A set: the mount paths of a container, so far.
pub const MOUNTED: &str = "mounted";
/// A set: the names of the mounted volumes of a container.
pub const MOUNT_NAMES: &str = "mount_names";
/// A set: the mount paths of a container.
pub const MOUNT_PATHS: &str = "mount_paths";
/// A set: the device names of a container.
pub const DEVICE_NAMES: &str = "device_names";
/// A set: the device paths of a container.
pub const DEVICE_PATHS: &str = "device_paths";
/// A set: the device names of a container, so far.
pub const MAPPED_NAMES: &str = "mapped_names";
/// A set: the device paths of a container, so far.
pub const MAPPED_PATHS: &str = "mapped_paths";
/// A set: the labels that a selector requires.
pub const SELECTED_KEYS: &str = "selected_keys";
/// A set: the labels of `mismatchLabelKeys`.
pub const MISMATCHED: &str = "mismatched";
/// A set: the paths of the files of a projected volume, so far.
pub const FILES: &str = "files";
/// A set: the names of the resource claims in the spec of the pod.
pub const SPEC_CLAIMS: &str = "spec_claims";
/// Tolerations may use numeric comparison operators.
pub const COMPARED_TOLERATIONS: &str = "compared_tolerations";
/// User namespaces may be combined with the network of the node.
pub const USER_NAMESPACES_IN_HOST_NETWORK: &str = "user_namespaces_in_host_network";
/// User namespaces may be combined with devices.
pub const USER_NAMESPACES_WITH_DEVICES: &str = "user_namespaces_with_devices";
/// Only the `Recursive` SELinux change policy is allowed.
pub const ONLY_RECURSIVE_LABEL_CHANGES: &str = "only_recursive_label_changes";
/// Projected tokens may have any path.
pub const ANY_TOKEN_PATH: &str = "any_token_path";
/// Quantities of huge pages need not be multiples of the page size.
pub const INDIVISIBLE_HUGE_PAGES: &str = "indivisible_huge_pages";
/// Sysctls of the host may be set.
pub const SYSCTLS_OF_HOST: &str = "sysctls_of_host";
/// Spread constraints may have any selector.
pub const ANY_SPREAD_SELECTOR: &str = "any_spread_selector";
/// `matchLabelKeys` of spread constraints are not merged into their selectors.
pub const SEPARATE_LABEL_KEYS: &str = "separate_label_keys";
/// Node selectors may require values that are not valid label values.
pub const ANY_VALUES_OF_NODES: &str = "any_values_of_nodes";
/// Pod selectors may require values that are not valid label values.
pub const ANY_VALUES_OF_PODS: &str = "any_values_of_pods";
/// Label selectors may require values that are not valid label values.
pub const ANY_SELECTOR_VALUE: &str = "any_selector_value";
/// Label selectors may have unknown operators.
pub const ANY_SELECTOR_OPERATOR: &str = "any_selector_operator";
/// Claim selectors may require values that are not valid label values.
pub const ANY_VALUES_OF_CLAIMS: &str = "any_values_of_claims";
/// Pod templates are not validated, because the stored one is invalid.
pub const ANY_TEMPLATE: &str = "any_template";
/// Data sources of claims may have any API group.
pub const ANY_API_GROUP: &str = "any_api_group";
/// Endpoint addresses are IPv4 addresses.
pub const ADDRESSES_IPV4: &str = "addresses_ipv4";
/// Endpoint addresses are IPv6 addresses.
pub const ADDRESSES_IPV6: &str = "addresses_ipv6";
/// Endpoint addresses are domain names.
pub const ADDRESSES_FQDN: &str = "addresses_fqdn";
/// Ingresses may refer to secrets for TLS by any name.
pub const ANY_SECRET_NAME: &str = "any_secret_name";
/// Wildcard rules of ingresses may have any paths.
pub const ANY_WILDCARD_RULE: &str = "any_wildcard_rule";
/// Conditions of signing requests need no type.
pub const ANY_CONDITION_TYPE: &str = "any_condition_type";
/// Signing requests may be both approved and denied.
pub const CONTRADICTIONS: &str = "contradictions";
/// Signing requests may have duplicate conditions.
pub const REPEATED_CONDITIONS: &str = "repeated_conditions";
/// A set: the names of the containers of a job's pods.
pub const CONTAINER_NAMES: &str = "container_names";
/// The job has no backoff limit per index.
pub const NO_BACKOFF_PER_INDEX: &str = "no_backoff_per_index";
/// Service names may start with a digit.
pub const RELAXED_SERVICE_NAMES: &str = "relaxed_service_names";
/// Expressions may refer to `params`.
pub const PARAMS: &str = "params";
/// Match conditions are unchanged from the stored ones.
pub const STORED_CONDITIONS: &str = "stored_conditions";
/// Webhooks may have any side effects.
pub const ANY_SIDE_EFFECTS: &str = "any_side_effects";
/// Webhooks need not support a review version that the server sends.
pub const ANY_REVIEW_VERSION: &str = "any_review_version";
/// Several webhooks may have the same name.
pub const REPEATED_NAMES: &str = "repeated_names";
/// Scaled objects and described objects of metrics may have any API version.
pub const ANY_API_VERSION: &str = "any_api_version";
/// A set: the names of a claim's requests, and of their subrequests.
pub const DEVICE_REQUESTS: &str = "device_requests";
/// A set: the devices that are allocated to a claim.
pub const ALLOCATED_DEVICES: &str = "allocated_devices";
/// A set: the binding conditions of a device.
pub const BINDING_CONDITIONS: &str = "binding_conditions";
/// Devices have taints, counters or lists of values.
pub const ADVANCED_DEVICES: &str = "advanced_devices";
/// Each device specifies its node selection.
pub const NODES_BY_DEVICE: &str = "nodes_by_device";
