//! Validation of a configuration (upstream: `apis/apiserver/validation/validation_encryption.go`).

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;

use super::{
    EncryptionConfiguration, EncryptionKey, EncryptionKeys, KmsConfiguration, ProviderConfiguration,
    ResourceConfiguration,
};
use crate::resources::GroupResource;

const AES_KEYS: &[usize] = &[16, 24, 32];
const SECRETBOX_KEYS: &[usize] = &[32];

const NO_PROVIDER: &str =
    "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity";

type Errors = Vec<FieldError>;

impl EncryptionConfiguration {
    /// Returns the errors, with upstream's texts and order.
    pub(super) fn validate(&self, reload: bool) -> Errors {
        let root = Path::new("resources");
        if self.resources.is_empty() {
            return vec![FieldError::required(&root, format!("at least one {root} is required"))];
        }
        let mut errors = Errors::new();
        let mut names = HashSet::new();
        for (i, resource) in self.resources.iter().enumerate() {
            resource.validate(&root.index(i), &mut names, reload, &mut errors);
        }
        errors
    }
}

impl ResourceConfiguration {
    fn validate<'c>(&'c self, path: &Path<'_>, names: &mut HashSet<&'c str>, reload: bool, errors: &mut Errors) {
        let (resources, providers) = (path.child("resources"), path.child("providers"));
        if self.resources.is_empty() {
            errors.push(FieldError::required(&resources, format!("at least one {resources} is required")));
        }
        check_overlap(&self.resources, &resources, errors);
        for (i, name) in self.resources.iter().enumerate() {
            if let Some(why) = wrong_name(name) {
                errors.push(FieldError::invalid(&resources.index(i), name, why));
            }
        }
        if self.providers.is_empty() {
            errors.push(FieldError::required(&providers, format!("at least one {providers} is required")));
        }
        for (i, provider) in self.providers.iter().enumerate() {
            provider.validate(&providers.index(i), names, reload, errors);
        }
    }
}

/// Reports names that mask another one of the same list, or are duplicates.
fn check_overlap(resources: &[String], path: &Path<'_>, errors: &mut Errors) {
    let parsed: Vec<GroupResource> = resources.iter().map(|name| GroupResource::parse(name)).collect();
    let pairs = || {
        let each = parsed.iter().enumerate();
        each.flat_map(|(i, a)| parsed.iter().enumerate().filter(move |(j, _)| i != *j).map(move |(_, b)| (a, b)))
    };
    let hides = |(a, b): (&GroupResource, &GroupResource)| {
        a != b && (a.is_everything() || a.group == b.group && (a.resource == "*" || b.resource == "*"))
    };
    if pairs().any(|(a, b)| a == b) {
        let why = "the same resource cannot be specified multiple times";
        errors.push(FieldError::invalid(path, BadValue::strings(resources), why));
    }
    if pairs().any(hides) {
        let why = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
        errors.push(FieldError::invalid(path, BadValue::strings(resources), why));
    }
}

fn wrong_name(name: &str) -> Option<&'static str> {
    let GroupResource { group, resource } = GroupResource::parse(name);
    match name {
        _ if name.to_lowercase() != name => Some("resource name should not contain capital letters"),
        "*" => Some("use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
        "apiserveripinfo" | "serviceipallocations" | "servicenodeportallocations" => {
            Some("resources which do not have REST API/s cannot be encrypted")
        }
        _ if group == "events.k8s.io" => Some(
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
        ),
        _ if group == "extensions" => Some("'extensions' group has been removed and cannot be used for encryption"),
        _ if group == "*" && resource != "*" => Some("encrypting the same resource across groups is not supported"),
        _ => None,
    }
}

impl ProviderConfiguration {
    fn validate<'c>(&'c self, path: &Path<'_>, names: &mut HashSet<&'c str>, reload: bool, errors: &mut Errors) {
        let Self { aesgcm, aescbc, secretbox, identity, kms } = self;
        let given = [kms.is_some(), aesgcm.is_some(), aescbc.is_some(), secretbox.is_some(), identity.is_some()];
        match given.iter().filter(|given| **given).count() {
            0 => errors.push(FieldError::invalid(path, BadValue::Omitted, NO_PROVIDER)),
            1 => {}
            _ => {
                let why =
                    "more than one provider specified in a single element, should split into different list elements";
                errors.push(FieldError::invalid(path, BadValue::Omitted, why));
            }
        }
        if let Some(kms) = kms {
            kms.validate(&path.child("kms"), names, reload, errors);
            names.insert(&kms.name);
        } else if let Some(keys) = aesgcm {
            keys.validate(&path.child("aesgcm"), AES_KEYS, errors);
        } else if let Some(keys) = aescbc {
            keys.validate(&path.child("aescbc"), AES_KEYS, errors);
        } else if let Some(keys) = secretbox {
            keys.validate(&path.child("secretbox"), SECRETBOX_KEYS, errors);
        }
    }
}

impl EncryptionKeys {
    fn validate(&self, provider: &Path<'_>, lengths: &[usize], errors: &mut Errors) {
        let path = provider.child("keys");
        if self.keys.is_empty() {
            errors.push(FieldError::required(&path, "at least one keys is required"));
        }
        for (i, key) in self.keys.iter().enumerate() {
            key.validate(&path.index(i), lengths, errors);
        }
    }
}

impl EncryptionKey {
    fn validate(&self, path: &Path<'_>, lengths: &[usize], errors: &mut Errors) {
        if self.name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), "name is a mandatory field for a key"));
        }
        let path = path.child("secret");
        if self.secret.is_empty() {
            errors.push(FieldError::required(&path, "secret is a mandatory field for a key"));
            return;
        }
        let why = match STANDARD.decode(&self.secret) {
            Err(_) => "secrets must be base64 encoded".to_owned(),
            Ok(secret) if lengths.contains(&secret.len()) => return,
            Ok(secret) => {
                let expected: Vec<String> = lengths.iter().map(usize::to_string).collect();
                let (got, expected) = (secret.len(), expected.join(" "));
                format!("secret is not of the expected length, got {got}, expected one of [{expected}]")
            }
        };
        errors.push(FieldError::invalid(&path, "REDACTED", why));
    }
}

impl KmsConfiguration {
    fn validate(&self, path: &Path<'_>, names: &HashSet<&str>, reload: bool, errors: &mut Errors) {
        let first_version = self.api_version == "v1";
        let name = path.child("name");
        if self.name.is_empty() {
            errors.push(FieldError::required(&name, "name is a mandatory field for a provider"));
        }
        if !first_version && self.name.contains(':') {
            let why = format!("invalid KMS provider name {}, must not contain ':'", self.name);
            errors.push(FieldError::invalid(&name, &self.name, why));
        }
        if (reload || !first_version) && names.contains(self.name.as_str()) {
            let why = format!("duplicate KMS provider name {}, names must be unique", self.name);
            errors.push(FieldError::invalid(&name, &self.name, why));
        }
        if self.timeout.nanos() <= 0 {
            let value = BadValue::json_string(&self.timeout.to_string());
            errors.push(FieldError::invalid(&path.child("timeout"), value, "timeout should be a positive value"));
        }
        self.check_endpoint(&path.child("endpoint"), errors);
        self.check_cache_size(&path.child("cachesize"), errors);
        if !matches!(self.api_version.as_str(), "v1" | "v2") {
            let why = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported";
            errors.push(FieldError::invalid(&path.child("apiVersion"), &self.api_version, why));
        }
    }

    fn check_endpoint(&self, path: &Path<'_>, errors: &mut Errors) {
        let scheme = self.endpoint.split_once(':').map_or("", |(scheme, _)| scheme);
        match (self.endpoint.as_str(), scheme) {
            ("", _) => errors.push(FieldError::invalid(path, "", "endpoint is a mandatory field for a kms")),
            (_, "unix") => {}
            (endpoint, scheme) => {
                let why = format!("unsupported scheme {scheme:?} for KMS provider, only unix is supported");
                errors.push(FieldError::invalid(path, endpoint, why));
            }
        }
    }

    fn check_cache_size(&self, path: &Path<'_>, errors: &mut Errors) {
        match self.cache_size {
            Some(size) if self.api_version != "v1" => {
                errors.push(FieldError::invalid(path, size, "cachesize is not supported in v2"));
            }
            Some(0) => {
                let why = "cachesize should be a positive value, or negative to disable";
                errors.push(FieldError::invalid(path, 0, why));
            }
            _ => {}
        }
    }
}
