//! Printer columns of `apiregistration` that are not a plain field path: functions that the
//! definitions refer to by `by_hand`.

use machinery::print::{Cell, PrintContext};

use apimachinery::apiregistration::v1::{APIService, api_service_condition_type, condition_status};

pub fn api_service_available(service: &APIService, _: &PrintContext) -> Cell {
    match service.status.conditions.iter().find(|c| c.r#type == api_service_condition_type::AVAILABLE) {
        Some(condition) if condition.status == condition_status::TRUE => condition.status.as_str().into(),
        Some(condition) => format!("{} ({})", condition.status, condition.reason).into(),
        None => "Unknown".into(),
    }
}

pub fn api_service_service(service: &APIService, _: &PrintContext) -> Cell {
    service.spec.service.as_ref().map_or("Local".into(), |s| format!("{}/{}", s.namespace, s.name).into())
}
