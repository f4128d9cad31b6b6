//! Node ports.

use std::collections::HashMap;

use generated::core::v1::{ServiceSpec, service_type};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use serving::options::PortRange;

use super::{Allocator, InUse};

impl Allocator {
    /// Node ports of a service's ports (`initNodePorts`): one number serves all protocols of a port.
    pub(super) fn give_ports(&self, spec: &mut ServiceSpec, in_use: &mut InUse) -> Result<(), FieldError> {
        if !needs_ports(spec) {
            return Ok(());
        }
        let gives = spec.r#type != service_type::LOAD_BALANCER || spec.allocate_load_balancer_node_ports != Some(false);
        let range = &self.options.node_port_range;
        let mut of_port: HashMap<i32, i32> = HashMap::new();
        for index in 0..spec.ports.len() {
            let (port, asked) = (spec.ports[index].port, spec.ports[index].node_port);
            if asked == 0 && !gives {
                continue;
            }
            let shared = of_port.get(&port).copied();
            let wanted = if asked != 0 { asked } else { shared.unwrap_or_else(|| asked_later(spec, index)) };
            if Some(wanted) == shared {
                spec.ports[index].node_port = wanted;
                continue;
            }
            let path = Path::new("spec");
            let (path, message) = (path.child("ports"), "failed to allocate a nodePort: range is full");
            let path = path.index(index);
            let path = path.child("nodePort");
            take(range, in_use, wanted).map_err(|why| FieldError::invalid(&path, wanted, why))?;
            let number = if wanted != 0 { Some(wanted) } else { free(range, in_use, self.next()) };
            let number = number.ok_or_else(|| FieldError::invalid(&path, wanted, message))?;
            in_use.ports.insert(number);
            of_port.insert(port, number);
            spec.ports[index].node_port = number;
        }
        Ok(())
    }
}

/// What a later entry of the same port asks for (`findRequestedNodePort`).
fn asked_later(spec: &ServiceSpec, index: usize) -> i32 {
    let port = spec.ports[index].port;
    spec.ports.iter().find(|p| p.port == port && p.node_port != 0).map_or(0, |p| p.node_port)
}

/// Whether services of this type have node ports.
pub fn needs_ports(spec: &ServiceSpec) -> bool {
    matches!(spec.r#type.as_str(), service_type::NODE_PORT | service_type::LOAD_BALANCER)
}

/// Whether a port can be had; 0 asks for any.
pub(super) fn take(range: &PortRange, in_use: &InUse, port: i32) -> Result<(), String> {
    let (first, last) = (i32::from(range.first), i32::from(range.last));
    if port == 0 {
        Ok(())
    } else if !(first..=last).contains(&port) {
        Err(format!("provided port is not in the valid range. The range of valid ports is {first}-{last}"))
    } else if in_use.ports.contains(&port) {
        Err("provided port is already allocated".into())
    } else {
        Ok(())
    }
}

/// A free port, from the lower band only when nothing else is left (KEP-3668).
pub(super) fn free(range: &PortRange, in_use: &InUse, given: u64) -> Option<i32> {
    let (first, last) = (i32::from(range.first), i32::from(range.last));
    let size = last - first + 1;
    let band = if size < 32 { 0 } else { (size / 32).clamp(16, 128) };
    let upper = size - band;
    let start = i32::try_from(given % u64::try_from(upper).ok()?).ok()?;
    let candidates = (0..upper).map(|n| first + band + (start + n) % upper).chain(first..first + band);
    candidates.into_iter().find(|port| !in_use.ports.contains(port))
}
