//! Formats of declarative validation (upstream: `apimachinery/pkg/api/validate/content`).
//!
//! Their messages differ from those in the parent module in one word: bytes instead of characters.

use super::matcher::{self, Label};
use super::{
    DNS_SUBDOMAIN_MAX_LENGTH, DNS1123_SUBDOMAIN_REGEX, Messages, Unit, check_length, refuse_unless, regex_error,
};

const NAME_MAX_LENGTH: usize = 63;

/// A label of a DNS name; `k8s-short-name`.
pub fn is_dns1123_label(value: &str) -> Messages {
    super::dns1123_label(value, Unit::Bytes)
}

/// A DNS name; `k8s-long-name`.
pub fn is_dns1123_subdomain(value: &str) -> Messages {
    super::dns1123_subdomain(value, Unit::Bytes)
}

/// A DNS name that may contain upper-case letters; `k8s-long-name-caseless`.
pub fn is_dns1123_subdomain_caseless(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_SUBDOMAIN_MAX_LENGTH, Unit::Bytes, &mut messages);
    if !Label::Dns1123Caseless.matches_dotted(value) {
        messages.push(regex_error(
            "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an \
             alphanumeric character",
            DNS1123_SUBDOMAIN_REGEX,
            &["Example.com"],
        ));
    }
    messages
}

/// A name, with or without `prefix/`; `k8s-label-key`.
pub fn is_label_key(value: &str) -> Messages {
    const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character";
    const REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];

    let mut messages = Messages::new();
    let name = match value.split_once('/') {
        None => value,
        Some((_, rest)) if rest.contains('/') => {
            let shape = regex_error(NAME, REGEX, &EXAMPLES);
            let prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {shape} {prefix}").into()];
        }
        Some(("", name)) => {
            messages.push("prefix part must be non-empty".into());
            name
        }
        Some((prefix, name)) => {
            let wrong = is_dns1123_subdomain(prefix);
            messages.extend(wrong.into_iter().map(|message| format!("prefix part {message}").into()));
            name
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".into());
    } else if name.len() > NAME_MAX_LENGTH {
        messages.push(format!("name part must be no more than {NAME_MAX_LENGTH} bytes").into());
    }
    if !Label::Name.matches(name) {
        messages.push(format!("name part {}", regex_error(NAME, REGEX, &EXAMPLES)).into());
    }
    messages
}

/// A key of a label or annotation, a finalizer: a name, with or without `prefix/` (upstream `IsQualifiedName`).
pub fn is_qualified_name(value: &str) -> Messages {
    is_label_key(value)
}

/// A canonical decimal integer: no plus sign, no leading zeros.
pub fn is_decimal_integer(value: &str) -> Messages {
    if value.is_empty() {
        return vec!["must be non-empty".into()];
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let valid = value == "0" || matcher::is_all(digits, |byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    refuse_unless(valid, || "must be a valid decimal integer in canonical form".into())
}

/// A UUID in lower case; `k8s-uuid`.
pub fn is_uuid(value: &str) -> Messages {
    let valid = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
    refuse_unless(valid, || "must be a lowercase UUID in 8-4-4-4-12 format".into())
}
