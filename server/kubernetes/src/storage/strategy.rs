//! Drivers.

use machinery::hooks::Context;

use generated::storage::v1::CSIDriver;

/// Changes of a driver are counted from the number that its creator sends (`csiDriverStrategy.PrepareForUpdate`).
pub fn update_driver(_: &Context, new: &mut CSIDriver, old: &CSIDriver) {
    if new.spec != old.spec {
        new.metadata.generation = old.metadata.generation + 1;
    }
}
