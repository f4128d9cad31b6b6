//! Hand-written validation of storage versions that definitions cannot declare
//! (`pkg/apis/apiserverinternal/validation`).

use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, Messages, field};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;
use meta::validate_object_names;

use apimachinery::meta::v1::ObjectMeta;
use generated::apiserverinternal::v1alpha1::{ServerStorageVersion, StorageVersionCondition, StorageVersionStatus};

/// Validates the name. Hand-written, because errors of the name are reported among those of other
/// metadata.
pub fn validate_storage_version_name(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ObjectMeta,
    _: Option<&ObjectMeta>,
) {
    validate_object_names(v, path, new, 0, |name, _| refusal_of_name(name));
}

/// `ValidateStorageVersionName`: the name is a group, a dot and a resource.
fn refusal_of_name(name: &str) -> Messages {
    let Some((group, resource)) = name.rsplit_once('.') else {
        return vec!["name must be in the form of <group>.<resource>".into()];
    };
    let group = format::is_dns1123_subdomain(group).into_iter().map(|m| format!("the group segment {m}").into());
    let resource = format::is_dns1035_label(resource).into_iter().map(|m| format!("the resource segment {m}").into());
    group.chain(resource).collect()
}

/// Checks that a server can decode the version that it encodes and those that it serves. Hand-written,
/// because messages show the versions.
pub fn validate_decodable_versions(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ServerStorageVersion,
    _: Option<&ServerStorageVersion>,
) {
    let (encoding, decodable) = (&new.encoding_version, &new.decodable_versions);
    if !decodable.contains(encoding) {
        let detail = format!("decodableVersions must include encodingVersion {encoding}");
        v.invalid(
            &path.child(json_name!(ServerStorageVersion.decodable_versions)),
            BadValue::strings(decodable),
            detail,
        );
    }
    let served_path = path.child(json_name!(ServerStorageVersion.served_versions));
    for (index, served) in new.served_versions.iter().enumerate() {
        let path = served_path.index(index);
        v.errors.extend(field::storage_api_version(&path, served));
        if !decodable.contains(served) {
            let all = decodable.join(" ");
            let detail =
                format!("individual served version : {served} must be included in decodableVersions : [{all}]");
            v.invalid(&path, served, detail);
        }
    }
}

/// Checks the common encoding version: the version that all servers encode, if it is the same
/// (`validateCommonVersion`). Hand-written, because items are compared with each other, and messages
/// show them.
pub fn validate_common_version(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersionStatus,
    _: Option<&StorageVersionStatus>,
) {
    let mut encodings = new.storage_versions.iter().map(|version| &version.encoding_version);
    let common = encodings.next().filter(|first| encodings.all(|other| other == *first));
    let declared = new.common_encoding_version.as_ref();
    let detail = match (common, declared) {
        (common, declared) if common == declared => return,
        (Some(common), None) => format!("the common encoding version is {common}"),
        (Some(common), Some(_)) => format!("the actual common encoding version is {common}"),
        (None, _) => "should be nil if servers do not agree on the same encoding version, or if there is no server \
                      reporting the supported versions yet"
            .to_owned(),
    };
    v.invalid(
        &path.child(json_name!(StorageVersionStatus.common_encoding_version)),
        declared.map_or(BadValue::None, BadValue::from),
        detail,
    );
}

/// Validates conditions, which upstream shows as items of the status itself. Hand-written, because
/// messages contain the index of the earlier condition of the same type.
pub fn validate_storage_version_conditions(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersionStatus,
    _: Option<&StorageVersionStatus>,
) {
    let mut places = BTreeMap::new();
    for (index, condition) in new.conditions.iter().enumerate() {
        let (path, kind) = (path.index(index), &condition.r#type);
        if let Some(before) = places.insert(kind, index) {
            let detail = format!("the type of the condition is not unique, it also appears in conditions[{before}]");
            v.invalid(&path.child(json_name!(StorageVersionCondition.r#type)), kind, detail);
        }
        v.checks(&path, Ref::of(condition), None);
    }
}
