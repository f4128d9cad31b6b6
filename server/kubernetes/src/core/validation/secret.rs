//! Secrets.

use std::collections::BTreeMap;

use bytes::Bytes;
use machinery::field_path::Path;
use machinery::format::{CONFIG_DATA_MAX_SIZE, NameRule};
use machinery::hooks::Validation;
use machinery::json;
use meta::validate_whole_object_meta;

use generated::core::v1::{Secret, secret_type};

const SERVICE_ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const DOCKERCFG: &str = ".dockercfg";
const DOCKER_CONFIG_JSON: &str = ".dockerconfigjson";
pub(super) const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// By hand: an empty map that was sent counts, and upstream asks of an update all that it asks of new metadata.
pub fn validate_secret_change(v: &mut Validation<'_>, _: &Path<'_>, new: &Secret, old: Option<&Secret>) {
    if let Some(old) = old.filter(|old| old.immutable == Some(true)) {
        // An empty map that was sent, and that `stringData` did not fill, differs from none, as upstream.
        let says_empty = new.data.is_empty() && v.context.sent.is_empty_at("data");
        if new.data != old.data || says_empty {
            v.forbidden(&Path::new("data"), IMMUTABLE);
        }
    }
    validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Subdomain);
}

/// By hand: sizes are added, and what has to be there depends on the type.
pub fn validate_secret_data(v: &mut Validation<'_>, _: &Path<'_>, new: &Secret, _: Option<&Secret>) {
    let path = Path::new("data");
    if new.data.values().map(Bytes::len).sum::<usize>() > CONFIG_DATA_MAX_SIZE {
        v.too_long(&path, CONFIG_DATA_MAX_SIZE);
    }
    validate_by_type(v, &path, new);
}

/// What secrets of known types have to hold.
fn validate_by_type(v: &mut Validation<'_>, path: &Path<'_>, secret: &Secret) {
    let data = &secret.data;
    match secret.r#type.as_str() {
        secret_type::SERVICE_ACCOUNT_TOKEN => {
            let named = secret.metadata.annotations.get(SERVICE_ACCOUNT_NAME).is_some_and(|name| !name.is_empty());
            if !named {
                let path = Path::new("metadata");
                v.required(&path.child("annotations").key(SERVICE_ACCOUNT_NAME), "");
            }
        }
        secret_type::DOCKERCFG => validate_json(v, &path.key(DOCKERCFG), data.get(DOCKERCFG)),
        secret_type::DOCKER_CONFIG_JSON => {
            validate_json(v, &path.key(DOCKER_CONFIG_JSON), data.get(DOCKER_CONFIG_JSON));
        }
        secret_type::BASIC_AUTH if !data.contains_key("username") && !data.contains_key("password") => {
            require_keys(v, path, data, &["username", "password"]);
        }
        secret_type::SSH_AUTH if data.get("ssh-privatekey").is_none_or(Bytes::is_empty) => {
            v.required(&path.key("ssh-privatekey"), "");
        }
        secret_type::TLS => require_keys(v, path, data, &["tls.crt", "tls.key"]),
        _ => {}
    }
}

fn require_keys(v: &mut Validation<'_>, path: &Path<'_>, data: &BTreeMap<String, Bytes>, keys: &[&str]) {
    for key in keys.iter().filter(|key| !data.contains_key(**key)) {
        v.required(&path.key(key), "");
    }
}

/// An object of JSON, which is not shown where it is none.
fn validate_json(v: &mut Validation<'_>, path: &Path<'_>, text: Option<&Bytes>) {
    let Some(text) = text else { return v.required(path, "") };
    if let Some(error) = json::syntax_error(text).or_else(|| type_error(text)) {
        v.invalid(path, "<secret contents redacted>", error);
    }
}

/// What Go says when it wants an object and finds another value; `null` is none.
fn type_error(text: &[u8]) -> Option<String> {
    let found = match text.trim_ascii_start().first()? {
        b'{' | b'n' => return None,
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "bool",
        _ => "number",
    };
    Some(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
}
