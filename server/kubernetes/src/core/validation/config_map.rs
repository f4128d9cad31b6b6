//! Config maps.

use bytes::Bytes;
use machinery::field_path::Path;
use machinery::format::{CONFIG_DATA_MAX_SIZE, NameRule, is_config_map_key};
use machinery::hooks::Validation;
use meta::validate_whole_object_meta;

use super::secret::IMMUTABLE;
use generated::core::v1::ConfigMap;

/// By hand: an empty map that was sent counts, and upstream asks of an update all that it asks of new metadata.
pub fn validate_config_map_change(v: &mut Validation<'_>, _: &Path<'_>, new: &ConfigMap, old: Option<&ConfigMap>) {
    if let Some(old) = old.filter(|old| old.immutable == Some(true)) {
        // An empty map that was sent differs from none, as upstream; `data` has a default.
        if new.binary_data != old.binary_data || v.context.sent.is_empty_at("binaryData") {
            v.forbidden(&Path::new("binaryData"), IMMUTABLE);
        }
    }
    validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Subdomain);
}

/// By hand: two maps share no key.
pub fn validate_config_map_keys(v: &mut Validation<'_>, _: &Path<'_>, new: &ConfigMap, _: Option<&ConfigMap>) {
    let data = Path::new("data");
    for key in new.data.keys() {
        v.malformed(&data.key(key), key, is_config_map_key(key));
        if new.binary_data.contains_key(key) {
            v.invalid(&data.key(key), key, "duplicate of key present in binaryData");
        }
    }
}

/// By hand: the sizes of two maps are added.
pub fn validate_config_map_size(v: &mut Validation<'_>, _: &Path<'_>, new: &ConfigMap, _: Option<&ConfigMap>) {
    let size =
        new.data.values().map(String::len).sum::<usize>() + new.binary_data.values().map(Bytes::len).sum::<usize>();
    if size > CONFIG_DATA_MAX_SIZE {
        // Upstream means the whole object by the empty name.
        v.too_long(&Path::new(""), CONFIG_DATA_MAX_SIZE);
    }
}
