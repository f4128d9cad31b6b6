//! Warnings about ports that several containers declare.

use std::collections::{BTreeMap, HashMap};

use machinery::field_path::Path;
use machinery::json_name;
use machinery::scalar::go_text::quote;

use super::pairs::Pairs;
use crate::core::validation::visit::for_each_container;
use generated::core::v1::{Container, ContainerPort, PodSpec};

/// Warnings about the ports of a spec at `path`.
pub(super) fn warn(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    if !has_remarkable_port(spec) {
        return;
    }
    let mut known: BTreeMap<(i32, &str), Known<'_>> = BTreeMap::new();
    let mut has_room = true;
    let mut pairs = Pairs::new(out);
    each_port(path, spec, |path, port| {
        if !port.host_ip.is_empty() && port.host_port == 0 {
            pairs.out.push(format!("{path}: hostIP set without hostPort: {}", go_text(port)));
        }
        let known = known.entry((port.container_port, &port.protocol)).or_default();
        if has_room {
            for (other_path, other) in known.conflicting_with(port) {
                let Some(what) = conflict(port, other) else { continue };
                has_room = pairs.add(format!("{path}: {what} port definition with {other_path}"));
                if !has_room {
                    break;
                }
            }
        }
        known.add(path, port);
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

/// Whether a port has an address without a port of the host, or shares its number and protocol or its name
/// with another one. Other ports cause no warnings, and need no paths.
fn has_remarkable_port(spec: &PodSpec) -> bool {
    let (mut numbers, mut names, mut has_address) = (Vec::new(), Vec::new(), false);
    for_each_container(spec, &Path::NONE, |_, container| {
        for port in container.ports {
            has_address |= !port.host_ip.is_empty() && port.host_port == 0;
            numbers.push((port.container_port, port.protocol.as_str()));
            names.extend(Some(port.name.as_str()).filter(|name| !name.is_empty()));
        }
    });
    has_address || has_equal(numbers) || has_equal(names)
}

/// Whether two items are equal.
fn has_equal<T: Ord>(mut items: Vec<T>) -> bool {
    items.sort_unstable();
    items.windows(2).any(|pair| pair[0] == pair[1])
}

/// Ports of one number and protocol so far, indexed by the attributes that can conflict.
#[derive(Default)]
struct Known<'s> {
    all: Vec<(String, &'s ContainerPort)>,
    /// Indexes of ports without a host port. `by_port` has indexes by host port, `by_address` by host
    /// port and address.
    without: Vec<usize>,
    by_port: HashMap<i32, Vec<usize>>,
    by_address: HashMap<(i32, &'s str), Vec<usize>>,
}

impl<'s> Known<'s> {
    fn add(&mut self, path: &str, port: &'s ContainerPort) {
        let index = self.all.len();
        self.all.push((path.to_owned(), port));
        if port.host_port == 0 {
            self.without.push(index);
        }
        self.by_port.entry(port.host_port).or_default().push(index);
        self.by_address.entry((port.host_port, &port.host_ip)).or_default().push(index);
    }

    fn of_address(&self, host_port: i32, ip: &'s str) -> &[usize] {
        self.by_address.get(&(host_port, ip)).map_or(&[], Vec::as_slice)
    }

    /// Ports that have a [`conflict`] with a port, in their order.
    fn conflicting_with(&self, port: &'s ContainerPort) -> impl Iterator<Item = &(String, &'s ContainerPort)> {
        let mut indexes = match (port.host_port, port.host_ip.as_str()) {
            (0, _) => (0..self.all.len()).collect(),
            (host_port, "") => {
                let of_port = self.by_port.get(&host_port).map_or(&[][..], Vec::as_slice);
                [self.without.as_slice(), of_port].concat()
            }
            (host_port, ip) => {
                [self.without.as_slice(), self.of_address(host_port, ip), self.of_address(host_port, "")].concat()
            }
        };
        indexes.sort_unstable();
        indexes.into_iter().map(|index| &self.all[index])
    }
}

fn each_port<'s>(path: &Path<'_>, spec: &'s PodSpec, mut visit: impl FnMut(&str, &'s ContainerPort)) {
    for_each_container(spec, path, |path, container| {
        let path = path.child(json_name!(Container.ports));
        for (index, port) in container.ports.iter().enumerate() {
            visit(&path.index(index).to_string(), port);
        }
    });
}

/// The conflict on the node between two ports with the same number.
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

/// The internal struct in the format of Go's `%+v`.
fn go_text(port: &ContainerPort) -> String {
    let ContainerPort { name, host_port, container_port, protocol, host_ip } = port;
    format!("{{Name:{name} HostPort:{host_port} ContainerPort:{container_port} Protocol:{protocol} HostIP:{host_ip}}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use generated::core::v1::Container;

    fn warnings(ports: Vec<ContainerPort>) -> Vec<String> {
        let spec = PodSpec { containers: vec![Container { ports, ..Container::default() }], ..PodSpec::default() };
        let mut out = Vec::new();
        warn(&Path::new("spec"), &spec, &mut out);
        out.into_iter().map(|text| text.replace("spec.containers[0].ports", "")).collect()
    }

    fn port(host_port: i32, host_ip: &str) -> ContainerPort {
        ContainerPort { container_port: 80, host_port, host_ip: host_ip.into(), ..ContainerPort::default() }
    }

    #[test]
    fn warns_of_port_pairs_in_order() {
        let ports = [(1, ""), (1, "::1"), (2, "::2"), (1, "::1"), (0, ""), (1, "::3"), (0, "")];
        let expect = [
            "[1]: dangerously ambiguous port definition with [0]",
            "[3]: dangerously ambiguous port definition with [0]",
            "[3]: duplicate port definition with [1]",
            "[4]: overlapping port definition with [0]",
            "[4]: overlapping port definition with [1]",
            "[4]: overlapping port definition with [2]",
            "[4]: overlapping port definition with [3]",
            "[5]: dangerously ambiguous port definition with [0]",
            "[5]: overlapping port definition with [4]",
            "[6]: overlapping port definition with [0]",
            "[6]: overlapping port definition with [1]",
            "[6]: overlapping port definition with [2]",
            "[6]: overlapping port definition with [3]",
            "[6]: duplicate port definition with [4]",
            "[6]: overlapping port definition with [5]",
        ];
        assert_eq!(warnings(ports.iter().map(|(number, ip)| port(*number, ip)).collect()), expect);
    }

    #[test]
    fn warns_of_an_address_without_a_port_and_of_an_equal_name() {
        let named = |number, name: &str| ContainerPort { container_port: number, name: name.into(), ..port(0, "") };
        assert!(warnings(vec![named(80, "http"), named(81, "https"), named(82, ""), named(83, "")]).is_empty());
        assert_eq!(warnings(vec![named(80, "http"), named(81, "http")]).len(), 1);
        assert_eq!(warnings(vec![port(0, "::1")]).len(), 1);
        assert!(warnings(vec![port(80, "::1")]).is_empty());
    }

    #[test]
    fn equal_ports_take_bounded_time_and_memory() {
        assert!(warnings(vec![port(0, ""); 20_000]).len() < 200);
        assert!(warnings((1..20_000).map(|number| port(number, "")).collect()).is_empty());
        assert!(warnings((1..20_000).map(|number| port(1, &format!("::{number:x}"))).collect()).is_empty());
    }
}
