//! Hand-written functions that definitions of `storage` refer to.

use generated::storage::{v1, v1beta1};

mod columns;
mod strategy;
mod validation;
mod warnings;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
pub use warnings::*;

/// Mirrors the part of `SetDefaults_CSIDriver` that depended on the feature gate
/// SELinuxMountReadWriteOncePod, which is now always on. `preventPodSchedulingIfMissing` has a default
/// only with the feature gate VolumeLimitScaling, which is alpha.
pub fn default_csi_driver(driver: &mut v1::CSIDriver) {
    driver.spec.se_linux_mount.get_or_insert(false);
}

/// Mirrors `SetDefaults_CSIDriver` of v1beta1.
pub fn default_v1beta1_csi_driver(driver: &mut v1beta1::CSIDriver) {
    driver.spec.se_linux_mount.get_or_insert(false);
}
