//! Printed columns and selectable fields of `autoscaling` that take more than a path: the functions its definitions name with `by_hand`.

pub fn horizontal_pod_autoscaler_reference(_: &crate::autoscaling::v2::HorizontalPodAutoscaler, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn horizontal_pod_autoscaler_targets(_: &crate::autoscaling::v2::HorizontalPodAutoscaler, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
