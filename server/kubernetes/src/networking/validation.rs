//! What upstream checks by hand in kinds of `networking` (`pkg/apis/networking/validation`).

mod ingress;
mod network_policy;
mod service_cidr;

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::{validate_whole_object_meta, validate_whole_object_meta_update};

use generated::meta::v1::ObjectMeta;
pub use ingress::validate_ingress;
pub use network_policy::validate_network_policy;
pub use service_cidr::validate_service_cidr;

/// Upstream looks at the metadata of an update as at that of a new object.
pub fn validate_cluster_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_whole_object_meta(v, new, false, NameRule::Dns1123Subdomain);
}

/// What a change may do to metadata, where upstream looks at it after the new object.
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
