//! What writers of pods and of their templates are warned of (`pkg/api/pod/warnings.go`).

#[path = "warnings/node_labels.rs"]
pub(crate) mod node_labels;
#[path = "warnings/overlaps.rs"]
mod overlaps;
#[path = "warnings/pod_spec.rs"]
mod pod_spec;
#[path = "warnings/ports.rs"]
mod ports;
#[path = "warnings/volumes.rs"]
pub(crate) mod volumes;

use machinery::field_path::Path;
use machinery::format::is_dns1123_label;

use crate::core::v1::{Pod, PodTemplateSpec};

/// What the creator of a pod is warned of (`GetWarningsForPod`).
pub(crate) fn warnings_of_pod(pod: &Pod) -> Vec<String> {
    let mut out = Vec::new();
    pod_spec::warn(&Path::NONE, (&pod.metadata, &pod.spec), false, &mut out);
    out
}

/// What the writer of a template at `path` is warned of (`GetWarningsForPodTemplate`).
pub(crate) fn warnings_of_template(path: &Path<'_>, template: &PodTemplateSpec) -> Vec<String> {
    let mut out = Vec::new();
    pod_spec::warn(path, (&template.metadata, &template.spec), true, &mut out);
    out
}

/// Names of workloads become the beginnings of their pods'.
pub(crate) fn warning_of_workload(name: &str) -> Option<String> {
    warning_of_name(name, "Pod names and hostnames")
}

/// Names that pods get their host names from should be labels.
pub(crate) fn warning_of_name(name: &str, used: &str) -> Option<String> {
    let messages = is_dns1123_label(name);
    (!messages.is_empty()).then(|| {
        let messages = messages.join(" ");
        format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{messages}]"
        )
    })
}
