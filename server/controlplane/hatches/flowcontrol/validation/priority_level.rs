//! How much of the server a priority level gets.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::super::PRESERVE_ZERO;
use super::{mandatory, validate_condition_types};
use crate::flowcontrol::v1::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfiguration,
    PriorityLevelConfigurationSpec, QueuingConfiguration,
};
use crate::hatches::core::internal::internal_value;

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
                validate_exempt(v, &exempt, said);
            }
        }
        "Limited" => {
            if spec.exempt.is_some() {
                v.forbidden(&exempt, "must be nil if the type is Limited");
            }
            match &spec.limited {
                None => v.required(&limited, "must not be empty when type is Limited"),
                Some(said) => validate_limited(v, &limited, said),
            }
        }
        unknown => v.one_of(&path.child("type"), unknown, &["Exempt", "Limited"]),
    }
}

fn validate_exempt(v: &mut Validation<'_>, path: &Path<'_>, exempt: &ExemptPriorityLevelConfiguration) {
    validate_shares(v, &path.child("nominalConcurrencyShares"), exempt.nominal_concurrency_shares);
    validate_lendable(v, &path.child("lendablePercent"), exempt.lendable_percent);
}

fn validate_limited(v: &mut Validation<'_>, path: &Path<'_>, limited: &LimitedPriorityLevelConfiguration) {
    let shares = match v.context.version.as_str() {
        "v1beta1" | "v1beta2" => "assuredConcurrencyShares",
        _ => "nominalConcurrencyShares",
    };
    validate_shares(v, &path.child(shares), limited.nominal_concurrency_shares);
    validate_response(v, &path.child("limitResponse"), &limited.limit_response);
    validate_lendable(v, &path.child("lendablePercent"), limited.lendable_percent);
    if let Some(share) = limited.borrowing_limit_percent.filter(|share| *share < 0) {
        v.invalid(&path.child("borrowingLimitPercent"), share, "if specified, must be a non-negative integer");
    }
}

fn validate_shares(v: &mut Validation<'_>, path: &Path<'_>, shares: Option<i32>) {
    if let Some(shares) = shares.filter(|shares| *shares < 0) {
        v.invalid(path, shares, "must be a non-negative integer");
    }
}

fn validate_lendable(v: &mut Validation<'_>, path: &Path<'_>, share: Option<i32>) {
    if let Some(share) = share.filter(|share| !(0..=100).contains(share)) {
        v.invalid(path, share, "must be between 0 and 100, inclusive");
    }
}

/// `ValidateLimitResponse`; both texts are upstream's, who means `Queue`.
fn validate_response(v: &mut Validation<'_>, path: &Path<'_>, response: &LimitResponse) {
    let queuing = path.child("queuing");
    match (response.r#type.as_str(), &response.queuing) {
        ("Reject", Some(_)) => v.forbidden(&queuing, "must be nil if limited.limitResponse.type is not Limited"),
        ("Reject", None) => {}
        ("Queue", None) => v.required(&queuing, "must not be empty if limited.limitResponse.type is Limited"),
        ("Queue", Some(said)) => validate_queuing(v, &queuing, said),
        (unknown, _) => v.one_of(&path.child("type"), unknown, &["Queue", "Reject"]),
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`
fn validate_queuing(v: &mut Validation<'_>, path: &Path<'_>, queuing: &QueuingConfiguration) {
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
