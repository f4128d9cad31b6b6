//! What drivers are told.

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json;
use machinery::scalar::RawExtension;

use super::names::validate_driver;
use generated::resource::v1::DeviceConfiguration;

const MAX_PARAMETERS: usize = 10 * 1024;
const OMITTED: &str = "<value omitted>";

/// `validateDeviceConfiguration`; `stored`: it was there before there was a limit of its size.
pub fn validate_configuration(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    configuration: &DeviceConfiguration,
    stored: bool,
) {
    let path = path.child("opaque");
    let Some(opaque) = &configuration.opaque else { return v.required(&path, "") };
    validate_driver(v, &path.child("driver"), &opaque.driver);
    let max = if stored { usize::MAX } else { MAX_PARAMETERS };
    validate_object(v, &path.child("parameters"), &opaque.parameters, max);
}

/// A JSON object of at most `max` bytes (`validateRawExtension`).
pub fn validate_object(v: &mut Validation<'_>, path: &Path<'_>, raw: &RawExtension, max: usize) {
    let bytes = raw.as_bytes();
    if bytes.is_empty() {
        return v.required(path, "");
    }
    if bytes.len() > max {
        return v.errors.push(FieldError::too_long(path, max));
    }
    match json::parse(bytes, &mut json::Issues::ignore()) {
        Err(why) => v.invalid(path, OMITTED, format!("error parsing data as JSON: {why}")),
        Ok(json::Value::Null) => v.required(path, ""),
        Ok(json::Value::Object(_)) => {}
        Ok(_) => v.invalid(path, OMITTED, "must be a valid JSON object"),
    }
}
