//! Ingresses.

use std::collections::HashSet;

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule, ip};
use machinery::hooks::Validation;

use crate::core::validation::addresses::{validate_host_name, validate_legacy_ip};
use generated::networking::v1::{
    HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressServiceBackend, IngressSpec, IngressTLS, path_type,
};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: [&str; 3] = [path_type::EXACT, path_type::IMPLEMENTATION_SPECIFIC, path_type::PREFIX];
const INVALID_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const INVALID_ENDS: [&str; 2] = ["/..", "/."];

/// What stored ingresses may keep (`IngressValidationOptions`).
#[derive(Clone, Copy)]
struct Options {
    any_secret_name: bool,
    any_wildcard_rule: bool,
    service_names: NameRule,
}

/// `ValidateIngressCreate`, `ValidateIngressUpdate`, `ValidateIngressStatusUpdate`
pub fn validate_ingress(v: &mut Validation<'_>, _: &Path<'_>, new: &Ingress, old: Option<&Ingress>) {
    if v.context.subresource == "status" {
        return validate_status(v, new, old);
    }
    let options = Options::of(v, old.map(|old| &old.spec));
    validate_spec(v, &Path::new("spec"), &new.spec, options);
    let annotated = new.metadata.annotations.get(CLASS_ANNOTATION);
    if let (None, Some(annotated), Some(class)) = (old, annotated, &new.spec.ingress_class_name)
        && annotated != class
    {
        let path = Path::new("annotations");
        let detail = "must match `ingressClassName` when both are specified";
        v.invalid(&path.child(CLASS_ANNOTATION), annotated, detail);
    }
}

impl Options {
    fn of(v: &mut Validation<'_>, old: Option<&IngressSpec>) -> Self {
        let relaxed =
            v.context.enabled(features::RelaxedServiceNameValidation) || old.is_some_and(names_relaxed_service);
        let service_names = if relaxed { NameRule::Dns1123Label } else { NameRule::Dns1035Label };
        let strict =
            Options { any_secret_name: false, any_wildcard_rule: false, service_names: NameRule::Dns1035Label };
        let wrong_secret = |tls: &IngressTLS| {
            !tls.secret_name.is_empty() && !NameRule::Dns1123Subdomain.check(&tls.secret_name, false).is_empty()
        };
        let mut wrong_rule = |rule: &IngressRule| {
            let mut errors = Vec::new();
            let mut probe = Validation::new(v.context, &mut errors);
            validate_rule_value(&mut probe, &Path::NONE, rule, strict);
            rule.host.contains('*') && !errors.is_empty()
        };
        Options {
            any_secret_name: old.is_some_and(|old| old.tls.iter().any(wrong_secret)),
            any_wildcard_rule: old.is_some_and(|old| old.rules.iter().any(&mut wrong_rule)),
            service_names,
        }
    }
}

/// Whether a stored ingress names a service that only the relaxed rule lets be.
fn names_relaxed_service(spec: &IngressSpec) -> bool {
    let paths =
        spec.rules.iter().filter_map(|rule| rule.ingress_rule_value.http.as_deref()).flat_map(|http| &http.paths);
    let backends = spec.default_backend.as_deref().into_iter().chain(paths.map(|path| &path.backend));
    backends.filter_map(|backend| backend.service.as_deref()).any(|service| {
        NameRule::Dns1123Label.check(&service.name, false).is_empty()
            && !NameRule::Dns1035Label.check(&service.name, false).is_empty()
    })
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &IngressSpec, options: Options) {
    if spec.rules.is_empty() && spec.default_backend.is_none() {
        v.invalid(path, BadValue::NoneIn("rules"), "either `defaultBackend` or `rules` must be specified");
    }
    if let Some(backend) = spec.default_backend.as_deref() {
        validate_backend(v, &path.child("defaultBackend"), backend, options);
    }
    let rules = path.child("rules");
    for (index, rule) in spec.rules.iter().enumerate() {
        validate_rule(v, &rules.index(index), rule, options);
    }
    let tls = path.child("tls");
    for (index, entry) in spec.tls.iter().enumerate() {
        validate_tls(v, &tls.index(index), entry, options);
    }
    if let Some(class) = &spec.ingress_class_name {
        v.name(&path.child("ingressClassName"), class, NameRule::Dns1123Subdomain);
    }
}

fn validate_tls(v: &mut Validation<'_>, path: &Path<'_>, tls: &IngressTLS, options: Options) {
    let hosts = path.child("hosts");
    for (index, host) in tls.hosts.iter().enumerate() {
        validate_host(v, &hosts.index(index), host);
    }
    if !options.any_secret_name {
        v.malformed_name(&path.child("secretName"), &tls.secret_name, NameRule::Dns1123Subdomain, false);
    }
}

fn validate_host(v: &mut Validation<'_>, path: &Path<'_>, host: &str) {
    let wildcard = host.contains('*');
    let check = if wildcard { format::is_wildcard_dns1123_subdomain } else { format::is_dns1123_subdomain };
    v.malformed(path, host, check(host));
}

fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule, options: Options) {
    if !rule.host.is_empty() {
        let path = path.child("host");
        if ip::parse_ip_sloppy(&rule.host).is_some() {
            v.invalid(&path, &rule.host, "must be a DNS name, not an IP address");
        }
        validate_host(v, &path, &rule.host);
    }
    if !rule.host.contains('*') || !options.any_wildcard_rule {
        validate_rule_value(v, path, rule, options);
    }
}

fn validate_rule_value(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule, options: Options) {
    let Some(http) = rule.ingress_rule_value.http.as_deref() else { return };
    let path = path.child("http");
    let path = path.child("paths");
    if http.paths.is_empty() {
        v.required(&path, "");
    }
    for (index, entry) in http.paths.iter().enumerate() {
        validate_path(v, &path.index(index), entry, options);
    }
}

fn validate_path(v: &mut Validation<'_>, path: &Path<'_>, entry: &HTTPIngressPath, options: Options) {
    let Some(path_type) = entry.path_type.as_deref() else {
        return v.required(&path.child("pathType"), "pathType must be specified");
    };
    let (at, text) = (path.child("path"), entry.path.as_str());
    let literal = matches!(path_type, path_type::EXACT | path_type::PREFIX);
    let absolute = text.starts_with('/') || !literal && text.is_empty();
    if (literal || path_type == path_type::IMPLEMENTATION_SPECIFIC) && !absolute {
        v.invalid(&at, text, "must be an absolute path");
    }
    if literal {
        for sequence in INVALID_SEQUENCES.iter().filter(|sequence| text.contains(**sequence)) {
            v.invalid(&at, text, format!("must not contain '{sequence}'"));
        }
        for end in INVALID_ENDS.iter().filter(|end| text.ends_with(**end)) {
            v.invalid(&at, text, format!("cannot end with '{end}'"));
        }
    }
    v.one_of(&path.child("pathType"), path_type, &PATH_TYPES);
    validate_backend(v, &path.child("backend"), &entry.backend, options);
}

fn validate_backend(v: &mut Validation<'_>, path: &Path<'_>, backend: &IngressBackend, options: Options) {
    match (backend.resource.as_deref(), backend.service.as_deref()) {
        (Some(_), Some(_)) => v.invalid(path, "", "cannot set both resource and service backends"),
        (Some(resource), None) => {
            let named = (resource.api_group.as_deref(), resource.kind.as_str(), resource.name.as_str());
            validate_reference(v, &path.child("resource"), named);
        }
        (None, Some(service)) => validate_service(v, path, service, options.service_names),
        (None, None) => v.invalid(path, "", "resource or service backend is required"),
    }
}

fn validate_service(v: &mut Validation<'_>, path: &Path<'_>, service: &IngressServiceBackend, names: NameRule) {
    let at = path.child("service");
    let name = at.child("name");
    v.filled(&name, &service.name);
    v.malformed_name(&name, &service.name, names, false);
    let at = at.child("port");
    match (service.port.name.as_str(), service.port.number) {
        ("", 0) => v.required(path, "port name or number is required"),
        ("", number) => {
            let messages = format::is_valid_port_num(number.into());
            messages.into_iter().for_each(|message| v.invalid(&at.child("number"), number, message));
        }
        (name, 0) => v.malformed(&at.child("name"), name, format::is_valid_port_name(name)),
        _ => v.invalid(path, "", "cannot set both port name & port number"),
    }
}

/// `ValidateIngressLoadBalancerStatus`
fn validate_status(v: &mut Validation<'_>, new: &Ingress, old: Option<&Ingress>) {
    let path = Path::new("status");
    let path = path.child("loadBalancer");
    let path = path.child("ingress");
    let known = old.iter().flat_map(|old| &old.status.load_balancer.ingress);
    let known: HashSet<&str> = known.map(|point| point.ip.as_str()).collect();
    for (index, point) in new.status.load_balancer.ingress.iter().enumerate() {
        let path = path.index(index);
        if !point.ip.is_empty() {
            validate_legacy_ip(v, &path.child("ip"), &point.ip, &known);
        }
        validate_host_name(v, &path.child("hostname"), &point.hostname);
    }
}

/// A reference to an object of any kind, by group, kind and name (`validateIngressTypedLocalObjectReference`).
fn validate_reference(v: &mut Validation<'_>, path: &Path<'_>, (group, kind, name): (Option<&str>, &str, &str)) {
    if let Some(group) = group {
        v.malformed(&path.child("apiGroup"), group, format::is_dns1123_subdomain(group));
    }
    for (field, text) in [("kind", kind), ("name", name)] {
        let path = path.child(field);
        v.filled(&path, text);
        v.malformed_name(&path, text, NameRule::PathSegment, false);
    }
}
