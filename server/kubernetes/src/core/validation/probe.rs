//! What runs when containers start and stop.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;

use generated::core::v1::LifecycleHandler;

/// By hand: the bound is the time that the pod has to end.
pub fn validate_sleep(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    handler: &LifecycleHandler,
    _: Option<&LifecycleHandler>,
) {
    let period = v.option(options::GRACE_PERIOD).and_then(|period| period.parse::<i64>().ok());
    let seconds = handler.sleep.as_deref().map_or(0, |sleep| sleep.seconds);
    if let Some(period) = period.filter(|period| seconds < 0 || seconds > *period) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
        v.invalid(&path.child("sleep"), seconds, detail);
    }
}
