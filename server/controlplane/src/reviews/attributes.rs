//! The wish that a review describes (`registry/authorization/util`).

use apimachinery::meta::v1::{FieldSelectorRequirement, LabelSelectorRequirement, label_selector_operator};
use generated::authorization::v1::ResourceAttributes;
use machinery::field_path::Path;
use machinery::selector::{FieldRequirement, LabelRequirement, Operator};
use serving::User;
use serving::authorization::{Attributes, Selectors};

/// A wish about a resource. A version that is not said is every version.
pub fn of_resource<'a>(user: &'a User, said: &'a ResourceAttributes) -> Attributes<'a> {
    Attributes {
        namespace: &said.namespace,
        version: if said.version.is_empty() { "*" } else { &said.version },
        subresource: &said.subresource,
        name: &said.name,
        selectors: selectors(said),
        ..Attributes::resource(user, said.verb.as_str(), &said.group, &said.resource)
    }
}

fn selectors(said: &ResourceAttributes) -> Selectors {
    let mut selectors = Selectors::default();
    if let Some(said) = &said.field_selector {
        selectors.parse_fields(&said.raw_selector);
        for requirement in &said.requirements {
            match field_requirement(requirement) {
                Some(requirement) => selectors.fields.push(requirement),
                None => selectors.field_error = true,
            }
        }
    }
    if let Some(said) = &said.label_selector {
        selectors.parse_labels(&said.raw_selector);
        for requirement in &said.requirements {
            match label_requirement(requirement) {
                Some(requirement) => selectors.labels.push(requirement),
                None => selectors.label_error = true,
            }
        }
    }
    selectors
}

/// Field selectors compare with one value; newer operators are not understood yet (`fieldSelectorAsSelector`).
fn field_requirement(said: &FieldSelectorRequirement) -> Option<FieldRequirement> {
    let [value] = said.values.as_slice() else { return None };
    let equal = match said.operator.as_str() {
        label_selector_operator::IN => true,
        label_selector_operator::NOT_IN => false,
        _ => return None,
    };
    Some(FieldRequirement { field: said.key.clone(), equal, value: value.clone() })
}

fn label_requirement(said: &LabelSelectorRequirement) -> Option<LabelRequirement> {
    let operator = Operator::from_api(&said.operator)?;
    LabelRequirement::new(&Path::NONE, said.key.as_str(), operator, said.values.clone()).ok()
}
