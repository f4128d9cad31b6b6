//! Ports that more than one container says it has.

use std::collections::BTreeMap;

use machinery::field_path::Path;
use machinery::scalar::go_text::quote;

use crate::core::v1::{ContainerPort, PodSpec};
use crate::hatches::core::validation::visit::for_each_container;

/// What is said of the ports of a spec at `path`.
pub(super) fn warn(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    let mut ports: BTreeMap<(i32, &str), Vec<(String, &ContainerPort)>> = BTreeMap::new();
    each_port(path, spec, |path, port| {
        if !port.host_ip.is_empty() && port.host_port == 0 {
            out.push(format!("{path}: hostIP set without hostPort: {}", go_text(port)));
        }
        let others = ports.entry((port.container_port, &port.protocol)).or_default();
        for (other_path, other) in others.iter() {
            out.extend(conflict(port, other).map(|what| format!("{path}: {what} port definition with {other_path}")));
        }
        others.push((path.to_owned(), port));
    });
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    each_port(path, spec, |path, port| {
        match names.get(port.name.as_str()) {
        _ if port.name.is_empty() => {}
        Some(first) => out.push(format!(
            "{path}: duplicate port name {} with {first}, services and probes that select ports by name will use {first}",
            quote(&port.name)
        )),
        None => drop(names.insert(&port.name, path.to_owned())),
    }
    });
}

fn each_port<'s>(path: &Path<'_>, spec: &'s PodSpec, mut visit: impl FnMut(&str, &'s ContainerPort)) {
    for_each_container(spec, path, |path, container| {
        let path = path.child("ports");
        for (index, port) in container.ports.iter().enumerate() {
            visit(&path.index(index).to_string(), port);
        }
    });
}

/// How two ports of the same number are in each other's way on the node.
fn conflict(port: &ContainerPort, other: &ContainerPort) -> Option<&'static str> {
    if port.host_ip == other.host_ip && port.host_port == other.host_port {
        Some("duplicate")
    } else if port.host_port == 0 || other.host_port == 0 {
        Some("overlapping")
    } else if port.host_port == other.host_port && port.host_ip.is_empty() != other.host_ip.is_empty() {
        Some("dangerously ambiguous")
    } else {
        None
    }
}

/// As Go's `%+v` shows the internal struct.
fn go_text(port: &ContainerPort) -> String {
    let ContainerPort { name, host_port, container_port, protocol, host_ip } = port;
    format!("{{Name:{name} HostPort:{host_port} ContainerPort:{container_port} Protocol:{protocol} HostIP:{host_ip}}}")
}
