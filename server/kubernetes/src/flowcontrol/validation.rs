//! Hand-written validation of flow schemas and priority levels that definitions cannot declare
//! (`pkg/apis/flowcontrol/validation`).

mod mandatory;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::internal_value;
use generated::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration, QueuingConfiguration};

/// Number of hash bits of a request that shuffle sharding can use to choose queues.
const HASH_BITS: i32 = 60;

/// Compares a mandatory flow schema with its required spec. Hand-written, because the required spec is
/// a constant.
pub fn validate_mandatory_schema(v: &mut Validation<'_>, path: &Path<'_>, new: &FlowSchema, _: Option<&FlowSchema>) {
    let name = new.metadata.name.as_str();
    if mandatory::flow_schema(name).is_some_and(|wanted| Ref::of(&wanted) != Ref::of(&new.spec)) {
        let detail = format!("spec of '{name}' must equal the fixed value");
        v.invalid(&path.child(json_name!(FlowSchema.spec)), internal_value(&new.spec), detail);
    }
}

/// `ValidateIfMandatoryPriorityLevelConfigurationObject`: only the shares of the exempt level may
/// change. Hand-written for the same reason as for flow schemas.
pub fn validate_mandatory_level(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PriorityLevelConfiguration,
    _: Option<&PriorityLevelConfiguration>,
) {
    let (name, spec) = (new.metadata.name.as_str(), &new.spec);
    let Some(mut wanted) = mandatory::priority_level(name) else { return };
    let mut except = "";
    if name == mandatory::EXEMPT {
        wanted.exempt.clone_from(&spec.exempt);
        except = " except the 'spec.exempt' field";
    }
    if Ref::of(&wanted) != Ref::of(spec) {
        let detail = format!("spec of '{name}'{except} must equal the fixed value");
        v.invalid(&path.child(json_name!(PriorityLevelConfiguration.spec)), internal_value(spec), detail);
    }
}

/// Validates the hand size. Hand-written, because the check needs a logarithm, and messages show
/// another field.
pub fn validate_hand(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    &QueuingConfiguration { queues, hand_size, .. }: &QueuingConfiguration,
    _: Option<&QueuingConfiguration>,
) {
    let detail = if hand_size > queues {
        format!("should not be greater than queues ({queues})")
    } else if (f64::from(queues).log2() * f64::from(hand_size)).ceil() > f64::from(HASH_BITS) {
        format!(
            "required entropy bits of deckSize {queues} and handSize {hand_size} should not be greater than {HASH_BITS}"
        )
    } else {
        return;
    };
    if hand_size > 0 {
        v.invalid(&path.child(json_name!(QueuingConfiguration.hand_size)), hand_size, detail);
    }
}
