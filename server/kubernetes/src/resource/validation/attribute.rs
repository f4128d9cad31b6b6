//! What is known of a device.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::core::internal::internal_value;
use generated::resource::v1::DeviceAttribute;

const MAX_LENGTH: usize = 64;

/// `validateDeviceAttribute`: one value, or one list of them.
pub fn validate_attribute(v: &mut Validation<'_>, path: &Path<'_>, attribute: &DeviceAttribute) {
    if let Some(text) = &attribute.string {
        validate_text(v, &path.child("string"), text);
    }
    if let Some(version) = &attribute.version {
        validate_version(v, &path.child("version"), version);
    }
    let (texts, versions) = (path.child("strings"), path.child("versions"));
    for (index, text) in attribute.strings.iter().enumerate() {
        validate_text(v, &texts.index(index), text);
    }
    for (index, version) in attribute.versions.iter().enumerate() {
        validate_version(v, &versions.index(index), version);
    }
    let said = [
        attribute.bool.is_some(),
        attribute.int.is_some(),
        attribute.string.is_some(),
        attribute.version.is_some(),
        !attribute.bools.is_empty(),
        !attribute.ints.is_empty(),
        !attribute.strings.is_empty(),
        !attribute.versions.is_empty(),
    ];
    match said.into_iter().filter(|said| *said).count() {
        0 => v.invalid(path, "", "exactly one value must be specified"),
        1 => {}
        _ => v.invalid(path, internal_value(attribute), "exactly one value must be specified"),
    }
}

fn validate_text(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    if text.len() > MAX_LENGTH {
        v.too_long(path, MAX_LENGTH);
    }
}

fn validate_version(v: &mut Validation<'_>, path: &Path<'_>, version: &str) {
    if !is_semantic_version(version) {
        v.invalid(path, version, "must be a string compatible with semver.org spec 2.0.0");
    }
    validate_text(v, path, version);
}

/// Whether a text is a version by semver.org.
fn is_semantic_version(text: &str) -> bool {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, preview) = text.split_once('-').map_or((text, None), |(core, preview)| (core, Some(preview)));
    let word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| !part.is_empty() && digits(part) && (part == "0" || !part.starts_with('0'));
    core.split('.').count() == 3
        && core.split('.').all(number)
        && preview.is_none_or(|all| all.split('.').all(|part| word(part) && (!digits(part) || number(part))))
        && build.is_none_or(|all| all.split('.').all(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semantic_versions() {
        for version in ["0.0.0", "1.2.3", "1.2.3-alpha.1", "1.2.3-0a.x-y", "1.2.3+b.01", "1.2.3-rc.1+b-1"] {
            assert!(is_semantic_version(version), "{version}");
        }
        for text in
            ["", "1", "1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", "1.2.x"]
        {
            assert!(!is_semantic_version(text), "{text}");
        }
    }
}
