//! Validation of resources in rules. Hand-written, because each resource is compared with the previous
//! ones, and either part of a name may be `*`.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use generated::admissionregistration::v1::Rule;

const ANY: &str = "*";

/// `validateResources`: checks resources and subresources one by one.
pub fn validate_resources(v: &mut Validation<'_>, path: &Path<'_>, rule: &Rule, _: Option<&Rule>) {
    let path = path.child(json_name!(Rule.resources));
    let (mut of_resource, mut of_subresource) = (HashSet::new(), HashSet::new());
    for (index, resource) in rule.resources.iter().enumerate() {
        let path = path.index(index);
        v.filled(&path, resource);
        let Some((name, subresource)) = resource.split_once('/') else { continue };
        if of_resource.contains(name) {
            v.invalid(&path, resource, format!("if '{name}/*' is present, must not specify {resource}"));
        }
        if of_subresource.contains(subresource) {
            v.invalid(&path, resource, format!("if '*/{subresource}' is present, must not specify {resource}"));
        }
        if subresource == ANY {
            of_resource.insert(name);
        }
        if name == ANY {
            of_subresource.insert(subresource);
        }
    }
}

/// Validates rules for all resources. As upstream, only the last resource without a subresource counts.
pub fn validate_any_resource(v: &mut Validation<'_>, path: &Path<'_>, rule: &Rule, _: Option<&Rule>) {
    let mut plain = rule.resources.iter().filter(|resource| !resource.is_empty() && !resource.contains('/'));
    if plain.next_back().is_some_and(|resource| resource != ANY) {
        let detail = "if '*' is present, must not specify other resources without subresources";
        v.invalid(&path.child(json_name!(Rule.resources)), BadValue::strings(&rule.resources), detail);
    }
}
