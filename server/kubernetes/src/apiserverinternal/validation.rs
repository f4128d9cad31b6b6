//! What upstream checks by hand in storage versions (`pkg/apis/apiserverinternal/validation`).

use std::collections::{BTreeMap, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, Messages, NameRule};
use machinery::hooks::Validation;
use meta::validate_object_names;

use generated::apiserverinternal::v1alpha1::{
    ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionStatus,
};

/// `ValidateStorageVersion`, `ValidateStorageVersionStatusUpdate`; nothing else can change.
pub fn validate_storage_version(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersion,
    old: Option<&StorageVersion>,
) {
    if old.is_none() {
        validate_object_names(v, &path.child("metadata"), &new.metadata, 0, |name, _| refusal_of_name(name));
    }
    if old.is_none() || v.context.subresource == "status" {
        validate_status(v, &path.child("status"), &new.status);
    }
}

/// `ValidateStorageVersionName`: a group, a dot and a resource.
fn refusal_of_name(name: &str) -> Messages {
    let Some((group, resource)) = name.rsplit_once('.') else {
        return vec!["name must be in the form of <group>.<resource>".into()];
    };
    let group = format::is_dns1123_subdomain(group).into_iter().map(|m| format!("the group segment {m}").into());
    let resource = format::is_dns1035_label(resource).into_iter().map(|m| format!("the resource segment {m}").into());
    group.chain(resource).collect()
}

fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &StorageVersionStatus) {
    let versions = path.child("storageVersions");
    let mut servers = HashSet::new();
    for (index, version) in status.storage_versions.iter().enumerate() {
        let path = versions.index(index);
        if !servers.insert(&version.api_server_id) {
            v.duplicate(&path.child("apiServerID"), &version.api_server_id);
        }
        validate_server_version(v, &path, version);
    }
    validate_common_version(v, &path.child("commonEncodingVersion"), status);
    validate_conditions(v, path, &status.conditions);
}

fn validate_server_version(v: &mut Validation<'_>, path: &Path<'_>, version: &ServerStorageVersion) {
    let (encoding, decodable) = (&version.encoding_version, &version.decodable_versions);
    v.name(&path.child("apiServerID"), &version.api_server_id, NameRule::Dns1123Subdomain);
    validate_api_version(v, &path.child("encodingVersion"), encoding);
    let decodable_path = path.child("decodableVersions");
    for (index, one) in decodable.iter().enumerate() {
        validate_api_version(v, &decodable_path.index(index), one);
    }
    if !decodable.contains(encoding) {
        let detail = format!("decodableVersions must include encodingVersion {encoding}");
        v.invalid(&decodable_path, BadValue::strings(decodable), detail);
    }
    let served_path = path.child("servedVersions");
    for (index, served) in version.served_versions.iter().enumerate() {
        let path = served_path.index(index);
        validate_api_version(v, &path, served);
        if !decodable.contains(served) {
            let all = decodable.join(" ");
            let detail =
                format!("individual served version : {served} must be included in decodableVersions : [{all}]");
            v.invalid(&path, served, detail);
        }
    }
}

/// `validateCommonVersion`: what all servers write, if that is one version.
fn validate_common_version(v: &mut Validation<'_>, path: &Path<'_>, status: &StorageVersionStatus) {
    let mut encodings = status.storage_versions.iter().map(|version| &version.encoding_version);
    let common = encodings.next().filter(|first| encodings.all(|other| other == *first));
    match (common, &status.common_encoding_version) {
        (None, Some(said)) => {
            let detail = "should be nil if servers do not agree on the same encoding version, or if there is no server \
                          reporting the supported versions yet";
            v.invalid(path, said, detail);
        }
        (Some(common), None) => v.invalid(path, BadValue::None, format!("the common encoding version is {common}")),
        (Some(common), Some(said)) if common != said => {
            v.invalid(path, said, format!("the actual common encoding version is {common}"));
        }
        _ => {}
    }
}

/// Upstream shows them as items of the status itself.
fn validate_conditions(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[StorageVersionCondition]) {
    let mut places = BTreeMap::new();
    for (index, condition) in conditions.iter().enumerate() {
        let (path, kind) = (path.index(index), &condition.r#type);
        let type_path = path.child("type");
        if let Some(before) = places.insert(kind, index) {
            let detail = format!("the type of the condition is not unique, it also appears in conditions[{before}]");
            v.invalid(&type_path, kind, detail);
        }
        v.malformed(&type_path, kind, format::is_qualified_name(kind));
        v.malformed(&path.child("status"), &condition.status, format::is_qualified_name(&condition.status));
        v.filled(&path.child("reason"), &condition.reason);
        v.filled(&path.child("message"), &condition.message);
    }
}

fn validate_api_version(v: &mut Validation<'_>, path: &Path<'_>, version: &str) {
    let messages = refusal_of_api_version(version);
    if !messages.is_empty() {
        v.invalid(path, version, messages.join(","));
    }
}

/// `isValidAPIVersion`
fn refusal_of_api_version(text: &str) -> Vec<String> {
    let (group, version) = match text.split('/').collect::<Vec<_>>()[..] {
        [version] => (None, version),
        [group, version] => (Some(group), version),
        _ => {
            let detail = "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or \
                          '-', start with an alphabetic character, and end with an alphanumeric character (e.g. \
                          'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an \
                          optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";
            return vec![detail.to_owned()];
        }
    };
    let part = |name: &str, text: &str, check: fn(&str) -> Messages| -> Vec<String> {
        let messages = if text.is_empty() { vec!["must be non-empty".into()] } else { check(text) };
        messages.into_iter().map(|message| format!("{name} part: {message}")).collect()
    };
    let mut out = group.map_or_else(Vec::new, |group| part("group", group, format::is_dns1123_subdomain));
    out.extend(part("version", version, format::is_dns1035_label));
    out
}
