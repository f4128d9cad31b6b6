//! Create strategy of APIServices.

use machinery::hooks::WriteContext;

use apimachinery::apiregistration::v1::{
    APIService, APIServiceCondition, api_service_condition_type, condition_status,
};

/// Marks a local APIService as available when it is created (`apiServerStrategy.PrepareForCreate`).
pub fn create_api_service(context: &WriteContext, service: &mut APIService, _: Option<&APIService>) {
    if service.spec.service.is_none() {
        service.status.conditions.push(APIServiceCondition {
            r#type: api_service_condition_type::AVAILABLE.to_owned(),
            status: condition_status::TRUE.to_owned(),
            last_transition_time: context.now,
            reason: "Local".to_owned(),
            message: "Local APIServices are always available".to_owned(),
        });
    }
}
