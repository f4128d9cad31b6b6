//! Classes of devices.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::configuration::validate_configuration;
use super::items::validate_list;
use super::request::MAX_CONFIGURATIONS;
use super::selector::validate_selectors;
use crate::core::validation::resources::is_extended_resource;
use generated::resource::v1::{DeviceClass, DeviceClassConfiguration};
use machinery::reflect::Ref;

/// `ValidateDeviceClass`, `ValidateDeviceClassUpdate`
pub fn validate_device_class(v: &mut Validation<'_>, path: &Path<'_>, new: &DeviceClass, old: Option<&DeviceClass>) {
    let (path, spec) = (path.child("spec"), &new.spec);
    validate_selectors(v, &path.child("selectors"), &spec.selectors);
    let stored = old.is_some_and(|old| same(&old.spec.config, &spec.config));
    validate_list(v, &path.child("config"), &spec.config, MAX_CONFIGURATIONS, |v, path, config| {
        validate_configuration(v, path, &config.device_configuration, stored);
    });
    if let Some(name) = spec.extended_resource_name.as_ref().filter(|name| !is_extended_resource(name)) {
        v.invalid(&path.child("extendedResourceName"), name, "must be a valid extended resource name");
    }
}

fn same(a: &[DeviceClassConfiguration], b: &[DeviceClassConfiguration]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Ref::of(a) == Ref::of(b))
}
