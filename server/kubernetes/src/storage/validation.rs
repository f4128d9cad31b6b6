//! What upstream checks by hand in kinds of storage (`pkg/apis/storage/validation`).

mod attachment;
mod capacity;
mod class;
mod driver;
mod node;

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::{validate_whole_object_meta, validate_whole_object_meta_update};

pub use attachment::*;
pub use capacity::*;
pub use class::*;
pub use driver::*;
use generated::meta::v1::ObjectMeta;
pub use node::*;

const IMMUTABLE: &str = "field is immutable";

/// Upstream looks at the metadata of an update as at that of a new object.
pub fn validate_cluster_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_whole_object_meta(v, new, false, NameRule::Dns1123Subdomain);
}

/// Likewise of a change.
pub fn validate_whole_metadata_update(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ObjectMeta,
    old: Option<&ObjectMeta>,
) {
    if let Some(old) = old {
        validate_whole_object_meta_update(v, new, old);
    }
}
