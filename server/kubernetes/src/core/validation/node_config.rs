//! Where kubelets once took their configuration from; kept for what is stored.

use machinery::field_path::Path;
use machinery::format::{NameRule, is_config_map_key};
use machinery::hooks::Validation;

use crate::core::internal::internal_value;
use generated::core::v1::{ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus};

/// `validateNodeConfigSourceSpec`
pub(super) fn validate_config_source(v: &mut Validation<'_>, path: &Path<'_>, source: &NodeConfigSource) {
    if let Some(map) = source.config_map.as_deref() {
        let path = path.child("configMap");
        if !map.uid.is_empty() {
            v.forbidden(&path.child("uid"), "uid must not be set in spec");
        }
        if !map.resource_version.is_empty() {
            v.forbidden(&path.child("resourceVersion"), "resourceVersion must not be set in spec");
        }
        validate_config_map(v, &path, map);
    }
    validate_one(v, path, source);
}

/// `validateNodeConfigStatus`
pub(super) fn validate_config_status(v: &mut Validation<'_>, path: &Path<'_>, status: &NodeConfigStatus) {
    for (field, source) in
        [("assigned", &status.assigned), ("active", &status.active), ("lastKnownGood", &status.last_known_good)]
    {
        let Some(source) = source.as_deref() else { continue };
        let path = path.child(field);
        if let Some(map) = source.config_map.as_deref() {
            let path = path.child("configMap");
            v.filled(&path.child("uid"), &map.uid);
            v.filled(&path.child("resourceVersion"), &map.resource_version);
            validate_config_map(v, &path, map);
        }
        validate_one(v, &path, source);
    }
}

fn validate_one(v: &mut Validation<'_>, path: &Path<'_>, source: &NodeConfigSource) {
    if source.config_map.is_none() {
        v.invalid(path, internal_value(source), "exactly one reference subfield must be non-nil");
    }
}

fn validate_config_map(v: &mut Validation<'_>, path: &Path<'_>, map: &ConfigMapNodeConfigSource) {
    for (field, name, rule) in
        [("namespace", &map.namespace, NameRule::Dns1123Label), ("name", &map.name, NameRule::Dns1123Subdomain)]
    {
        let path = path.child(field);
        v.filled(&path, name);
        v.malformed_name(&path, name, rule, false);
    }
    let (path, key) = (path.child("kubeletConfigKey"), &map.kubelet_config_key);
    match key.as_str() {
        "" => v.required(&path, ""),
        key => v.malformed(&path, key, is_config_map_key(key)),
    }
}
