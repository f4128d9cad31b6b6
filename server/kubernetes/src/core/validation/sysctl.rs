//! Kernel parameters that pods set. By hand: names are put in one form, and looked up in a table.

use std::borrow::Cow;

use generated::core::v1::PodSpec;

/// What [`is_name`] asks for.
pub(super) const NAME_RULE: &str = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
const MAX_NAME: usize = 253;

/// Parameters of the namespace of inter-process communication, some under names of old.
#[rustfmt::skip]
const OF_IPC: [&str; 10] = [
    "kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.msg",
    "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",
];

/// `IsValidSysctlName`
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split(['.', '/']).all(is_segment)
}

fn is_segment(segment: &str) -> bool {
    let is_end = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let bytes = segment.as_bytes();
    bytes.first().is_some_and(|c| is_end(*c))
        && bytes.last().is_some_and(|c| is_end(*c))
        && bytes.iter().all(|c| is_end(*c) || matches!(c, b'-' | b'_'))
}

/// The namespaces of its node that a pod shares.
#[derive(Clone, Copy)]
pub(super) struct HostNamespaces {
    network: bool,
    ipc: bool,
}

impl HostNamespaces {
    pub fn of(spec: &PodSpec) -> Self {
        HostNamespaces { network: spec.host_network, ipc: spec.host_ipc }
    }

    /// Why a pod in these namespaces may not set a parameter (`ValidateHostSysctl`).
    pub fn refusal(self, name: &str) -> Option<&'static str> {
        let name = dotted(name);
        let name = name.split('*').next().unwrap_or_default();
        if self.network && name.starts_with("net.") {
            Some("may not be specified when 'hostNetwork' is true")
        } else if self.ipc && (OF_IPC.contains(&name) || name.starts_with("fs.mqueue.")) {
            Some("may not be specified when 'hostIPC' is true")
        } else {
            None
        }
    }
}

/// A name with its parts separated by dots (`NormalizeName`): in names with slashes first, slashes and dots change roles.
fn dotted(name: &str) -> Cow<'_, str> {
    match name.find(['.', '/']).and_then(|first| name[first..].chars().next()) {
        Some('/') => name
            .chars()
            .map(|c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            })
            .collect(),
        _ => Cow::Borrowed(name),
    }
}
