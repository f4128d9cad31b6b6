//! Formats of versions: of software, of groups and of objects.

use super::{Messages, is_dns1035_label, is_dns1123_subdomain};
use status::field_error::FieldError;
use status::field_path::Path;

/// A version by semver.org.
pub fn semantic_version(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    refuse_unless(is_semantic_version(text), path, text, "must be a string compatible with semver.org spec 2.0.0")
}

/// As [`semantic_version`], with 64-bit numbers (Go: `blang/semver`).
pub fn semantic_version_of_numbers(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let numbers = text.split(['.', '-', '+']).take(3);
    let fits = is_semantic_version(text) && numbers.into_iter().all(|number| number.parse::<u64>().is_ok());
    refuse_unless(fits, path, text, "must be a valid semantic version")
}

fn refuse_unless(fits: bool, path: &Path<'_>, text: &str, detail: &'static str) -> Vec<FieldError> {
    if fits { Vec::new() } else { vec![FieldError::invalid(path, text, detail)] }
}

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

/// The `resourceVersion` of an object (upstream `resourceversion.CompareResourceVersion`).
pub fn resource_version(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    if !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![FieldError::invalid(path, text, format!("resource version is not well formed: {text}"))]
}

/// A group and a version; all errors are joined to one (upstream `isValidAPIVersion`).
pub fn storage_api_version(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let part = |name: &str, text: &str, check: fn(&str) -> Messages| -> Vec<String> {
        let messages = if text.is_empty() { vec!["must be non-empty".into()] } else { check(text) };
        messages.into_iter().map(|message| format!("{name} part: {message}")).collect()
    };
    let version = |text: &str| part("version", text, is_dns1035_label);
    let messages = match text.split('/').collect::<Vec<_>>()[..] {
        [text] => version(text),
        [group, text] => [part("group", group, is_dns1123_subdomain), version(text)].concat(),
        _ => {
            let detail = "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters \
                          or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. \
                          'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an \
                          optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";
            vec![detail.to_owned()]
        }
    };
    if messages.is_empty() { Vec::new() } else { vec![FieldError::invalid(path, text, messages.join(","))] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semantic_versions() {
        for version in ["0.0.0", "1.2.3", "1.2.3-alpha.1", "1.2.3-0a.x-y", "1.2.3+b.01", "1.2.3-rc.1+b-1"] {
            assert!(semantic_version(&Path::NONE, version).is_empty(), "{version}");
            assert!(semantic_version_of_numbers(&Path::NONE, version).is_empty(), "{version}");
        }
        for text in
            ["", "1", "1.2", "1.2.3.4", "01.2.3", "v1.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", "1.2.x"]
        {
            assert!(!semantic_version(&Path::NONE, text).is_empty(), "{text}");
        }
        let long = "18446744073709551616.0.0";
        assert!(semantic_version(&Path::NONE, long).is_empty());
        assert!(!semantic_version_of_numbers(&Path::NONE, long).is_empty());
    }
}
