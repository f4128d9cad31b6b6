//! Warnings about pods and pod templates (`pkg/api/pod/warnings.go`).

pub(crate) mod node_labels;
mod overlaps;
mod pairs;
mod pod_spec;
mod ports;
pub(crate) mod volumes;

use machinery::field_path::Path;
use machinery::format::is_dns1123_label;

use generated::core::v1::{Pod, PodTemplateSpec};

/// Warnings on create of a pod (`GetWarningsForPod`).
pub(crate) fn warnings_of_pod(pod: &Pod) -> Vec<String> {
    let mut out = Vec::new();
    pod_spec::warn(&Path::NONE, (&pod.metadata, &pod.spec), false, &mut out);
    out
}

/// Warnings about a template at `path` (`GetWarningsForPodTemplate`).
pub(crate) fn warnings_of_template(path: &Path<'_>, template: &PodTemplateSpec) -> Vec<String> {
    let mut out = Vec::new();
    pod_spec::warn(path, (&template.metadata, &template.spec), true, &mut out);
    out
}

/// Warning about the name of a workload, which becomes the prefix of its pods' names.
pub(crate) fn warning_of_workload(name: &str) -> Option<String> {
    warning_of_name(name, "Pod names and hostnames")
}

/// Warning about a name that determines host names of pods and should therefore be a DNS label.
pub(crate) fn warning_of_name(name: &str, used: &str) -> Option<String> {
    let messages = is_dns1123_label(name);
    (!messages.is_empty()).then(|| {
        let messages = messages.join(" ");
        format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{messages}]"
        )
    })
}
