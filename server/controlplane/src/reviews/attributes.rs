//! The authorization attributes of a review (`registry/authorization/util`).

use apimachinery::meta::v1::{FieldSelectorRequirement, LabelSelectorRequirement, label_selector_operator};
use authz::{AuthorizationAttributes, Selectors};
use generated::authorization::v1::ResourceAttributes;
use machinery::field_path::Path;
use machinery::selector::{FieldRequirement, LabelRequirement, Operator};
use request::User;

/// Converts resource attributes. An empty version means all versions.
pub fn of_resource<'a>(user: &'a User, attributes: &'a ResourceAttributes) -> AuthorizationAttributes<'a> {
    AuthorizationAttributes {
        namespace: &attributes.namespace,
        version: if attributes.version.is_empty() { "*" } else { &attributes.version },
        subresource: &attributes.subresource,
        name: &attributes.name,
        selectors: selectors(attributes),
        ..AuthorizationAttributes::resource(user, attributes.verb.as_str(), &attributes.group, &attributes.resource)
    }
}

fn selectors(attributes: &ResourceAttributes) -> Selectors {
    let mut selectors = Selectors::default();
    if let Some(attributes) = &attributes.field_selector {
        selectors.parse_fields(&attributes.raw_selector);
        for requirement in &attributes.requirements {
            match field_requirement(requirement) {
                Some(requirement) => selectors.fields.push(requirement),
                None => selectors.field_error = true,
            }
        }
    }
    if let Some(attributes) = &attributes.label_selector {
        selectors.parse_labels(&attributes.raw_selector);
        for requirement in &attributes.requirements {
            match label_requirement(requirement) {
                Some(requirement) => selectors.labels.push(requirement),
                None => selectors.label_error = true,
            }
        }
    }
    selectors
}

/// Field selectors support only `In` and `NotIn` with one value; other operators are ignored
/// (`fieldSelectorAsSelector`).
fn field_requirement(requirement: &FieldSelectorRequirement) -> Option<FieldRequirement> {
    let [value] = requirement.values.as_slice() else { return None };
    let equal = match requirement.operator.as_str() {
        label_selector_operator::IN => true,
        label_selector_operator::NOT_IN => false,
        _ => return None,
    };
    Some(FieldRequirement { field: requirement.key.clone(), equal, value: value.clone() })
}

fn label_requirement(requirement: &LabelSelectorRequirement) -> Option<LabelRequirement> {
    let operator = Operator::from_api(&requirement.operator)?;
    LabelRequirement::new(&Path::NONE, requirement.key.as_str(), operator, requirement.values.clone()).ok()
}
