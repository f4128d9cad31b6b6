//! `DefaultTolerationSeconds`: pods stay for five minutes on a node that is lost, unless they say otherwise.

use generated::core::v1::{Pod, Toleration};
use machinery::reflect::Owned;

const NO_EXECUTE: &str = "NoExecute";
/// What is tolerated, for this long.
const TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS: i64 = 300;

/// Adds the tolerations that are missing.
pub fn admit(object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    let said = pod.spec.tolerations.clone();
    for taint in TAINTS {
        let tolerates =
            |t: &Toleration| (t.key == taint || t.key.is_empty()) && (t.effect == NO_EXECUTE || t.effect.is_empty());
        if !said.iter().any(tolerates) {
            pod.spec.tolerations.push(Toleration {
                key: taint.into(),
                operator: "Exists".into(),
                effect: NO_EXECUTE.into(),
                toleration_seconds: Some(SECONDS),
                ..Toleration::default()
            });
        }
    }
}
