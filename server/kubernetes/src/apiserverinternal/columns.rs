//! Printed columns of `apiserverinternal` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext, join_at_most, or};

use generated::apiserverinternal::v1alpha1::StorageVersion;

pub fn storage_version_storage_versions(version: &StorageVersion, _: &PrintContext) -> Cell {
    let versions = &version.status.storage_versions;
    let texts: Vec<String> = versions.iter().map(|v| format!("{}={}", v.api_server_id, v.encoding_version)).collect();
    or(join_at_most(&texts, 3, texts.len()), "<unset>").into()
}
