//! Printed columns of `storage` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext};

use generated::storage::v1::{CSIDriver, StorageClass};

/// Annotations that mark the default storage class.
const DEFAULT_CLASS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

pub fn csi_driver_attach_required(driver: &CSIDriver, _: &PrintContext) -> Cell {
    driver.spec.attach_required.unwrap_or(true).into()
}

pub fn storage_class_allow_volume_expansion(class: &StorageClass, _: &PrintContext) -> Cell {
    class.allow_volume_expansion.unwrap_or_default().into()
}

pub fn storage_class_name(class: &StorageClass, _: &PrintContext) -> Cell {
    let is_true = |annotation: &&str| class.metadata.annotations.get(*annotation).is_some_and(|value| value == "true");
    let suffix = if DEFAULT_CLASS.iter().any(is_true) { " (default)" } else { "" };
    format!("{}{suffix}", class.metadata.name).into()
}
