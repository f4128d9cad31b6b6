//! Rules for the names of objects (upstream: the `ValidateNameFunc`s).

use super::{Messages, ip};
use status::field_path::Path;
use std::borrow::Cow;

/// A rule for `metadata.name` and `metadata.generateName`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameRule {
    /// A DNS name; most kinds.
    Dns1123Subdomain,
    /// A DNS name; the prefix of a generated name is not checked (`validate.LongName`).
    LongName,
    /// One label of a DNS name.
    Dns1123Label,
    /// One label of a DNS name, starting with a letter.
    Dns1035Label,
    /// A segment of a URL path; the prefix of a generated name may also be `.` or `..`.
    PathSegment,
    /// A segment of a URL path, such as the names of RBAC objects; the same rule applies to the
    /// prefix of a generated name.
    WholePathSegment,
    /// A key of a ConfigMap, such as the names of lease candidates.
    ConfigMapKey,
    /// An IP address in canonical form; such names are never generated.
    IpAddress,
    /// Any name that can be requested.
    Any,
}

impl NameRule {
    /// The errors of a name, or of the `prefix` of a generated name.
    pub fn check(self, name: &str, prefix: bool) -> Messages {
        let masked = if prefix { mask_trailing_dash(name) } else { Cow::Borrowed(name) };
        match self {
            Self::Dns1123Subdomain => super::is_dns1123_subdomain(&masked),
            Self::LongName if prefix => Messages::new(),
            Self::LongName => super::content::is_dns1123_subdomain(name),
            Self::Dns1123Label => super::is_dns1123_label(&masked),
            Self::Dns1035Label => super::is_dns1035_label(&masked),
            Self::PathSegment if prefix => super::is_path_segment_prefix(name),
            Self::PathSegment | Self::WholePathSegment => super::is_path_segment_name(name),
            Self::ConfigMapKey => super::is_config_map_key(name),
            Self::IpAddress => ip::is_valid_ip(&Path::NONE, name).into_iter().map(|error| error.detail).collect(),
            Self::Any => Messages::new(),
        }
    }
}

/// Replaces the trailing dash of a prefix, which may have one because more text follows. As
/// upstream, the last two characters become one letter.
fn mask_trailing_dash(name: &str) -> Cow<'_, str> {
    match name.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let kept = rest.char_indices().next_back().map_or(0, |(at, _)| at);
            // Upstream splits a character outside of ASCII, which no rule accepts. No rule accepts
            // the whole character either.
            if rest.is_ascii() { Cow::Owned(format!("{}a", &rest[..kept])) } else { Cow::Borrowed(name) }
        }
        _ => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_names() {
        let cases = [
            (NameRule::Dns1123Subdomain, "my.name", true),
            (NameRule::Dns1123Subdomain, "my-", false),
            (NameRule::Dns1123Label, "my.name", false),
            (NameRule::Dns1123Label, "1abc", true),
            (NameRule::Dns1035Label, "1abc", false),
            (NameRule::PathSegment, "system:Node", true),
            (NameRule::PathSegment, "a/b", false),
            (NameRule::PathSegment, "..", false),
            (NameRule::IpAddress, "10.0.0.1", true),
            (NameRule::IpAddress, "2001:DB8::1", false),
            (NameRule::LongName, "A", false),
            (NameRule::Any, "%", true),
        ];
        for (rule, name, valid) in cases {
            assert_eq!(rule.check(name, false).is_empty(), valid, "{rule:?} {name}");
        }
    }

    #[test]
    fn prefixes_may_end_with_a_dash() {
        let cases = [
            (NameRule::Dns1123Subdomain, "web-", true),
            (NameRule::Dns1123Subdomain, "web--", true),
            (NameRule::Dns1123Subdomain, "-", false),
            (NameRule::Dns1123Label, "a.b-", false),
            (NameRule::Dns1123Label, "é-", false),
            (NameRule::PathSegment, "..", true),
            (NameRule::WholePathSegment, "..", false),
            (NameRule::LongName, ".", true),
        ];
        for (rule, prefix, valid) in cases {
            assert_eq!(rule.check(prefix, true).is_empty(), valid, "{rule:?} {prefix}");
        }
    }

    #[test]
    fn long_names_are_counted_in_bytes() {
        let long = "a".repeat(254);
        assert_eq!(NameRule::LongName.check(&long, false), ["must be no more than 253 bytes"]);
        assert_eq!(NameRule::Dns1123Subdomain.check(&long, false), ["must be no more than 253 characters"]);
    }
}
