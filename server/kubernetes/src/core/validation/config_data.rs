//! Validation of the contents of config maps and secrets.

use bytes::Bytes;
use machinery::field_path::Path;
use machinery::format::{CONFIG_DATA_MAX_SIZE, is_config_map_key};
use machinery::hooks::Validation;
use machinery::json;
use machinery::json_name;

use generated::core::v1::{ConfigMap, Secret, secret_type};

/// Validates the keys of a config map. Hand-written, because two maps must not have a common key.
pub fn validate_config_map_keys(v: &mut Validation<'_>, path: &Path<'_>, new: &ConfigMap, _: Option<&ConfigMap>) {
    let data = path.child(json_name!(ConfigMap.data));
    for key in new.data.keys() {
        v.malformed(&data.key(key), key, is_config_map_key(key));
        if new.binary_data.contains_key(key) {
            v.invalid(&data.key(key), key, "duplicate of key present in binaryData");
        }
    }
}

/// Validates the size of a config map. Hand-written, because the sizes of two maps are added.
/// Upstream's empty field name denotes the whole object.
pub fn validate_config_map_size(v: &mut Validation<'_>, _: &Path<'_>, new: &ConfigMap, _: Option<&ConfigMap>) {
    let binary = new.binary_data.values().map(Bytes::len);
    validate_size(v, "", new.data.values().map(String::len).chain(binary).sum());
}

/// Validates the size of a secret. Hand-written, because the sizes of values are added.
pub fn validate_secret_size(v: &mut Validation<'_>, _: &Path<'_>, new: &Secret, _: Option<&Secret>) {
    validate_size(v, "data", new.data.values().map(Bytes::len).sum());
}

fn validate_size(v: &mut Validation<'_>, field: &str, size: usize) {
    if size > CONFIG_DATA_MAX_SIZE {
        v.too_long(&Path::new(field), CONFIG_DATA_MAX_SIZE);
    }
}

/// Checks that the value is a JSON object; messages do not show it. Hand-written, because `null` is
/// accepted, and messages are Go's.
pub fn validate_docker_config(v: &mut Validation<'_>, path: &Path<'_>, new: &Secret, _: Option<&Secret>) {
    let key = if new.r#type == secret_type::DOCKERCFG { ".dockercfg" } else { ".dockerconfigjson" };
    let Some(text) = new.data.get(key) else { return };
    let found = match text.trim_ascii_start().first() {
        None | Some(b'{' | b'n') => "",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        Some(_) => "number",
    };
    let type_error = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
    if let Some(error) = json::syntax_error(text).or((!found.is_empty()).then_some(type_error)) {
        v.invalid(&path.child(json_name!(Secret.data)).key(key), "<secret contents redacted>", error);
    }
}
