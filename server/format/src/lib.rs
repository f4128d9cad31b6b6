//! String formats of the API: names, labels, keys, ports (upstream:
//! `apimachinery/pkg/util/validation`).
//!
//! Each check returns errors in upstream's words; empty if the text is valid. Checks run for every
//! name and label that is written, so a valid text costs one scan and no allocation. The regular
//! expressions only appear in messages. `machinery` re-exports this crate.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

pub mod content;
mod device;
mod error;
pub mod field;
pub mod ip;
mod matcher;
mod name;
mod named;
mod pods;
pub mod resource;
pub mod url;
mod version;

pub use content::is_qualified_name;
pub use error::Error;
pub use name::NameRule;

use matcher::Label;
use scalar::go_text;
use std::borrow::Cow;

/// The errors of a text; empty if it is valid.
pub type Messages = Vec<Cow<'static, str>>;

/// The longest label of a DNS name.
pub const DNS_LABEL_MAX_LENGTH: usize = 63;
/// The longest DNS name.
pub const DNS_SUBDOMAIN_MAX_LENGTH: usize = 253;
/// The longest value of a label.
pub const LABEL_VALUE_MAX_LENGTH: usize = 63;
/// Limit in bytes on the annotations of one object, keys and values together.
pub const ANNOTATIONS_MAX_SIZE: usize = 256 * 1024;
/// Limit in bytes on the data of one ConfigMap or Secret.
pub const CONFIG_DATA_MAX_SIZE: usize = 1024 * 1024;

macro_rules! dns1123_label {
    () => {
        "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
    };
}

macro_rules! dns1123_subdomain {
    () => {
        concat!(dns1123_label!(), "(\\.", dns1123_label!(), ")*")
    };
}

const DNS1123_SUBDOMAIN_REGEX: &str = dns1123_subdomain!();

macro_rules! underscore_label {
    () => {
        "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
    };
}

/// The unit in the message of a length limit. Hand-written rules of upstream name characters,
/// declarative ones bytes. Both count bytes.
#[derive(Clone, Copy)]
enum Unit {
    Characters,
    Bytes,
}

fn check_length(value: &str, max: usize, unit: Unit, messages: &mut Messages) {
    if value.len() > max {
        let unit = match unit {
            Unit::Characters => "characters",
            Unit::Bytes => "bytes",
        };
        messages.push(format!("must be no more than {max} {unit}").into());
    }
}

/// Formats a mismatch like upstream's `RegexError`, with examples of valid values.
fn regex_error(message: &str, regex: &str, examples: &[&str]) -> Cow<'static, str> {
    let quoted: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    match quoted.as_slice() {
        [] => format!("{message} (regex used for validation is '{regex}')").into(),
        quoted => format!("{message} (e.g. {}regex used for validation is '{regex}')", quoted.join(" or ")).into(),
    }
}

/// Checks that a value is in a range, inclusive.
pub fn is_in_range(value: i64, min: i64, max: i64) -> Messages {
    if (min..=max).contains(&value) {
        return Messages::new();
    }
    vec![format!("must be between {min} and {max}, inclusive").into()]
}

/// A label of a DNS name (RFC 1123), for example the name of a namespace.
pub fn is_dns1123_label(value: &str) -> Messages {
    dns1123_label(value, Unit::Characters)
}

fn dns1123_label(value: &str, unit: Unit) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_LABEL_MAX_LENGTH, unit, &mut messages);
    if !Label::Dns1123.matches(value) {
        messages.push(if Label::Dns1123.matches_dotted(value) {
            "must not contain dots".into()
        } else {
            regex_error(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                 and end with an alphanumeric character",
                dns1123_label!(),
                &["my-name", "123-abc"],
            )
        });
    }
    messages
}

/// A DNS name (RFC 1123), for example the name of most objects.
pub fn is_dns1123_subdomain(value: &str) -> Messages {
    dns1123_subdomain(value, Unit::Characters)
}

fn dns1123_subdomain(value: &str, unit: Unit) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_SUBDOMAIN_MAX_LENGTH, unit, &mut messages);
    if !Label::Dns1123.matches_dotted(value) {
        messages.push(regex_error(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            DNS1123_SUBDOMAIN_REGEX,
            &["example.com"],
        ));
    }
    messages
}

/// A DNS name that may contain underscores, as in DNS search paths.
pub fn is_dns1123_subdomain_with_underscore(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_SUBDOMAIN_MAX_LENGTH, Unit::Characters, &mut messages);
    if !Label::Underscore.matches_dotted(value) {
        messages.push(regex_error(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and \
             must start and end with an alphanumeric character",
            concat!(underscore_label!(), "(\\.", underscore_label!(), ")*"),
            &["example.com"],
        ));
    }
    messages
}

/// A label of a DNS name by the older standard (RFC 1035), which starts with a letter.
pub fn is_dns1035_label(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_LABEL_MAX_LENGTH, Unit::Characters, &mut messages);
    if !Label::Dns1035.matches(value) {
        messages.push(regex_error(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    messages
}

/// `*.` and a DNS name, as in hosts of an Ingress.
pub fn is_wildcard_dns1123_subdomain(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_SUBDOMAIN_MAX_LENGTH, Unit::Characters, &mut messages);
    if !value.strip_prefix("*.").is_some_and(|rest| Label::Dns1123.matches_dotted(rest)) {
        messages.push(regex_error(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist \
             of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            concat!("\\*\\.", dns1123_subdomain!()),
            &["*.example.com"],
        ));
    }
    messages
}

/// The value of a label.
pub fn is_label_value(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, LABEL_VALUE_MAX_LENGTH, Unit::Bytes, &mut messages);
    if !value.is_empty() && !Label::Name.matches(value) {
        messages.push(regex_error(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
            &["MyValue", "my_value", "12345"],
        ));
    }
    messages
}

/// A C identifier, without a limit on its length.
pub fn is_c_identifier(value: &str) -> Messages {
    let valid = matcher::is_all(value, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !value.starts_with(|first: char| first.is_ascii_digit());
    refuse_unless(valid, || {
        regex_error(
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric \
             characters or '_'",
            "[A-Za-z_][A-Za-z0-9_]*",
            &["my_name", "MY_NAME", "MyName"],
        )
    })
}

/// A port number.
pub fn is_valid_port_num(port: i64) -> Messages {
    is_in_range(port, 1, 65535)
}

/// The name of a port (RFC 6335, lower case).
pub fn is_valid_port_name(port: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(port, 15, Unit::Characters, &mut messages);
    if !matcher::is_all(port, |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
        messages.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !port.bytes().any(|byte| byte.is_ascii_lowercase()) {
        messages.push("must contain at least one letter (a-z)".into());
    }
    if port.contains("--") {
        messages.push("must not contain consecutive hyphens".into());
    }
    if port.starts_with('-') || port.ends_with('-') {
        messages.push("must not begin or end with a hyphen".into());
    }
    messages
}

/// A Unix user id.
pub fn is_valid_user_id(uid: i64) -> Messages {
    is_in_range(uid, 0, i64::from(i32::MAX))
}

/// A Unix group id.
pub fn is_valid_group_id(gid: i64) -> Messages {
    is_in_range(gid, 0, i64::from(i32::MAX))
}

/// A percentage, `80%`.
pub fn is_valid_percent(percent: &str) -> Messages {
    let valid = percent.strip_suffix('%').is_some_and(|digits| matcher::is_all(digits, |byte| byte.is_ascii_digit()));
    refuse_unless(valid, || {
        regex_error(
            "a valid percent string must be a numeric string followed by an ending '%'",
            "[0-9]+%",
            &["1%", "93%"],
        )
    })
}

/// The name of an HTTP header.
pub fn is_http_header_name(value: &str) -> Messages {
    let valid = matcher::is_all(value, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    refuse_unless(valid, || {
        regex_error(
            "a valid HTTP header must consist of alphanumeric characters or '-'",
            "[-A-Za-z0-9]+",
            &["X-Header-Name"],
        )
    })
}

/// The name of an environment variable, by the strict rule.
pub fn is_env_var_name(value: &str) -> Messages {
    let valid =
        matcher::is_all(value, matcher::is_key_byte) && !value.starts_with(|first: char| first.is_ascii_digit());
    let mut messages = refuse_unless(valid, || {
        regex_error(
            "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and \
             must not start with a digit",
            "[-._a-zA-Z][-._a-zA-Z0-9]*",
            &["my.env-name", "MY_ENV.NAME", "MyEnvName1"],
        )
    });
    check_no_parent_directory(value, &mut messages);
    messages
}

/// The name of an environment variable, by the relaxed rule of 1.36.
pub fn is_relaxed_env_var_name(value: &str) -> Messages {
    let mut messages = Messages::new();
    if value.is_empty() {
        messages.push("environment variable name must be non-empty".into());
    }
    if value.bytes().any(|byte| !matches!(byte, b' '..=b'~') || byte == b'=') {
        let message =
            "a valid environment variable name must consist only of printable ASCII characters other than '='";
        messages.push(message.into());
    }
    messages
}

/// A key in the data of a ConfigMap or Secret.
pub fn is_config_map_key(value: &str) -> Messages {
    let mut messages = Messages::new();
    check_length(value, DNS_SUBDOMAIN_MAX_LENGTH, Unit::Characters, &mut messages);
    if !matcher::is_all(value, matcher::is_key_byte) {
        messages.push(regex_error(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    check_no_parent_directory(value, &mut messages);
    messages
}

/// Keys become file names, which must not refer to a parent directory.
fn check_no_parent_directory(value: &str, messages: &mut Messages) {
    match value {
        "." => messages.push("must not be '.'".into()),
        ".." => messages.push("must not be '..'".into()),
        _ if value.starts_with("..") => messages.push("must not start with '..'".into()),
        _ => {}
    }
}

/// A name that is valid as a segment of a URL path.
pub fn is_path_segment_name(name: &str) -> Messages {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'").into()];
    }
    is_path_segment_prefix(name)
}

/// The prefix of a name that must be valid as a segment of a URL path.
pub fn is_path_segment_prefix(name: &str) -> Messages {
    let mut messages = Messages::new();
    if name.contains('/') {
        messages.push("may not contain '/'".into());
    }
    if name.contains('%') {
        messages.push("may not contain '%'".into());
    }
    messages
}

/// Whether every character is printable by Go's `unicode.IsPrint`, as in names of field managers.
pub fn is_printable(text: &str) -> bool {
    text.chars().all(go_text::is_printable)
}

fn refuse_unless(valid: bool, message: impl FnOnce() -> Cow<'static, str>) -> Messages {
    if valid { Messages::new() } else { vec![message()] }
}

#[cfg(test)]
mod tests;
