//! Hand-written validation of ingresses that definitions cannot declare.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::reflect::Ref;

use generated::networking::v1::{Ingress, IngressRule, IngressRuleValue, IngressSpec};

/// Sets options for values that stored ingresses may keep (`IngressValidationOptions`). Hand-written,
/// because they follow from the whole stored object.
pub fn choose_options(v: &mut Validation<'_>, _: &Path<'_>, _: &Ingress, old: Option<&Ingress>) {
    let old = old.map(|old| &old.spec);
    // Stored rules are validated with the strictest options, although the chosen options would apply to
    // them too.
    let any_rule = old.is_some_and(|old| old.rules.iter().any(|rule| has_wildcard(rule) && is_refused(v, rule)));
    let relaxed = v.context.enabled(features::RelaxedServiceNameValidation) || old.is_some_and(names_relaxed_service);
    v.set_option(options::ANY_WILDCARD_RULE, any_rule);
    v.set_option(options::RELAXED_SERVICE_NAMES, relaxed);
}

fn has_wildcard(rule: &IngressRule) -> bool {
    rule.host.contains('*')
}

/// Whether the paths of a rule are invalid.
fn is_refused(v: &Validation<'_>, rule: &IngressRule) -> bool {
    let mut errors = Vec::new();
    validate_paths(&mut Validation::new(v.context, &mut errors), &Path::NONE, rule);
    !errors.is_empty()
}

fn validate_paths(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule) {
    if let Some(http) = rule.ingress_rule_value.http.as_deref() {
        v.checks(&path.child(json_name!(IngressRuleValue.http)), Ref::of(http), None);
    }
}

/// Whether a stored ingress refers to a service whose name is valid only under the relaxed rule.
fn names_relaxed_service(spec: &IngressSpec) -> bool {
    let paths =
        spec.rules.iter().filter_map(|rule| rule.ingress_rule_value.http.as_deref()).flat_map(|http| &http.paths);
    let backends = spec.default_backend.as_deref().into_iter().chain(paths.map(|path| &path.backend));
    backends.filter_map(|backend| backend.service.as_deref()).any(|service| {
        NameRule::Dns1123Label.check(&service.name, false).is_empty()
            && !NameRule::Dns1035Label.check(&service.name, false).is_empty()
    })
}

/// Checks that rules or a default backend are present. Hand-written, because the message shows the
/// empty list of rules.
pub fn validate_presence(v: &mut Validation<'_>, path: &Path<'_>, spec: &IngressSpec, _: Option<&IngressSpec>) {
    if spec.rules.is_empty() && spec.default_backend.is_none() {
        v.invalid(path, BadValue::NoneIn("rules"), "either `defaultBackend` or `rules` must be specified");
    }
}

/// Validates the paths of a rule. Hand-written, because a stored rule for a wildcard relaxes rules for
/// wildcards only.
pub fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule, _: Option<&IngressRule>) {
    if !has_wildcard(rule) || !v.has_option(options::ANY_WILDCARD_RULE) {
        validate_paths(v, path, rule);
    }
}
