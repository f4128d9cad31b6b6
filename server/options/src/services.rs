//! Flags of service addresses and ports (upstream: `Extra` of the options of kube-apiserver).

use std::net::IpAddr;

use crate::error::{FlagError, ValueError};
use crate::network::{Cidr, PortRange};
use crate::values::FlagValues;

/// Options of service addresses and ports.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// One range, or one of each address family.
    pub cluster_ip_ranges: Vec<Cidr>,
    pub node_port_range: PortRange,
    /// The node port of the `kubernetes` service, if any.
    pub kubernetes_node_port: Option<u16>,
    /// Whether this server maintains its address in the endpoints of that service.
    pub reconciles_endpoints: bool,
}

impl FlagValues {
    /// The address of the `kubernetes` service is in the first range; the advertised address must
    /// be of the same family.
    fn check_family(&self, first: Option<&Cidr>) -> Result<(), FlagError> {
        let Some(first) = first.filter(|_| self.text("endpoint-reconciler-type") != "none") else { return Ok(()) };
        match self.text("advertise-address").parse::<IpAddr>() {
            Ok(address) if address.is_ipv4() != first.base.is_ipv4() => {
                Err(FlagError::AddressFamily { range: *first, address })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn services(&self) -> Result<ServiceOptions, FlagError> {
        let flag = "service-cluster-ip-range";
        let ranges =
            self.list(flag).into_iter().map(|text| self.parsed(flag, text)).collect::<Result<Vec<Cidr>, _>>()?;
        self.check_family(ranges.first())?;
        match ranges.as_slice() {
            [_] => {}
            [first, second] if first.base.is_ipv4() != second.base.is_ipv4() => {}
            [_, _] => return Err(FlagError::ServiceRangeFamilies),
            _ => return Err(FlagError::ServiceRangeCount),
        }
        if let Some(range) = ranges.iter().find(|range| range.nth(7).is_none()) {
            return Err(FlagError::SmallServiceRange { range: *range });
        }
        let node_port_range: PortRange =
            self.parsed("service-node-port-range", self.text("service-node-port-range"))?;
        let kubernetes_node_port = Some(self.number("kubernetes-service-node-port")?).filter(|port| *port != 0);
        if let Some(port) = kubernetes_node_port.filter(|port| !node_port_range.contains(*port)) {
            return Err(FlagError::NodePort { range: node_port_range, port });
        }
        Ok(ServiceOptions {
            cluster_ip_ranges: ranges,
            node_port_range,
            kubernetes_node_port,
            reconciles_endpoints: self.reconciles_endpoints()?,
        })
    }

    /// Upstream's type `master-count` is deprecated, because it keeps the addresses of removed
    /// servers; it is not supported.
    fn reconciles_endpoints(&self) -> Result<bool, FlagError> {
        match self.text("endpoint-reconciler-type") {
            "lease" => Ok(true),
            "none" => Ok(false),
            other => {
                Err(self.invalid("endpoint-reconciler-type", ValueError::EndpointReconciler { name: other.to_owned() }))
            }
        }
    }
}
