//! Strategy of CSI drivers.

use machinery::hooks::WriteContext;

use generated::storage::v1::CSIDriver;

/// Increments the generation on changes, starting from the client's number on create
/// (`csiDriverStrategy.PrepareForUpdate`).
pub fn update_driver(_: &WriteContext, new: &mut CSIDriver, old: &CSIDriver) {
    if new.spec != old.spec {
        new.metadata.generation = old.metadata.generation + 1;
    }
}
