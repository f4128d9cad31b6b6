//! Environment variables, and the fields and resources that they and files may show.

use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use super::options::PodOptions;
use super::paths::validate_no_backsteps;
use generated::core::v1::{
    EnvFromSource, EnvVar, FileKeySelector, LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector,
};

/// The fields of a pod that variables may show.
const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields of a pod that files may show.
pub(super) const VOLUME_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// The fields of a pod that have a name at all for its own containers (`ConvertDownwardAPIFieldLabel`).
const KNOWN_FIELDS: [&str; 14] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const HUGE_PAGES: [&str; 2] = ["limits.hugepages-", "requests.hugepages-"];

const CPU_DIVISORS: [&str; 2] = ["1m", "1"];
const BYTE_DIVISORS: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// `ValidateEnv`
pub(super) fn validate_env(v: &mut Validation<'_>, path: &Path<'_>, variables: &[EnvVar], options: &PodOptions) {
    for (index, variable) in variables.iter().enumerate() {
        let path = path.index(index);
        let name = path.child("name");
        if variable.name.is_empty() {
            v.required(&name, "");
        } else {
            v.malformed(&name, &variable.name, format::is_relaxed_env_var_name(&variable.name));
        }
        validate_value_from(v, &path.child("valueFrom"), variable, options);
    }
}

fn validate_value_from(v: &mut Validation<'_>, path: &Path<'_>, variable: &EnvVar, options: &PodOptions) {
    let Some(from) = variable.value_from.as_deref() else { return };
    if let Some(field) = from.field_ref.as_deref() {
        validate_field_ref(v, &path.child("fieldRef"), field, &ENV_FIELDS);
    }
    if let Some(resource) = from.resource_field_ref.as_deref() {
        validate_resource_field_ref(v, &path.child("resourceFieldRef"), resource, false);
    }
    if let Some(key) = from.config_map_key_ref.as_deref() {
        validate_key_ref(v, &path.child("configMapKeyRef"), &key.local_object_reference, &key.key);
    }
    if let Some(key) = from.secret_key_ref.as_deref() {
        validate_key_ref(v, &path.child("secretKeyRef"), &key.local_object_reference, &key.key);
    }
    if let Some(key) = from.file_key_ref.as_deref() {
        validate_file_key_ref(v, &path.child("fileKeyRef"), key);
    }
    let sources = [
        from.field_ref.is_some(),
        from.resource_field_ref.is_some(),
        from.config_map_key_ref.is_some(),
        from.secret_key_ref.is_some(),
        from.file_key_ref.is_some(),
    ];
    match sources.into_iter().filter(|there| *there).count() {
        0 if options.env_files => v.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        ),
        0 => v.invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        ),
        _ if !variable.value.is_empty() => v.invalid(path, "", "may not be specified when `value` is not empty"),
        1 => {}
        _ => v.invalid(path, "", "may not have more than one field specified at a time"),
    }
}

/// `ValidateEnvFrom`; what is wrong with an entry as a whole is reported without its index.
pub(super) fn validate_env_from(v: &mut Validation<'_>, path: &Path<'_>, sources: &[EnvFromSource]) {
    for (index, source) in sources.iter().enumerate() {
        let entry = path.index(index);
        if !source.prefix.is_empty() {
            v.malformed(&entry.child("prefix"), &source.prefix, format::is_relaxed_env_var_name(&source.prefix));
        }
        let (config_map, secret) = (source.config_map_ref.as_deref(), source.secret_ref.as_deref());
        if let Some(config_map) = config_map {
            validate_env_source(v, &entry.child("configMapRef.name"), &config_map.local_object_reference.name);
        }
        if let Some(secret) = secret {
            validate_env_source(v, &entry.child("secretRef.name"), &secret.local_object_reference.name);
        }
        match (config_map, secret) {
            (None, None) => v.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"),
            (Some(_), Some(_)) => v.invalid(path, "", "may not have more than one field specified at a time"),
            _ => {}
        }
    }
}

/// Upstream takes these names for the beginnings of names.
fn validate_env_source(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        v.required(path, "");
    } else {
        v.malformed(path, name, NameRule::Dns1123Subdomain.check(name, true));
    }
}

/// `validateConfigMapKeySelector`, `validateSecretKeySelector`
fn validate_key_ref(v: &mut Validation<'_>, path: &Path<'_>, object: &LocalObjectReference, key: &str) {
    v.name(&path.child("name"), &object.name, NameRule::Dns1123Subdomain);
    if key.is_empty() {
        v.required(&path.child("key"), "");
    } else {
        v.malformed(&path.child("key"), key, format::is_config_map_key(key));
    }
}

/// `validateFileKeySelector`
fn validate_file_key_ref(v: &mut Validation<'_>, path: &Path<'_>, selector: &FileKeySelector) {
    if selector.key.is_empty() {
        v.required(&path.child("key"), "");
    } else {
        v.malformed(&path.child("key"), &selector.key, format::is_relaxed_env_var_name(&selector.key));
    }
    if selector.volume_name.is_empty() {
        v.required(&path.child("volumeName"), "");
    } else {
        v.name(&path.child("volumeName"), &selector.volume_name, NameRule::Dns1123Label);
    }
    if selector.path.is_empty() {
        v.required(&path.child("path"), "");
    } else {
        validate_no_backsteps(v, &path.child("path"), &selector.path);
    }
}

/// `validateObjectFieldSelector`; `shown` are the fields that may be asked for here.
pub(super) fn validate_field_ref(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ObjectFieldSelector,
    shown: &[&str],
) {
    if selector.api_version.is_empty() {
        return v.required(&path.child("apiVersion"), "");
    }
    let field_path = path.child("fieldPath");
    let asked = selector.field_path.as_str();
    if asked.is_empty() {
        return v.required(&field_path, "");
    }
    if let Err(why) = check_field_label(&selector.api_version, asked) {
        return v.invalid(&field_path, asked, format!("error converting fieldPath: {why}"));
    }
    let field = if asked == "spec.host" { "spec.nodeName" } else { asked };
    match split_subscript(field) {
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            v.malformed(path, &key, format::is_qualified_name(&key));
        }
        Some((_, key)) => v.malformed(path, key, format::is_qualified_name(key)),
        None if !shown.contains(&field) => v.not_supported(&field_path, field, shown),
        None => {}
    }
}

/// `ConvertDownwardAPIFieldLabel`
fn check_field_label(version: &str, label: &str) -> Result<(), String> {
    if version != "v1" {
        return Err(format!("unsupported pod version: {version}"));
    }
    match split_subscript(label) {
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(()),
        Some(_) => Err(format!("field label does not support subscript: {label}")),
        None if label == "spec.host" || KNOWN_FIELDS.contains(&label) => Ok(()),
        None => Err(format!("field label not supported: {label}")),
    }
}

/// The parts of `metadata.labels['key']` (`SplitMaybeSubscriptedPath`).
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(path, _)| !path.is_empty())
}

/// `validateContainerResourceFieldSelector`; files have to name the container, variables are in it.
pub(super) fn validate_resource_field_ref(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ResourceFieldSelector,
    in_volume: bool,
) {
    let resource = selector.resource.as_str();
    let huge_pages = HUGE_PAGES.iter().any(|prefix| resource.starts_with(prefix));
    if in_volume && selector.container_name.is_empty() {
        v.required(&path.child("containerName"), "");
    } else if resource.is_empty() {
        v.required(&path.child("resource"), "");
    } else if !RESOURCES.contains(&resource) && !huge_pages {
        v.not_supported(&path.child("resource"), resource, &RESOURCES);
    }
    validate_divisor(v, &path.child("divisor"), resource, &selector.divisor);
}

/// `validateContainerResourceDivisor`, which shows the resource as the bad value.
fn validate_divisor(v: &mut Validation<'_>, path: &Path<'_>, resource: &str, divisor: &Quantity) {
    if divisor.is_zero() {
        return;
    }
    let (allowed, shown, of): (&[&str], String, &str) = match resource {
        "limits.cpu" | "requests.cpu" => (&CPU_DIVISORS, CPU_DIVISORS.join(" and "), "cpu"),
        "limits.memory" | "requests.memory" => (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "local ephemeral storage")
        }
        _ if HUGE_PAGES.iter().any(|prefix| resource.starts_with(prefix)) => {
            (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "hugepages")
        }
        _ => return,
    };
    if !allowed.contains(&divisor.to_string().as_str()) {
        let detail = format!("only divisor's values {shown} are supported with the {of} resource");
        v.invalid(path, resource, detail);
    }
}
