//! How much of the server a priority level gets.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::super::PRESERVE_ZERO;
use super::{mandatory, validate_condition_types};
use crate::core::internal::internal_value;
use generated::flowcontrol::v1::{
    LimitedPriorityLevelConfiguration, PriorityLevelConfiguration, PriorityLevelConfigurationSpec, QueuingConfiguration,
};

const MAX_QUEUES: i32 = 10_000_000;
/// What shuffle sharding has of a request to choose queues by.
const HASH_BITS: i32 = 60;

/// `ValidatePriorityLevelConfiguration`, `ValidatePriorityLevelConfigurationStatusUpdate`
pub fn validate_priority_level_configuration(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PriorityLevelConfiguration,
    _: Option<&PriorityLevelConfiguration>,
) {
    if v.context.subresource != "status" {
        if new.metadata.annotations.contains_key(PRESERVE_ZERO) {
            v.forbidden(&path.child("metadata.annotations"), format!("annotation '{PRESERVE_ZERO}' is forbidden"));
        }
        let name = new.metadata.name.as_str();
        validate_spec(v, &path.child("spec"), name, &new.spec);
        validate_mandatory(v, &path.child("spec"), name, &new.spec);
    }
    validate_condition_types(v, &path.child("status"), new.status.conditions.iter().map(|c| &c.r#type));
}

/// `ValidateIfMandatoryPriorityLevelConfigurationObject`: only the shares of the exempt level may change.
fn validate_mandatory(v: &mut Validation<'_>, path: &Path<'_>, name: &str, spec: &PriorityLevelConfigurationSpec) {
    let Some(mut wanted) = mandatory::priority_level(name) else { return };
    let mut except = "";
    if name == mandatory::EXEMPT {
        wanted.exempt.clone_from(&spec.exempt);
        except = " except the 'spec.exempt' field";
    }
    if Ref::of(&wanted) != Ref::of(spec) {
        v.invalid(path, internal_value(spec), format!("spec of '{name}'{except} must equal the fixed value"));
    }
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, name: &str, spec: &PriorityLevelConfigurationSpec) {
    let (limited, exempt) = (path.child("limited"), path.child("exempt"));
    if (name == mandatory::EXEMPT) != (spec.r#type == "Exempt") {
        let shown = BadValue::json_string(&spec.r#type);
        v.invalid(&path.child("type"), shown, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match spec.r#type.as_str() {
        "Exempt" => {
            if spec.limited.is_some() {
                v.forbidden(&limited, "must be nil if the type is not Limited");
            }
            if let Some(said) = &spec.exempt {
                v.checks(&exempt, Ref::of(&**said), None);
            }
        }
        "Limited" => {
            if spec.exempt.is_some() {
                v.forbidden(&exempt, "must be nil if the type is Limited");
            }
            match &spec.limited {
                None => v.required(&limited, "must not be empty when type is Limited"),
                Some(said) => v.checks(&limited, Ref::of(&**said), None),
            }
        }
        unknown => v.one_of(&path.child("type"), unknown, &["Exempt", "Limited"]),
    }
}

/// The shares of a level, which older versions call otherwise.
pub fn validate_shares(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    limited: &LimitedPriorityLevelConfiguration,
    _: Option<&LimitedPriorityLevelConfiguration>,
) {
    let field = match v.context.version.as_str() {
        "v1beta1" | "v1beta2" => "assuredConcurrencyShares",
        _ => "nominalConcurrencyShares",
    };
    if let Some(shares) = limited.nominal_concurrency_shares.filter(|shares| *shares < 0) {
        v.invalid(&path.child(field), shares, "must be a non-negative integer");
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`
pub fn validate_queuing(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    queuing: &QueuingConfiguration,
    _: Option<&QueuingConfiguration>,
) {
    let QueuingConfiguration { queues, hand_size, queue_length_limit } = *queuing;
    if queue_length_limit <= 0 {
        v.invalid(&path.child("queueLengthLimit"), queue_length_limit, "must be positive");
    }
    if queues <= 0 {
        v.invalid(&path.child("queues"), queues, "must be positive");
    } else if queues > MAX_QUEUES {
        v.invalid(&path.child("queues"), queues, format!("must not be greater than {MAX_QUEUES}"));
    }
    let path = path.child("handSize");
    if hand_size <= 0 {
        v.invalid(&path, hand_size, "must be positive");
    } else if hand_size > queues {
        v.invalid(&path, hand_size, format!("should not be greater than queues ({queues})"));
    } else if (f64::from(queues).log2() * f64::from(hand_size)).ceil() > f64::from(HASH_BITS) {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be greater than {HASH_BITS}"
        );
        v.invalid(&path, hand_size, detail);
    }
}
