//! Warnings about pods and pod templates (`pkg/api/pod/warnings.go`).

pub(crate) mod node_labels;
mod overlaps;
mod pod_spec;
mod ports;
pub(crate) mod volumes;

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::is_dns1123_label;

use generated::core::v1::{Pod, PodTemplateSpec};

/// Maximum number of characters of all warnings in a response, and of a single warning (upstream's
/// limits).
const ROOM: usize = 4 * 1024;
const LONG: usize = 256;

/// Maximum number of bytes of warnings about pairs that are generated, duplicates included.
const MAX_TEXT: usize = 1 << 20;

/// Warnings about pairs of elements. There are up to n squared pairs, so generation stops at the limit
/// of a response.
struct Pairs<'o> {
    out: &'o mut Vec<String>,
    seen: HashSet<String>,
    room: usize,
    made: usize,
}

impl<'o> Pairs<'o> {
    fn new(out: &'o mut Vec<String>) -> Self {
        Pairs { out, seen: HashSet::new(), room: ROOM, made: 0 }
    }

    /// Adds a warning unless it is a duplicate. Returns whether there is room for more.
    fn add(&mut self, text: String) -> bool {
        self.made += text.len();
        if !self.seen.contains(&text) {
            self.room = self.room.saturating_sub(text.chars().take(LONG).count());
            self.seen.insert(text.clone());
            self.out.push(text);
        }
        self.room > 0 && self.made < MAX_TEXT
    }
}

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
