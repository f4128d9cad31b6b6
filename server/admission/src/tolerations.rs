//! `DefaultTolerationSeconds`: adds default tolerations (five minutes) for not-ready and
//! unreachable nodes.

use generated::core::v1::{Pod, Toleration, taint_effect, toleration_operator};
use machinery::reflect::Owned;
use options::AdmissionOptions;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Adds the missing tolerations.
pub fn admit(options: &AdmissionOptions, object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    let existing = pod.spec.tolerations.clone();
    for (taint, seconds) in [(NOT_READY, options.not_ready_seconds), (UNREACHABLE, options.unreachable_seconds)] {
        let tolerates = |t: &Toleration| {
            (t.key == taint || t.key.is_empty()) && (t.effect == taint_effect::NO_EXECUTE || t.effect.is_empty())
        };
        if !existing.iter().any(tolerates) {
            pod.spec.tolerations.push(Toleration {
                key: taint.into(),
                operator: toleration_operator::EXISTS.into(),
                effect: taint_effect::NO_EXECUTE.into(),
                toleration_seconds: Some(seconds),
                ..Toleration::default()
            });
        }
    }
}
