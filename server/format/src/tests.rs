//! Tests formats against the results of an upstream server of 1.36.

use std::collections::HashSet;

use super::*;
use status::field_error::FieldError;
use status::field_path::Path;

/// Checks which texts a format accepts and rejects.
fn check(format: fn(&str) -> Messages, valid: &[&str], invalid: &[&str]) {
    for text in valid {
        assert_eq!(format(text), Messages::new(), "{text:?}");
    }
    for text in invalid {
        assert!(!format(text).is_empty(), "{text:?}");
    }
}

fn long(length: usize) -> String {
    "a".repeat(length)
}

#[test]
fn dns_names() {
    let (label, longer) = (long(63), long(64));
    check(
        is_dns1123_label,
        &["a", "1", "a-1", "1-a", &label],
        &["", "-a", "a-", "A", "a.b", "a_b", "a\n", "é", &longer],
    );
    check(is_dns1035_label, &["a", "a-1", &label], &["", "1a", "-a", "a-", "A", &longer]);
    check(is_dns1123_subdomain, &["a", "a.b", "1.2", &longer], &["", ".a", "a.", "a..b", "a-.b", "A.b", &long(254)]);
    check(is_dns1123_subdomain_with_underscore, &["_a.b_c", "a"], &["a_", "__a", "_", "a._"]);
    check(is_wildcard_dns1123_subdomain, &["*.a", "*.a.b"], &["*", "*.", "a.b", "*.*.a", "f*.a"]);
    check(content::is_dns1123_subdomain_caseless, &["A.b", "a"], &["A_b", "", "-A"]);
}

#[test]
fn labels_and_keys() {
    let (name, longer) = (long(63), long(64));
    let prefixed = format!("{}/{name}", [name.as_str(); 3].join("."));
    check(is_qualified_name, &["a", "A.b_c-d", "x.y/Z", &prefixed], &["", "/a", "a/", "a/b/c", "X.y/z", "-a", &longer]);
    check(is_label_value, &["", "a", "A.b_c-d", &name], &["-", "a/b", "a b", &longer]);
    check(is_config_map_key, &["a", ".a", "-_.", "A.b"], &["", ".", "..", "..a", "a/b", &long(254)]);
    check(is_env_var_name, &["a", "_A.b-c"], &["", "1a", "a=b", "..", "é"]);
    check(is_relaxed_env_var_name, &["1 a!", "~"], &["", "a=b", "é", "\t"]);
    check(is_c_identifier, &["_", "a1", "A_b"], &["", "1a", "a-b"]);
}

#[test]
fn other_formats() {
    check(is_valid_port_name, &["http", "a-1", "1a"], &["", "1", "a--b", "-a", "a-", "A", &long(16)]);
    check(is_valid_percent, &["0%", "100%"], &["", "%", "1", "-1%", "1.5%"]);
    check(is_http_header_name, &["X-A", "1"], &["", "X_A", "a b"]);
    check(is_path_segment_name, &["", "a:b", "..."], &[".", "..", "a/b", "a%b"]);
    check(content::is_decimal_integer, &["0", "-1", "10"], &["", "-0", "00", "+1", "-", "1a"]);
    check(content::is_uuid, &["123e4567-e89b-12d3-a456-426614174000"], &["", "123E4567-e89b-12d3-a456-426614174000"]);
    assert!(is_valid_port_num(65535).is_empty() && !is_valid_port_num(0).is_empty());
    assert!(is_valid_user_id(0).is_empty() && !is_valid_user_id(1 << 31).is_empty());
    assert!(is_printable("a é") && !is_printable("a\u{200b}"));
}

#[test]
fn messages_match_upstream() {
    let cases = [
        (is_dns1123_label("a.b"), "must not contain dots"),
        (
            is_dns1123_label("A"),
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        ),
        (
            is_dns1123_subdomain("A"),
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ),
        (is_dns1123_label(&long(64)), "must be no more than 63 characters"),
        (content::is_dns1123_label(&long(64)), "must be no more than 63 bytes"),
        (is_qualified_name(&format!("/{}", long(64))), "prefix part must be non-empty"),
        (is_valid_port_num(0), "must be between 1 and 65535, inclusive"),
        (is_path_segment_name(".."), "may not be '..'"),
        (is_config_map_key("..a"), "must not start with '..'"),
    ];
    for (messages, expect) in cases {
        assert_eq!(messages.first().map(Cow::as_ref), Some(expect));
    }
}

fn texts(errors: Vec<FieldError>) -> Vec<String> {
    errors.iter().map(FieldError::to_string).collect()
}

#[test]
fn declared_formats() {
    let path = Path::new("f");
    let cases = [
        ("k8s-short-name", "a", None),
        ("k8s-uuid", "x", Some("f: Invalid value: \"x\": must be a lowercase UUID in 8-4-4-4-12 format")),
        ("k8s-resource-pool-name", "a/b.c", None),
        ("k8s-resource-pool-name", "a//b", Some("f: Invalid value: \"a//b\": segment 1: must not be empty")),
        ("k8s-extended-resource-name", "example.com/gpu", None),
        (
            "k8s-extended-resource-name",
            "kubernetes.io/gpu",
            Some("f: Invalid value: \"kubernetes.io/gpu\": must not have \"kubernetes.io/\" domain"),
        ),
        ("k8s-resource-fully-qualified-name", "a.b/c_d", None),
        ("k8s-resource-fully-qualified-name", "/c", Some("f: Invalid value: \"\": prefix must not be empty")),
    ];
    for (name, value, expect) in cases {
        let format = field::DeclaredFormat::from_name(name).unwrap();
        assert_eq!(texts(format.check(&path, value)).first().map(String::as_str), expect, "{name} {value}");
    }
    assert_eq!(field::DeclaredFormat::from_name("k8s-other"), None);
}

#[test]
fn formats_with_several_kinds_of_errors() {
    let path = Path::new("f");
    assert_eq!(texts(field::fully_qualified_name(&path, "")), ["f: Required value"]);
    assert!(field::fully_qualified_name(&path, "a.b.c").is_empty());
    assert!(!field::fully_qualified_name(&path, "a.b").is_empty());
    assert!(field::fully_qualified_domain_name(&path, "a.b.").is_empty());
    assert!(field::domain_prefixed_path(&path, "acme.io/foo~bar").is_empty());
    assert!(!field::domain_prefixed_path(&path, "acme.io/foo?").is_empty());
    assert!(field::domain_prefixed_key(&path, "acme.io/foo").is_empty());
    assert!(!field::domain_prefixed_key(&path, "foo").is_empty());
    assert!(field::csi_driver_name(&path, "CSI.example").is_empty());
    let long_driver = texts(field::csi_driver_name(&path, &long(64)));
    assert_eq!(long_driver, ["f: Too long: may not be more than 63 bytes"]);
    assert!(field::kubernetes_finalizer_name(&path, "orphan").is_empty());
    assert!(!field::kubernetes_finalizer_name(&path, "mine").is_empty());
    let manager = texts(field::field_manager(&path, "a\tb"));
    assert_eq!(manager, ["f: Invalid value: \"a\\tb\": invalid character U+0009 (at position 1)"]);
}

#[test]
fn addresses() {
    let path = Path::new("f");
    const INVALID: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    let cases = [
        ("10.0.0.1", None),
        ("2001:db8::1", None),
        ("2001:DB8::1", Some("must be in canonical form (\"2001:db8::1\")")),
        ("010.0.0.1", Some("must not have leading 0s")),
        ("::ffff:1.2.3.4", Some("must not be an IPv4-mapped IPv6 address")),
        ("1.2.3", Some(INVALID)),
        ("fe80::1%eth0", Some(INVALID)),
        ("", Some(INVALID)),
    ];
    for (value, expect) in cases {
        let details: Vec<_> = ip::is_valid_ip(&path, value).into_iter().map(|error| error.detail).collect();
        assert_eq!(details.first().map(Cow::as_ref), expect, "{value}");
    }
    assert!(ip::is_valid_ip_for_legacy_field(&path, "010.0.0.1", false, &HashSet::new()).is_empty());
    assert!(ip::is_valid_ip_for_legacy_field(&path, "010.0.0.1", true, &HashSet::from(["010.0.0.1"])).is_empty());
    let warning = ip::warnings_for_ip(&path, "010.0.0.1").unwrap();
    assert_eq!(warning, "f: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"");
}

#[test]
fn networks() {
    let path = Path::new("f");
    let cases = [
        ("10.0.0.0/8", None),
        ("2001:db8::/32", None),
        ("10.0.0.1/8", Some("must not have bits set beyond the prefix length")),
        ("10.0.0.0/08", Some("must not have leading 0s in IP or prefix length")),
        ("::ffff:10.0.0.0/104", Some("must not have an IPv4-mapped IPv6 address")),
        ("2001:DB8::/32", Some("must be in canonical form (\"2001:db8::/32\")")),
        ("10.0.0.0/33", Some("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")),
    ];
    for (value, expect) in cases {
        let details: Vec<_> = ip::is_valid_cidr(&path, value).into_iter().map(|error| error.detail).collect();
        assert_eq!(details.first().map(Cow::as_ref), expect, "{value}");
    }
    assert!(ip::is_valid_cidr_for_legacy_field(&path, "10.0.0.1/08", false, &HashSet::new()).is_empty());
    assert!(ip::interface_address(&path, "10.0.0.1/8").is_empty());
    assert!(!ip::interface_address(&path, "10.0.0.1").is_empty());
    let warnings = ip::warnings_for_cidr(&path, "10.0.0.1/8");
    let expect = "f: CIDR value \"10.0.0.1/8\" is ambiguous in this context (should be \"10.0.0.0/8\" or \
                  \"10.0.0.1/32\"?)";
    assert_eq!(warnings, [expect]);
}

/// A percentage in place of a number is shown as JSON. A malformed percentage is reported once.
#[test]
fn validates_percentages() {
    let texts = |check: fn(&Path<'_>, &str) -> Vec<FieldError>, text: &str| -> Vec<String> {
        check(&Path::NONE, text).iter().map(|error| error.detail.to_string()).collect()
    };
    for (text, is_percent, is_of_all) in
        [("0%", true, true), ("100%", true, true), ("0101%", true, false), ("<", false, true), ("101", false, true)]
    {
        assert_eq!(texts(field::percent, text).is_empty(), is_percent, "{text}");
        assert_eq!(texts(field::percent_of_at_most_all, text).is_empty(), is_of_all, "{text}");
    }
    let huge = format!("{}%", "9".repeat(30));
    assert_eq!(texts(field::percent_of_at_most_all, &huge), ["must not be greater than 100%"]);
}
