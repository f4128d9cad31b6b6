/// Imports a whole ConfigMap or Secret as environment variables.
#[check(prefix, optional, format = relaxed_env_var_name)]
#[check(configMapRef.name, required, format = dns1123_subdomain_prefix)]
#[check(secretRef.name, required, format = dns1123_subdomain_prefix)]
#[check(
    self,
    at(".", invalid("", "must specify one of: `configMapRef` or `secretRef`")),
    when(none(configMapRef, secretRef))
)]
#[check(
    self,
    at(".", invalid("", "may not have more than one field specified at a time")),
    when(many(configMapRef, secretRef))
)]
pub struct EnvFromSource {
    /// Text placed before each imported key to build the variable name.
    #[field(1)]
    pub prefix: String,

    /// ConfigMap whose entries all become variables.
    #[field(2)]
    pub config_map_ref: Option<ConfigMapEnvSource>,

    /// Secret whose entries all become variables.
    #[field(3)]
    pub secret_ref: Option<SecretEnvSource>,
}

/// Imports all entries of a ConfigMap as environment variables.
pub struct ConfigMapEnvSource {
    /// Inlined `name` of the ConfigMap to import.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// When true, a missing ConfigMap does not stop the container from starting.
    #[field(2)]
    pub optional: Option<bool>,
}

/// Turns every key of a Secret into an environment variable.
pub struct SecretEnvSource {
    /// Names the Secret to import, from the pod's namespace.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Tolerates a missing Secret instead of failing container start.
    #[field(2)]
    pub optional: Option<bool>,
}

/// A single environment variable set inside the container.
#[check(name, required, format = relaxed_env_var_name)]
#[check(valueFrom, below)]
#[check(
    valueFrom,
    invalid(
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
    ),
    when(
        set(valueFrom),
        none(
            valueFrom.fieldRef,
            valueFrom.resourceFieldRef,
            valueFrom.configMapKeyRef,
            valueFrom.secretKeyRef,
            valueFrom.fileKeyRef
        ),
        option(env_files)
    )
)]
#[check(
    valueFrom,
    invalid(
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
    ),
    when(
        set(valueFrom),
        none(
            valueFrom.fieldRef,
            valueFrom.resourceFieldRef,
            valueFrom.configMapKeyRef,
            valueFrom.secretKeyRef,
            valueFrom.fileKeyRef
        ),
        not(option(env_files))
    )
)]
#[check(
    valueFrom,
    invalid("", "may not be specified when `value` is not empty"),
    when(
        set(valueFrom),
        not(
            none(
                valueFrom.fieldRef,
                valueFrom.resourceFieldRef,
                valueFrom.configMapKeyRef,
                valueFrom.secretKeyRef,
                valueFrom.fileKeyRef
            )
        ),
        set(value)
    )
)]
#[check(
    valueFrom,
    invalid("", "may not have more than one field specified at a time"),
    when(
        many(
            valueFrom.fieldRef,
            valueFrom.resourceFieldRef,
            valueFrom.configMapKeyRef,
            valueFrom.secretKeyRef,
            valueFrom.fileKeyRef
        ),
        unset(value)
    )
)]
pub struct EnvVar {
    /// Variable name as seen by the process; printable ASCII without `=`.
    #[field(1, required)]
    pub name: String,

    /// Literal content, with `$(OTHER)` expansion; use `$$` to escape a dollar sign.
    #[field(2)]
    pub value: String,

    /// Fetches the content from elsewhere; mutually exclusive with a non-empty `value`.
    #[field(3)]
    pub value_from: Option<EnvVarSource>,
}

/// Place an environment variable's content comes from; pick exactly one.
#[check(fieldRef, below)]
#[check(resourceFieldRef, below)]
#[check(configMapKeyRef, below)]
#[check(secretKeyRef, below)]
#[check(fileKeyRef, below)]
pub struct EnvVarSource {
    /// Pod field to copy, such as `metadata.name`, `spec.nodeName` or `status.podIP`.
    #[field(1)]
    pub field_ref: Option<ObjectFieldSelector>,

    /// Container resource limit or request to copy, like `limits.cpu`.
    #[field(2)]
    pub resource_field_ref: Option<ResourceFieldSelector>,

    /// Single ConfigMap key supplying the content.
    #[field(3)]
    pub config_map_key_ref: Option<ConfigMapKeySelector>,

    /// Single Secret key supplying the content, in the same namespace as the pod.
    #[field(4)]
    pub secret_key_ref: Option<SecretKeySelector>,

    /// Entry of an env-style file on a volume supplying the content.
    #[field(5, gate = EnvFiles)]
    pub file_key_ref: Option<FileKeySelector>,
}

/// Addresses one field of the pod for the downward API.
#[structure(atomic)]
#[check(apiVersion, required, when(part(default, volume)))]
#[check(fieldPath, required, when(part(default, volume), set(apiVersion)))]
#[check(self, by_hand = validate_field_of_variable, when(set(apiVersion), set(fieldPath)))]
#[check(
    self,
    by_hand = validate_field_of_file,
    when(part(volume), set(apiVersion), set(fieldPath))
)]
pub struct ObjectFieldSelector {
    /// Version whose schema the path is written for, `v1` by default.
    #[field(1, default_hidden = "v1")]
    pub api_version: String,

    /// Dotted path to the field, such as `metadata.labels['app']`.
    #[field(2, required)]
    pub field_path: String,
}

/// Picks a container's resource figure for the downward API.
#[structure(atomic)]
#[condition(
    divides_bytes,
    divisor = ("0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
)]
#[check(resource, required)]
#[check(containerName, required, when(part(volume)))]
#[check(resource, required, when(part(volume), set(containerName)))]
#[check(
    resource,
    optional,
    one_of(
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory"
    ),
    when(not(begins(resource, "limits.hugepages-", "requests.hugepages-")))
)]
#[check(
    resource,
    optional,
    one_of(
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory"
    ),
    when(
        part(volume),
        set(containerName),
        not(begins(resource, "limits.hugepages-", "requests.hugepages-"))
    )
)]
#[check(
    resource,
    at(
        "divisor",
        invalid = "only divisor's values 1m and 1 are supported with the cpu resource"
    ),
    when(
        part(default, volume),
        resource = ("limits.cpu", "requests.cpu"),
        not(divisor = ("0", "1m", "1"))
    )
)]
#[check(
    resource,
    at(
        "divisor",
        invalid = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource"
    ),
    when(
        part(default, volume),
        resource = ("limits.memory", "requests.memory"),
        not(divides_bytes)
    )
)]
#[check(
    resource,
    at(
        "divisor",
        invalid = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource"
    ),
    when(
        part(default, volume),
        resource = ("limits.ephemeral-storage", "requests.ephemeral-storage"),
        not(divides_bytes)
    )
)]
#[check(
    resource,
    at(
        "divisor",
        invalid = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource"
    ),
    when(
        part(default, volume),
        begins(resource, "limits.hugepages-", "requests.hugepages-"),
        not(divides_bytes)
    )
)]
pub struct ResourceFieldSelector {
    /// Container to read values of; optional in environment variables, which default to their own container.
    #[field(1)]
    pub container_name: String,

    /// Figure to read, such as `limits.memory` or `requests.cpu`.
    #[field(2, required)]
    pub resource: String,

    /// Unit the figure is divided by and rounded up, e.g. `1Mi`; default `1`.
    #[field(3, always)]
    pub divisor: Quantity,
}

/// Picks one entry of a ConfigMap.
#[structure(atomic)]
#[check(name, name = dns1123_subdomain)]
#[check(key, required, format = config_map_key)]
pub struct ConfigMapKeySelector {
    /// Inlined `name` of the ConfigMap holding the entry.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Entry to read from the ConfigMap.
    #[field(2, required)]
    pub key: String,

    /// When true, a missing ConfigMap or key is tolerated.
    #[field(3)]
    pub optional: Option<bool>,
}

/// Picks one key of a Secret.
#[structure(atomic)]
#[check(name, name = dns1123_subdomain)]
#[check(key, required, format = config_map_key)]
pub struct SecretKeySelector {
    /// Names the Secret that contains the key.
    #[field(1, inline)]
    pub local_object_reference: LocalObjectReference,

    /// Entry to read; has to be a valid Secret key.
    #[field(2, required)]
    pub key: String,

    /// Tolerates a missing Secret or key.
    #[field(3)]
    pub optional: Option<bool>,
}

/// Picks one variable out of an env-format file stored on a volume.
#[structure(atomic)]
#[check(key, required, format = relaxed_env_var_name)]
#[check(volumeName, required, name = dns1123_label)]
#[check(path, required, format = path_without_backsteps)]
pub struct FileKeySelector {
    /// Volume in the pod that contains the env file.
    #[field(1, required)]
    pub volume_name: String,

    /// Relative location of the env file on the volume; `..` is forbidden.
    #[field(2, required)]
    pub path: String,

    /// Variable to extract from the file; at most 128 characters long.
    #[field(3, required)]
    pub key: String,

    /// If true, a missing file or key just leaves the variable undefined.
    #[field(4, default = false)]
    pub optional: Option<bool>,
}
