//! `DefaultTolerationSeconds`: pods stay for a while (five minutes) on a node that is lost, unless they say otherwise.

use generated::core::v1::{Pod, Toleration};
use machinery::reflect::Owned;
use serving::options::AdmissionOptions;

const NO_EXECUTE: &str = "NoExecute";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Adds the tolerations that are missing.
pub fn admit(options: &AdmissionOptions, object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    let said = pod.spec.tolerations.clone();
    for (taint, seconds) in [(NOT_READY, options.not_ready_seconds), (UNREACHABLE, options.unreachable_seconds)] {
        let tolerates =
            |t: &Toleration| (t.key == taint || t.key.is_empty()) && (t.effect == NO_EXECUTE || t.effect.is_empty());
        if !said.iter().any(tolerates) {
            pod.spec.tolerations.push(Toleration {
                key: taint.into(),
                operator: "Exists".into(),
                effect: NO_EXECUTE.into(),
                toleration_seconds: Some(seconds),
                ..Toleration::default()
            });
        }
    }
}
