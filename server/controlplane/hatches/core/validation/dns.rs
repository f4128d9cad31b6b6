//! How the names that a pod looks up are resolved.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_dns1123_subdomain_with_underscore;
use machinery::hooks::Validation;

use super::addresses::validate_legacy_ip;
use crate::core::v1::{HostAlias, PodDNSConfig};
use machinery::format::NameRule;

const MAX_NAME_SERVERS: usize = 3;
const MAX_SEARCH_PATHS: usize = 32;
const MAX_SEARCH_CHARACTERS: usize = 2048;

/// `validatePodDNSConfig`. By hand: search paths are counted together.
pub fn validate_dns_config(v: &mut Validation<'_>, path: &Path<'_>, config: &PodDNSConfig, _: Option<&PodDNSConfig>) {
    let servers = path.child("nameservers");
    if config.nameservers.len() > MAX_NAME_SERVERS {
        let detail = format!("must not have more than {MAX_NAME_SERVERS} nameservers");
        v.invalid(&servers, BadValue::strings(&config.nameservers), detail);
    }
    for (index, server) in config.nameservers.iter().enumerate() {
        validate_legacy_ip(v, &servers.index(index), server, &HashSet::new());
    }
    validate_searches(v, &path.child("searches"), &config.searches);
    for (index, option) in config.options.iter().enumerate() {
        if option.name.is_empty() {
            v.required(&path.child("options").index(index), "must not be empty");
        }
    }
}

fn validate_searches(v: &mut Validation<'_>, path: &Path<'_>, searches: &[String]) {
    if searches.len() > MAX_SEARCH_PATHS {
        let detail = format!("must not have more than {MAX_SEARCH_PATHS} search paths");
        v.invalid(path, BadValue::strings(searches), detail);
    }
    if searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        v.invalid(path, BadValue::strings(searches), detail);
    }
    for (index, search) in searches.iter().enumerate().filter(|(_, search)| *search != ".") {
        let domain = search.strip_suffix('.').unwrap_or(search);
        v.malformed(&path.index(index), domain, is_dns1123_subdomain_with_underscore(domain));
    }
}

/// `ValidateHostAliases`. By hand: how strict addresses are checked is a gate's.
pub fn validate_host_alias(v: &mut Validation<'_>, path: &Path<'_>, alias: &HostAlias, _: Option<&HostAlias>) {
    validate_legacy_ip(v, &path.child("ip"), &alias.ip, &HashSet::new());
    for (index, name) in alias.hostnames.iter().enumerate() {
        v.name(&path.child("hostnames").index(index), name, NameRule::Dns1123Subdomain);
    }
}
