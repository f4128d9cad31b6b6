//! Drivers.

use machinery::hooks::Context;

use crate::storage::v1::CSIDriver;

/// Changes of a driver are counted, its beginning is not (`csiDriverStrategy`).
pub fn create_driver(_: &Context, driver: &mut CSIDriver, _: Option<&CSIDriver>) {
    driver.metadata.generation = 0;
}
