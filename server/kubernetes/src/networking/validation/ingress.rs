//! What upstream checks in ingresses and definitions do not say.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;

use generated::core::v1::TypedLocalObjectReference;
use generated::networking::v1::{Ingress, IngressRule, IngressSpec, IngressTLS};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// What stored ingresses may keep (`IngressValidationOptions`). By hand: it is found out from the whole stored object.
pub fn choose_options(v: &mut Validation<'_>, _: &Path<'_>, _: &Ingress, old: Option<&Ingress>) {
    let old = old.map(|old| &old.spec);
    let wrong_secret = |tls: &IngressTLS| {
        !tls.secret_name.is_empty() && !NameRule::Dns1123Subdomain.check(&tls.secret_name, false).is_empty()
    };
    let any_secret = old.is_some_and(|old| old.tls.iter().any(wrong_secret));
    // Which options are chosen decides about a stored rule too: it is held to the strictest ones.
    let any_rule = old.is_some_and(|old| old.rules.iter().any(|rule| has_wildcard(rule) && is_refused(v, rule)));
    let relaxed = v.context.enabled(features::RelaxedServiceNameValidation) || old.is_some_and(names_relaxed_service);
    v.set_option(options::ANY_SECRET_NAME, any_secret);
    v.set_option(options::ANY_WILDCARD_RULE, any_rule);
    v.set_option(options::RELAXED_SERVICE_NAMES, relaxed);
}

fn has_wildcard(rule: &IngressRule) -> bool {
    rule.host.contains('*')
}

/// Whether something is wrong with the paths of a rule.
fn is_refused(v: &Validation<'_>, rule: &IngressRule) -> bool {
    let mut errors = Vec::new();
    validate_paths(&mut Validation::new(v.context, &mut errors), &Path::NONE, rule);
    !errors.is_empty()
}

fn validate_paths(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule) {
    if let Some(http) = rule.ingress_rule_value.http.as_deref() {
        v.checks(&path.child("http"), Ref::of(http), None);
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

/// By hand: the message shows the list of rules, which is empty.
pub fn validate_presence(v: &mut Validation<'_>, path: &Path<'_>, spec: &IngressSpec, _: Option<&IngressSpec>) {
    if spec.rules.is_empty() && spec.default_backend.is_none() {
        v.invalid(path, BadValue::NoneIn("rules"), "either `defaultBackend` or `rules` must be specified");
    }
}

/// The class of a new ingress, where it is said twice. By hand: an annotation is compared with a field.
pub fn validate_class_annotation(v: &mut Validation<'_>, _: &Path<'_>, new: &Ingress, _: Option<&Ingress>) {
    let annotated = new.metadata.annotations.get(CLASS_ANNOTATION);
    if let (Some(annotated), Some(class)) = (annotated, &new.spec.ingress_class_name)
        && annotated != class
    {
        let path = Path::new("annotations");
        let detail = "must match `ingressClassName` when both are specified";
        v.invalid(&path.child(CLASS_ANNOTATION), annotated, detail);
    }
}

/// The paths of a rule. By hand: a stored rule for a wildcard excuses rules for wildcards only.
pub fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &IngressRule, _: Option<&IngressRule>) {
    if !has_wildcard(rule) || !v.has_option(options::ANY_WILDCARD_RULE) {
        validate_paths(v, path, rule);
    }
}

/// A reference to an object of any kind, by group, kind and name (`validateIngressTypedLocalObjectReference`). By hand:
/// references of other kinds to objects are checked otherwise.
pub fn validate_reference(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    reference: &TypedLocalObjectReference,
    _: Option<&TypedLocalObjectReference>,
) {
    if let Some(group) = &reference.api_group {
        v.malformed(&path.child("apiGroup"), group, format::is_dns1123_subdomain(group));
    }
    for (field, text) in [("kind", &reference.kind), ("name", &reference.name)] {
        let path = path.child(field);
        v.filled(&path, text);
        v.malformed_name(&path, text, NameRule::PathSegment, false);
    }
}
