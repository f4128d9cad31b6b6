//! Printed columns of `apiregistration` that take more than a path: the functions its definitions name with `by_hand`.

use machinery::print::{Cell, PrintContext};

use apimachinery::apiregistration::v1::APIService;

pub fn api_service_available(service: &APIService, _: &PrintContext) -> Cell {
    match service.status.conditions.iter().find(|c| c.r#type == "Available") {
        Some(condition) if condition.status == "True" => condition.status.as_str().into(),
        Some(condition) => format!("{} ({})", condition.status, condition.reason).into(),
        None => "Unknown".into(),
    }
}

pub fn api_service_service(service: &APIService, _: &PrintContext) -> Cell {
    service.spec.service.as_ref().map_or("Local".into(), |s| format!("{}/{}", s.namespace, s.name).into())
}
