//! Options of validations: what is allowed, asked for or true in one place and not in another, as upstream's functions
//! are told
//! by arguments. Functions choose them ([`Validation::set_option`](crate::hooks::Validation::set_option)), and
//! conditions of
//! declared checks name them: `when(option(in_pod))`.

/// What is checked is part of a pod, not of a template of pods.
pub const IN_POD: &str = "in_pod";
/// The pod is one that a kubelet has made by itself.
pub const STATIC_POD: &str = "static_pod";
/// The name of the object; its text is empty in templates.
pub const OBJECT_NAME: &str = "object_name";
/// The seconds that the pod has to end.
pub const GRACE_PERIOD: &str = "grace_period";
/// The pod's containers are not restarted.
pub const NEVER_RESTARTED: &str = "never_restarted";
/// Users in the pod are those of the node.
pub const HOST_USERS: &str = "host_users";
/// The pod is in the network of the node.
pub const HOST_NETWORK: &str = "host_network";
/// The pod shares inter-process communication with the node.
pub const HOST_IPC: &str = "host_ipc";
/// The pod does not say for which operating system it is.
pub const OS_UNKNOWN: &str = "os_unknown";
/// The pod is one for Linux.
pub const OS_LINUX: &str = "os_linux";
/// The pod is one for Windows.
pub const OS_WINDOWS: &str = "os_windows";
/// The container is privileged.
pub const PRIVILEGED: &str = "privileged";
/// Containers may be privileged.
pub const PRIVILEGED_ALLOWED: &str = "privileged_allowed";
/// Variables may come from files.
pub const ENV_FILES: &str = "env_files";
/// Containers may say when they are restarted.
pub const CONTAINER_RESTART_RULES: &str = "container_restart_rules";
/// A container that exits may restart all others.
pub const RESTART_ALL_CONTAINERS: &str = "restart_all_containers";
/// Init containers may be restarted to be resized.
pub const INIT_RESIZE_RESTARTS: &str = "init_resize_restarts";
/// The annotation for what deleting the pod costs may hold anything.
pub const ANY_DELETION_COST: &str = "any_deletion_cost";
/// What an update changes can be compared.
pub const COMPARABLE: &str = "comparable";
/// A set: the names of volumes that nothing is wrong with.
pub const VOLUMES: &str = "volumes";
/// A set: the names of those that may be devices.
pub const BLOCK_VOLUMES: &str = "block_volumes";
/// A set: the names of claims that are made for volumes of the pod.
pub const MADE_CLAIMS: &str = "made_claims";
/// A set: the names that the pod gives its resource claims.
pub const POD_CLAIMS: &str = "pod_claims";
/// A set: the names of containers.
pub const NAMES: &str = "names";
/// A set: the names of containers that ephemeral ones may name.
pub const TARGETS: &str = "targets";
/// A set: the paths at which a container has volumes, so far.
pub const MOUNTED: &str = "mounted";
/// A set: the names of the volumes that a container mounts.
pub const MOUNT_NAMES: &str = "mount_names";
/// A set: the paths at which a container mounts volumes.
pub const MOUNT_PATHS: &str = "mount_paths";
/// A set: the names of the devices of a container.
pub const DEVICE_NAMES: &str = "device_names";
/// A set: the paths of the devices of a container.
pub const DEVICE_PATHS: &str = "device_paths";
/// A set: the names of the devices of a container, so far.
pub const MAPPED_NAMES: &str = "mapped_names";
/// A set: the paths of the devices of a container, so far.
pub const MAPPED_PATHS: &str = "mapped_paths";
/// A set: the labels that a selector asks for.
pub const ASKED: &str = "asked";
/// A set: the labels whose values are to differ.
pub const MISMATCHED: &str = "mismatched";
/// A set: the paths of the files of a projected volume, so far.
pub const FILES: &str = "files";
/// A set: the names that the pod's spec gives its resource claims.
pub const SPEC_CLAIMS: &str = "spec_claims";
/// Tolerations may compare numbers.
pub const COMPARED_TOLERATIONS: &str = "compared_tolerations";
/// Users of one's own go with the network of the node.
pub const USER_NAMESPACES_IN_HOST_NETWORK: &str = "user_namespaces_in_host_network";
/// Users of one's own go with devices.
pub const USER_NAMESPACES_WITH_DEVICES: &str = "user_namespaces_with_devices";
/// Labels of volumes are changed recursively only.
pub const ONLY_RECURSIVE_LABEL_CHANGES: &str = "only_recursive_label_changes";
/// Tokens may have any path.
pub const ANY_TOKEN_PATH: &str = "any_token_path";
/// Amounts of huge pages need not be whole pages.
pub const INDIVISIBLE_HUGE_PAGES: &str = "indivisible_huge_pages";
/// Kernel parameters of the node may be set.
pub const SYSCTLS_OF_HOST: &str = "sysctls_of_host";
/// Spread constraints may have any selector.
pub const ANY_SPREAD_SELECTOR: &str = "any_spread_selector";
/// Label keys of spread constraints are not merged into their selectors.
pub const SEPARATE_LABEL_KEYS: &str = "separate_label_keys";
/// Selectors of nodes may ask for values that no label has.
pub const ANY_VALUES_OF_NODES: &str = "any_values_of_nodes";
/// Selectors of pods may ask for values that no label has.
pub const ANY_VALUES_OF_PODS: &str = "any_values_of_pods";
/// Selectors of labels may ask for values that no label has.
pub const ANY_SELECTOR_VALUE: &str = "any_selector_value";
/// Selectors of labels may have operators that are not known.
pub const ANY_SELECTOR_OPERATOR: &str = "any_selector_operator";
/// Selectors of claims may ask for values that no label has.
pub const ANY_VALUES_OF_CLAIMS: &str = "any_values_of_claims";
/// Templates of pods are not looked at, as what is stored has mistakes.
pub const ANY_TEMPLATE: &str = "any_template";
/// Sources of claims may be of any group.
pub const ANY_API_GROUP: &str = "any_api_group";
/// Addresses of endpoints are of IPv4.
pub const ADDRESSES_IPV4: &str = "addresses_ipv4";
/// Addresses of endpoints are of IPv6.
pub const ADDRESSES_IPV6: &str = "addresses_ipv6";
/// Addresses of endpoints are names.
pub const ADDRESSES_FQDN: &str = "addresses_fqdn";
/// Ingresses may name any secret for TLS.
pub const ANY_SECRET_NAME: &str = "any_secret_name";
/// Rules of ingresses for wildcards may have any paths.
pub const ANY_WILDCARD_RULE: &str = "any_wildcard_rule";
/// Conditions of signing requests may be without a type.
pub const ANY_CONDITION_TYPE: &str = "any_condition_type";
/// Signing requests may be approved and denied.
pub const CONTRADICTIONS: &str = "contradictions";
/// Conditions of signing requests may be repeated.
pub const REPEATED_CONDITIONS: &str = "repeated_conditions";
/// A set: the names of containers of the job's pods.
pub const CONTAINER_NAMES: &str = "container_names";
/// The job does not count failures of each index.
pub const NO_BACKOFF_PER_INDEX: &str = "no_backoff_per_index";
/// Services may have names that begin with a digit.
pub const RELAXED_SERVICE_NAMES: &str = "relaxed_service_names";
/// Expressions may name parameters.
pub const PARAMS: &str = "params";
/// Match conditions are as they are stored.
pub const STORED_CONDITIONS: &str = "stored_conditions";
/// Webhooks may have any side effects.
pub const ANY_SIDE_EFFECTS: &str = "any_side_effects";
/// Webhooks need not understand a version of reviews that the server sends.
pub const ANY_REVIEW_VERSION: &str = "any_review_version";
/// Several webhooks may have the same name.
pub const REPEATED_NAMES: &str = "repeated_names";
/// Objects that metrics are about may have any version.
pub const ANY_API_VERSION: &str = "any_api_version";
/// A set: the names of a claim's requests, and of their alternatives behind them.
pub const DEVICE_REQUESTS: &str = "device_requests";
/// A set: the devices that a claim has got.
pub const ALLOCATED_DEVICES: &str = "allocated_devices";
/// A set: the conditions that bind a device.
pub const BINDING_CONDITIONS: &str = "binding_conditions";
/// Devices have taints, counters or lists of values.
pub const ADVANCED_DEVICES: &str = "advanced_devices";
/// Each device says which nodes reach it.
pub const NODES_BY_DEVICE: &str = "nodes_by_device";
