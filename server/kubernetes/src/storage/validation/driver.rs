//! Drivers.

use std::collections::HashSet;

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use machinery::reflect::Ref;

use super::IMMUTABLE;
use generated::storage::v1::{CSIDriver, CSIDriverSpec, TokenRequest};

/// How long a token lasts at least, in seconds.
const MIN_EXPIRATION: i64 = 600;
/// How long a token lasts at most, in seconds.
const MAX_EXPIRATION: i64 = 1 << 32;
/// In seconds.
const MIN_UPDATE_PERIOD: i64 = 10;

const FS_GROUP_POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLE_MODES: [&str; 2] = ["Persistent", "Ephemeral"];

/// `ValidateCSIDriver`, `ValidateCSIDriverUpdate`
pub fn validate_csi_driver(v: &mut Validation<'_>, path: &Path<'_>, new: &CSIDriver, old: Option<&CSIDriver>) {
    let path = path.child("spec");
    validate_spec(v, &path, &new.spec);
    let Some(old) = old else { return };
    if new.spec.attach_required != old.spec.attach_required {
        let shown = new.spec.attach_required.map_or(BadValue::None, BadValue::from);
        v.invalid(&path.child("attachedRequired"), shown, IMMUTABLE);
    }
    if new.spec.volume_lifecycle_modes != old.spec.volume_lifecycle_modes {
        let shown = BadValue::strings(&new.spec.volume_lifecycle_modes);
        v.invalid(&path.child("volumeLifecycleModes"), shown, IMMUTABLE);
    }
}

/// `validateCSIDriverSpec`; upstream misspells `attachRequired`.
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &CSIDriverSpec) {
    require(v, &path.child("attachedRequired"), spec.attach_required);
    require(v, &path.child("podInfoOnMount"), spec.pod_info_on_mount);
    require(v, &path.child("storageCapacity"), spec.storage_capacity);
    if let Some(policy) = &spec.fs_group_policy {
        v.one_of(&path.child("fsGroupPolicy"), policy, &FS_GROUP_POLICIES);
    }
    validate_token_requests(v, &path.child("tokenRequests"), &spec.token_requests);
    for mode in &spec.volume_lifecycle_modes {
        v.one_of(&path.child("volumeLifecycleModes"), mode, &LIFECYCLE_MODES);
    }
    if v.context.enabled(features::SELinuxMountReadWriteOncePod) {
        require(v, &path.child("seLinuxMount"), spec.se_linux_mount);
    }
    if let Some(seconds) = spec.node_allocatable_update_period_seconds.filter(|seconds| *seconds < MIN_UPDATE_PERIOD) {
        let detail = format!("must be greater than or equal to {MIN_UPDATE_PERIOD} seconds");
        v.invalid(&path.child("nodeAllocatableUpdatePeriodSeconds"), seconds, detail);
    }
    if let Some(said) = spec.service_account_token_in_secrets.filter(|_| spec.token_requests.is_empty()) {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        v.invalid(&path.child("serviceAccountTokenInSecrets"), said, detail);
    }
    if v.context.enabled(features::VolumeLimitScaling) {
        require(v, &path.child("preventPodSchedulingIfMissing"), spec.prevent_pod_scheduling_if_missing);
    }
}

fn require(v: &mut Validation<'_>, path: &Path<'_>, said: Option<bool>) {
    if said.is_none() {
        v.required(path, "");
    }
}

/// `validateTokenRequests`: one for each audience.
fn validate_token_requests(v: &mut Validation<'_>, path: &Path<'_>, requests: &[TokenRequest]) {
    let mut audiences = HashSet::new();
    for (index, request) in requests.iter().enumerate() {
        let path = path.index(index);
        if !audiences.insert(request.audience.as_str()) {
            v.duplicate(&path.child("audience"), &request.audience);
            continue;
        }
        let (path, Some(seconds)) = (path.child("expirationSeconds"), request.expiration_seconds) else { continue };
        if seconds < MIN_EXPIRATION {
            v.invalid(&path, seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds > MAX_EXPIRATION {
            v.invalid(&path, seconds, "may not specify a duration larger than 2^32 seconds");
        }
    }
}

/// Tokens are better kept where they are not logged (`csiDriverStrategy.WarningsOnCreate`, `WarningsOnUpdate`).
pub fn warn_csi_driver(context: &Context, new: &CSIDriver, old: Option<&CSIDriver>) -> Vec<String> {
    let requests = |driver: &CSIDriver| driver.spec.token_requests.clone();
    let same = |old: &CSIDriver| {
        let (old, new) = (requests(old), requests(new));
        old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| Ref::of(old) == Ref::of(new))
    };
    let in_attributes = new.spec.service_account_token_in_secrets.is_none() && !new.spec.token_requests.is_empty();
    if !in_attributes || old.is_some_and(same) || !context.enabled(features::CSIServiceAccountTokenSecrets) {
        return Vec::new();
    }
    let warning = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                   possible logging of tokens in volume attributes";
    vec![warning.to_owned()]
}
